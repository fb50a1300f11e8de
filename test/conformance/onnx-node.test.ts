import { describeData } from './data.ts'
import { testSupportedCases } from './cases.ts'

describeData('node tests of the ONNX standard', () => testSupportedCases('onnx-node'))
