import { fail } from '../../errors.ts'
import { elementwise, joined, picked, sliced, squeezed, unsqueezed, upTo } from '../../op-kit/conversion-kit.ts'
import { add } from '../../op-kit/conversion-parts.ts'
import { listParameter } from '../../op-kit/conversion-sizes.ts'
import { dimsOf, type Made, rankOf, type SourceCall, type Writer } from '../../op-kit/conversion.ts'
import { entriesOf } from './strided-slice.ts'

/** Beyond every size, in either direction. */
const FAR = Number.MAX_SAFE_INTEGER

/** A list of the source whose entries may be known one by one. */
interface List {
  /** The number of an entry, where it is known. */
  known(at: number): number | undefined
  /** An entry as a list of one. */
  value(at: number): Made
  readonly length: number
}

function listOf(call: SourceCall, name: string, w: Writer): List {
  if (call.knows(name)) {
    const numbers = call.param<readonly number[]>(name)
    return { known: at => numbers[at], value: at => w.constant('int64', [numbers[at]]), length: numbers.length }
  }
  const given = listParameter(call, name, w)
  const [length] = dimsOf(given)
  if (typeof length !== 'number') return fail('unsupported-op', `the length of ${name} is not known`)
  return { known: () => undefined, value: at => picked(w, given, [at]), length }
}

/** StridedSlice as a Slice of the sliced and indexed dims, without those of indices and with the new ones. */
export function stridedSliceToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const begin = listOf(call, 'begin', w)
  const end = listOf(call, 'end', w)
  const hasStrides = !call.knows('strides') || call.param('strides') !== undefined
  const strides = hasStrides ? listOf(call, 'strides', w) : undefined
  const masks = ['newAxisMask', 'shrinkAxisMask', 'ellipsisMask'].map(name => call.param<readonly number[]>(name))
  const [newAxisMask, shrinkAxisMask, ellipsisMask] = masks
  const isMasked = (name: string, at: number): boolean => call.param<readonly number[]>(name)[at] === 1
  const entries = entriesOf(begin.length, rankOf(data), { newAxisMask, shrinkAxisMask, ellipsisMask })
  const parts: { axis: number; start: Made; stop: Made; step: Made }[] = []
  const one = w.constant('int64', [1])
  for (const entry of entries) {
    if (entry.kind === 'index') {
      const isFirst = isMasked('beginMask', entry.at)
      const start = isFirst ? w.constant('int64', [0]) : begin.value(entry.at)
      parts.push({ axis: entry.axis, start, stop: isFirst ? one : after(w, begin, entry.at), step: one })
    }
    if (entry.kind !== 'slice') continue
    const { at, axis } = entry
    const step = strides?.known(at) ?? (strides ? undefined : 1)
    const areOpen = isMasked('beginMask', at) || isMasked('endMask', at)
    if (step === undefined && areOpen) fail('unsupported-op', 'the direction of a masked slice is not known')
    const isBackward = step !== undefined && step < 0
    parts.push({
      axis,
      start: isMasked('beginMask', at) ? w.constant('int64', [isBackward ? FAR : 0]) : begin.value(at),
      stop: isMasked('endMask', at) ? w.constant('int64', [isBackward ? -FAR : FAR]) : end.value(at),
      step: strides?.value(at) ?? one
    })
  }
  const axes = parts.map(({ axis }) => axis)
  const list = (of: 'start' | 'stop' | 'step'): Made =>
    together(
      parts.map(part => part[of]),
      w
    )
  const cut = parts.length === 0 ? data : sliced(w, data, list('start'), list('stop'), axes, list('step'))
  const gone = entries.flatMap(entry => (entry.kind === 'index' ? [entry.axis] : []))
  const kept = entries.filter(({ kind }) => kind !== 'index')
  return [
    unsqueezed(
      w,
      squeezed(w, cut, gone),
      upTo(kept.length).filter(i => kept[i].kind === 'new')
    )
  ]
}

/** The end of a slice that holds one element: -1 is the last one. */
function after(w: Writer, begin: List, at: number): Made {
  const known = begin.known(at)
  if (known !== undefined) return w.constant('int64', [known === -1 ? FAR : known + 1])
  const value = begin.value(at)
  const isLast = elementwise(w, 'Equal', value, w.constant('int64', [-1]))
  return elementwise(w, 'Where', isLast, w.constant('int64', [FAR]), add(w, value, w.constant('int64', [1])))
}

/** Lists of one as one list: a constant where all are. */
function together(parts: readonly Made[], w: Writer): Made {
  const numbers = parts.map(({ fact }) =>
    fact.kind === 'tensor' && fact.value?.data.length === 1 ? fact.value.data[0] : undefined
  )
  return numbers.every(number => typeof number === 'bigint') ? w.constant('int64', numbers) : joined(w, parts, 0)
}
