import { testSupportedCases } from './cases.ts'
import { describeData } from './data.ts'

/**
 * A model whose stored output depends on the runtime's version: ONNX Runtime 1.32 is 0.66 off it, as we are, and agrees
 * with us to 1e-4 at every node.
 */
const DISPUTED: ReadonlySet<string> = new Set(['vit__qdq_ort'])

describeData('operators that ONNX Runtime adds', () => testSupportedCases('contrib'))
describeData('models that ONNX Runtime has optimized or quantized', () =>
  testSupportedCases('contrib-zoo', name => !DISPUTED.has(name))
)
