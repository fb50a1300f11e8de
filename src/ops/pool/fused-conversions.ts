import { transposed, upTo } from '../../op-kit/conversion-kit.ts'
import { ownAttributes } from '../../op-kit/conversion-parts.ts'
import {
  type Conversion,
  expands,
  type Made,
  rankOf,
  refuses,
  type SourceCall,
  type Writer
} from '../../op-kit/conversion.ts'
import { maxpoolWithMask } from './maxpool-with-mask.ts'
import { nhwcMaxPool } from './nhwc-max-pool.ts'

const POOL = ['kernel_shape', 'strides', 'pads', 'auto_pad', 'dilations', 'ceil_mode'] as const

/** MaxPool of data whose channels come last. */
function expandChannelsLast(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const rank = rankOf(x)
  const first = transposed(w, x, [0, rank - 1, ...upTo(rank - 2, 1)])
  const [y] = w.standard('MaxPool', [first], ownAttributes(call, POOL))
  return [transposed(w, y, [0, ...upTo(rank - 2, 2), 1])]
}

/** Pools of com.microsoft, expanded. */
export const fusedPoolRules: readonly Conversion[] = [
  ...expands(nhwcMaxPool, expandChannelsLast),
  refuses(maxpoolWithMask, 'openvino', 'windows that end where a mask does, by the number of the plane')
]
