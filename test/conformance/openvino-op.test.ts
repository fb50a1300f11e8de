import { testSupportedCases } from './cases.ts'
import { describeData } from './data.ts'

describeData('models of one OpenVINO operator', () => testSupportedCases('openvino-op'))

describeData('more models of one OpenVINO operator', () => testSupportedCases('openvino-op2'))
