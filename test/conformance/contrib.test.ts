import { testSupportedCases } from './cases.ts'
import { describeData } from './data.ts'

describeData('operators that ONNX Runtime adds', () => testSupportedCases('contrib'))
describeData('models that ONNX Runtime has optimized or quantized', () => testSupportedCases('contrib-zoo'))
