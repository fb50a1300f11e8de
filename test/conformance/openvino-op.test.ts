import { describeData } from './data.ts'
import { testSupportedCases } from './cases.ts'

describeData('models of one OpenVINO operator', () => testSupportedCases('openvino-op'))
