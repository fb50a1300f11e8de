import { asScalar, chosen, elementwise, gathered, sliced, unsqueezed } from '../../op-kit/conversion-kit.ts'
import { looped } from '../../op-kit/conversion-loops.ts'
import { sub } from '../../op-kit/conversion-parts.ts'
import { counted, sizeAt, sizeList, sizeScalar } from '../../op-kit/conversion-sizes.ts'
import type { Made, SourceCall, Writer } from '../../op-kit/conversion.ts'

/**
 * GatherTree as a Loop from the last step to the first, which carries the beam that each sequence comes from; what
 * follows the first end token becomes end tokens.
 */
export function gatherTreeToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const [ids, given, lengths, end] = ['stepIds', 'parentIds', 'maxSeqLen', 'endToken'].map(name => call.operand(name))
  const parents = w.cast(given, 'int64')
  const [steps, batch, beams] = [0, 1, 2].map(axis => sizeAt(w, ids, axis))
  const ends = unsqueezed(w, w.cast(lengths, 'int64'), [1])
  const last = sub(w, sizeScalar(w, steps), w.scalar('int64', 1))
  const own = w.node('Expand', [counted(w, 0, beams), sizeList(w, [batch, beams])])
  const { stacked } = looped(w, { count: sizeScalar(w, steps) }, [own], (inner, iteration, [from]) => {
    const time = sub(inner, last, iteration)
    const step = (values: Made): Made =>
      inner.node('GatherElements', [gathered(inner, values, time, 0), from], { axis: 1 })
    const isActive = elementwise(inner, 'Less', time, ends)
    const found = chosen(inner, isActive, step(ids), end)
    return { next: [elementwise(inner, 'Where', isActive, step(parents), from)], stacked: [found] }
  })
  const back = w.constant('int64', [-1])
  const inOrder = sliced(w, stacked[0], back, w.constant('int64', [Number.MIN_SAFE_INTEGER]), [0], back)
  const isEnd = w.cast(elementwise(w, 'Equal', inOrder, asScalar(w, end)), 'int32')
  const before = w.node('CumSum', [isEnd, w.scalar('int64', 0)], { exclusive: 1 })
  const isOver = elementwise(w, 'Greater', before, w.scalar('int32', 0))
  return [chosen(w, isOver, end, inOrder)]
}
