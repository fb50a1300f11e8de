import { normalizeAxis } from '../../shapes/dim.ts'
import { DTYPES } from '../../tensor/dtype.ts'
import { toDoubles } from '../../tensor/elements.ts'
import { product } from '../../tensor/tensor.ts'
import { attemptKernel } from '../attempt.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, type Selector, selectorFor, staged } from '../selector.ts'

/** Bytes below which setting a job up costs more than it gains. */
const MIN_BYTES = 1 << 10
/** Bytes of a tile. */
const TILE_BYTES = 1 << 17
/** Work of an element, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 8

interface Params {
  readonly batchAxis: number
  readonly timeAxis: number
}

/** ReverseSequence of elements of any width. The reference names a length that is out of range. */
export const selectReverseSequence: Selector = selectorFor<Params>(({ op, operands: { data }, parameters }) => {
  if (data === undefined || data.type === 'string') return undefined
  const { dims } = data
  const [batch, time] = [parameters.batchAxis, parameters.timeAxis].map(axis => normalizeAxis(axis, dims.length))
  const [first, second] = [Math.min(batch, time), Math.max(batch, time)]
  const bytes = product(dims, second + 1) * arrayOf(data).BYTES_PER_ELEMENT * DTYPES[data.type].slots
  const [rows, columns] = [dims[first], dims[second]]
  const lines = product(dims, 0, second)
  if (lines * columns * bytes < MIN_BYTES) return undefined
  // The arguments are those of ReverseArguments in ../assembly/wide/reverse.ts.
  const template: JobTemplate = {
    kernel: 'reverse',
    blocks: lines,
    blockBytes: columns * bytes,
    tile: Math.max(1, Math.floor(TILE_BYTES / (columns * bytes))),
    work: lines * columns * (bytes + ELEMENT_WORK),
    inputs: staged(2),
    args: [rows, product(dims, first + 1, second), columns, bytes, Number(batch < time)]
  }
  const kernel = attemptKernel(op, function* ({ data, lengths: given }, out, { run }) {
    const lengths = toDoubles(given!)
    const isOneOf = (length: number): boolean => Number.isInteger(length) && length >= 0 && length <= dims[time]
    if (!lengths.every(isOneOf)) return false
    return yield* run(template, [arrayOf(data!), Int32Array.from(lengths)], arrayOf(out()))
  })
  return { kernel }
})
