import { storeIntegers } from '../../kernels/core/integers.ts'
import { COST, inChunks, Pace } from '../../kernels/core/pace.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { int, mapped, text } from '../../op-kit/sources.ts'
import { unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params {
  /** Empty: white space. */
  delimiter: string
  /** Maximum number of splits; the last part is the rest of the string. */
  maxSplits: number
}

/**
 * Splits strings at a delimiter; the lists are padded with empty strings, and a second output holds their lengths.
 * Without a delimiter strings are split at runs of white space (as Unicode defines it), and white space at both ends is
 * dropped, also at the end of an unsplit rest. With a delimiter an empty string has one empty part; in ONNX Runtime it
 * has none. ONNX StringSplit-20.
 */
export const stringSplit = defineOp({
  name: 'StringSplit',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      since: 20,
      bind: {
        delimiter: text('delimiter', ''),
        maxSplits: mapped(int('maxsplit', -1), count => (count < 0 ? Infinity : count))
      }
    }
  ],

  shape({ x }) {
    const isEmpty = x.shape?.includes(0) ?? false
    return [tensorFact('string', x.shape && [...x.shape, isEmpty ? 0 : unknownDim()]), tensorFact('int64', x.shape)]
  },

  *run({ x }, { delimiter, maxSplits }, call) {
    const texts = x.data as string[]
    const lists: string[][] = []
    const pace = new Pace()
    let width = 0
    for (const text of texts) {
      const list = delimiter === '' ? splitAtSpace(text, maxSplits) : splitAt(text, delimiter, maxSplits)
      lists.push(list)
      width = Math.max(width, list.length)
      if (pace.isDue((32 + 4 * text.length) * COST.element)) yield
    }
    const parts = call.output(0, [...x.dims, width]).data as string[]
    yield* inChunks(
      lists.length,
      (from, to) => {
        for (let i = from; i < to; i++)
          lists[i].forEach((part, j) => {
            parts[i * width + j] = part
          })
      },
      (8 + width) * COST.element
    )
    if (call.outputCount > 1)
      storeIntegers(
        call.output(1),
        lists.map(({ length }) => length)
      )
  }
})

function splitAt(item: string, delimiter: string, maxSplits: number): string[] {
  const parts: string[] = []
  let start = 0
  while (parts.length < maxSplits) {
    const end = item.indexOf(delimiter, start)
    if (end < 0) break
    parts.push(item.slice(start, end))
    start = end + delimiter.length
  }
  return [...parts, item.slice(start)]
}

const WIDE_SPACE = /^\p{White_Space}$/u

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 32 || (code >= 9 && code <= 13) || (code > 127 && WIDE_SPACE.test(text[at]))
}

function splitAtSpace(item: string, maxSplits: number): string[] {
  const parts: string[] = []
  let at = 0
  let end = item.length
  while (end > 0 && isSpace(item, end - 1)) end--
  for (;;) {
    while (at < end && isSpace(item, at)) at++
    if (at === end) return parts
    if (parts.length >= maxSplits) return [...parts, item.slice(at, end)]
    const start = at
    while (at < end && !isSpace(item, at)) at++
    parts.push(item.slice(start, at))
  }
}
