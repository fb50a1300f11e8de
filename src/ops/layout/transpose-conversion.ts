import { gathered, picked, reduced, shapeOf, upTo } from '../../op-kit/conversion-kit.ts'
import { add, mul, part } from '../../op-kit/conversion-parts.ts'
import { inputOf } from '../../op-kit/conversion-sizes.ts'
import { type Made, rankOf, type SourceCall, type Writer } from '../../op-kit/conversion.ts'

/** Transpose by an order that is known only while the model runs: the elements in their new order, by their offsets. */
export function openTransposeToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const rank = rankOf(data)
  const order = w.reshape(w.cast(inputOf(call, 'order'), 'int64'), [rank])
  const shape = shapeOf(w, data)
  const strides = w.node(
    'Concat',
    upTo(rank).map(axis => reduced(w, 'ReduceProd', part(w, shape, 0, axis + 1, rank), [0], true)),
    { axis: 0 }
  )
  const [dims, steps] = [shape, strides].map(one => gathered(w, one, order, 0))
  const offsets = upTo(rank).map(axis => {
    const count = w.reshape(picked(w, dims, [axis]), [])
    const numbers = w.node('Range', [w.scalar('int64', 0), count, w.scalar('int64', 1)])
    const shaped = w.reshape(
      numbers,
      upTo(rank).map(other => (other === axis ? -1 : 1))
    )
    return mul(w, shaped, picked(w, steps, [axis]))
  })
  const all = offsets.reduce((sum, one) => add(w, sum, one))
  return [gathered(w, w.reshape(data, [-1]), all, 0)]
}
