import { testSupportedCases } from './cases.ts'
import { describeData } from './data.ts'

describeData('node tests of the ONNX standard', () => testSupportedCases('onnx-node'))
