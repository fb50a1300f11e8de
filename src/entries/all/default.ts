import { NodewiseError } from '../../errors.ts'
import { load } from '../../load.ts'
import { Tensor } from '../../tensor/tensor.ts'
import { check } from './check.ts'
import { compare } from './compare.ts'
import { propagate } from './propagate.ts'
import { InferenceSession } from './session.ts'
import { supportedOps } from './supported-ops.ts'

/**
 * What programs use that import the package as a whole, as they do with `onnxruntime-web`.
 * @hidden
 */
export default { InferenceSession, NodewiseError, Tensor, check, compare, load, propagate, supportedOps }
