import { reduced, shapeOf } from '../../op-kit/conversion-kit.ts'
import { sizeAt, sizeScalar } from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  type Made,
  opNamed,
  type SourceCall,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import type { DType } from '../../tensor/dtype.ts'
import { eyeOps } from './eye.ts'
import { size } from './size.ts'

/** The product of the dims, which is 1 for a scalar. */
const sizeToOpenvino = (call: SourceCall, w: Writer): readonly Made[] => [
  reduced(w, 'ReduceProd', shapeOf(w, call.operand('data')), [0], false)
]

/** Eye of IR has no booleans. */
function eyeLikeToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const like = call.operand('like')
  const type = call.param<DType | undefined>('dtype') ?? typeOf(like)
  const own: DType = type === 'bool' ? 'uint8' : type
  const counts = [0, 1].map(axis => sizeScalar(w, sizeAt(w, like, axis)))
  const diagonal = w.scalar('int64', call.param<number>('diagonal'))
  return [w.cast(w.node('Eye', [...counts, diagonal], { output_type: { dtype: own } }), type)]
}

/** What ONNX makes of nothing but the dims of a tensor, in nodes of IR. */
export const sizeRules: readonly Conversion[] = [
  toOpenvino(size, sizeToOpenvino),
  toOpenvino(opNamed(eyeOps, 'EyeLike'), eyeLikeToOpenvino)
]
