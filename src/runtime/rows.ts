import { NodewiseError } from '../errors.ts'
import { readInto } from '../files/byte-source.ts'
import type { Lease, Remote } from '../files/remote.ts'
import type { ByteRange, Constant } from '../graph/graph.ts'
import { Pace, type Paced } from '../kernels/core/pace.ts'
import type { Positions } from '../kernels/core/positions.ts'
import { bytesOf } from '../tensor/arrays.ts'
import { tensorOfBytes } from '../tensor/bytes.ts'
import { DTYPES } from '../tensor/dtype.ts'
import { fillsBytes } from '../tensor/packing.ts'
import { elementCount, type Tensor } from '../tensor/tensor.ts'

/**
 * Bytes that are read in the time that a call of the file system takes. Rows that lie closer than this are read at
 * once, with what is between them.
 */
const BYTES_PER_CALL = 2 ** 14
/** Bytes that are read in the time that a row takes which is read alone: the call, and what finds the row. */
const BYTES_PER_ROW = 2 ** 15
/** Bytes that are read at once at most where there is something between the rows. */
const MAX_SPAN = 2 ** 20
/** Bytes of rows that are brought to hand together where they come asynchronously. */
const BATCH = 2 ** 24
/** Nanoseconds to read a byte, and to read one and make elements of it. */
const READ_COST = 0.15
const DECODE_COST = 2.4

/** Whether the rows of a constant begin and end at bytes of the file: elements of less than 8 bits may not. */
export const areWholeBytes = ({ type, dims }: Constant, { layout }: ByteRange, axis: number): boolean =>
  layout === undefined || fillsBytes(type, elementCount(dims.slice(axis + 1)), layout)

/** The bytes of a tensor, to be read like those of a file. */
export function inMemory({ data }: Tensor): ByteRange {
  const bytes = bytesOf(data as Uint8Array)
  const source = {
    name: '',
    size: bytes.length,
    inMemory: true,
    read: (offset: number, length: number) => bytes.subarray(offset, offset + length)
  }
  return { source, offset: 0, length: bytes.length }
}

/** Rows that are read, each once, ascending. */
export function distinctRows(positions: Positions, row: number): Positions {
  const sorted = new Float64Array(positions.length + 1)
  sorted.set(positions)
  sorted[positions.length] = row
  sorted.sort()
  let count = 0
  let last = -1
  for (const position of sorted) {
    if (position === last) continue
    last = position
    sorted[count++] = position
  }
  return sorted.subarray(0, count)
}

/** The rank of a row among those that are read, by binary search. */
export function rankOf(row: number, rows: Positions): number {
  let low = 0
  let high = rows.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (rows[middle] < row) low = middle + 1
    else high = middle
  }
  return low
}

/** Ranks `[from, to)` of rows that are read at once. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Whether every row between the first and the last is read. */
const isWhole = ({ from, to }: Span, rows: Positions): boolean => rows[to - 1] - rows[from] === to - from - 1

/** Bytes of the file from the first row of a span to the end of its last. */
const spanBytes = ({ from, to }: Span, rows: Positions, rowBytes: number): number =>
  (rows[to - 1] - rows[from] + 1) * rowBytes

/** What reading spans costs, in bytes that could be read in the same time: see `weights.ts`. */
export const rentOf = (spans: readonly Span[], rows: Positions, rowBytes: number): number =>
  spans.reduce((sum, span) => sum + spanBytes(span, rows, rowBytes) + BYTES_PER_ROW, 0)

/** Spans that cover some rows, so that neighbours are read together. */
export function spansOf(rows: Positions, rowBytes: number): Span[] {
  const spans: Span[] = []
  for (let from = 0, to = 1; from < rows.length; from = to++) {
    const isNear = (): boolean =>
      (rows[to] - rows[to - 1] - 1) * rowBytes < BYTES_PER_CALL && (rows[to] - rows[from] + 1) * rowBytes <= MAX_SPAN
    while (to < rows.length && isNear()) to++
    spans.push({ from, to })
  }
  return spans
}

/** What is said of a constant, or of a tensor in its place. */
export type Stored = Pick<Constant, 'type' | 'dims' | 'place' | 'verify'>

/**
 * Reads rows of a constant.
 * @param axis along which rows count; dims before it are 1
 * @param rows ascending, each once
 * @param table takes the rows one after the other
 * @param signal ends the waiting for bytes that come asynchronously
 * @throws NodewiseError what reading throws, with the constant's place
 */
export function* readRows(
  constant: Stored,
  range: ByteRange,
  axis: number,
  rows: Positions,
  spans: readonly Span[],
  table: Tensor,
  signal: () => AbortSignal | undefined
): Paced {
  const { dims, place, verify } = constant
  const { source, layout, length } = range
  const isDirect = layout === undefined && spans.every(span => isWhole(span, rows))
  const reading: Reading = {
    constant,
    range,
    rows,
    rowBytes: length / dims[axis],
    target: bytesOf(table.data as Uint8Array),
    buffer: isDirect || source.inMemory === true ? undefined : new Uint8Array(MAX_SPAN)
  }
  try {
    if (!source.inMemory) verify?.()
    if (source.remote) yield* readBatches(reading, spans, source.remote, signal())
    else yield* readSpans(reading, spans)
  } catch (error) {
    throw error instanceof NodewiseError ? error.at(place) : error
  }
}

/** Reads rows that come asynchronously: as many at a time as may be at hand. */
function* readBatches(
  reading: Reading,
  spans: readonly Span[],
  remote: Remote,
  signal: AbortSignal | undefined
): Paced {
  const { rows, rowBytes, range } = reading
  for (let from = 0; from < spans.length;) {
    let to = from
    for (let bytes = 0; to < spans.length && (to === from || bytes < BATCH); to++)
      bytes += spanBytes(spans[to], rows, rowBytes)
    const batch = spans.slice(from, to)
    const ranges = batch.map(span => ({
      offset: range.offset + rows[span.from] * rowBytes,
      length: spanBytes(span, rows, rowBytes)
    }))
    let end: Lease | undefined
    try {
      yield remote.fetch(ranges, signal).then(lease => {
        end = lease
      })
      yield* readSpans(reading, batch)
    } finally {
      end?.()
    }
    from = to
  }
}

function* readSpans(reading: Reading, spans: readonly Span[]): Generator<void> {
  const { rows, rowBytes, range } = reading
  const pace = new Pace()
  for (const span of spans) {
    if (isWhole(span, rows)) yield* readWhole(reading, span)
    else readApart(reading, span)
    const bytes = spanBytes(span, rows, rowBytes) + BYTES_PER_CALL
    if (pace.isDue(bytes * (range.layout === undefined ? READ_COST : DECODE_COST))) yield
  }
}

interface Reading {
  readonly constant: Stored
  readonly range: ByteRange
  readonly rows: Positions
  readonly rowBytes: number
  /** The bytes of the table that takes the rows. */
  readonly target: Uint8Array
  /** Takes what cannot be read straight into the target; what is in memory is seen where it lies. */
  readonly buffer: Uint8Array | undefined
}

/** Reads a span that has nothing between its rows. */
function* readWhole(reading: Reading, { from: first, to: end }: Span): Generator<void> {
  const { range, rows, rowBytes, target, buffer } = reading
  const { source, offset, layout } = range
  // A packed group of three bytes is not cut.
  const most = layout === undefined ? MAX_SPAN : MAX_SPAN - (MAX_SPAN % 3)
  const to = end * rowBytes
  for (let at = first * rowBytes, from = offset + rows[first] * rowBytes; at < to; at += most, from += most) {
    const size = Math.min(most, to - at)
    if (layout === undefined) readInto(source, from, target.subarray(at, at + size))
    else put(reading, source.read(from, size, buffer?.subarray(0, size)), at)
    if (at + most < to) yield
  }
}

/** Reads a span at once and keeps the rows of it. */
function readApart(reading: Reading, span: Span): void {
  const { range, rows, rowBytes, buffer } = reading
  const size = spanBytes(span, rows, rowBytes)
  const bytes = range.source.read(range.offset + rows[span.from] * rowBytes, size, buffer?.subarray(0, size))
  for (let i = span.from; i < span.to; i++) {
    const at = (rows[i] - rows[span.from]) * rowBytes
    put(reading, bytes.subarray(at, at + rowBytes), i * rowBytes)
  }
}

/** Puts bytes of the file into the table. `at`: where the file has them, were it only these rows. */
function put({ constant: { type }, range: { layout }, target }: Reading, bytes: Uint8Array, at: number): void {
  if (layout === undefined) return target.set(bytes, at)
  const toMemory = (count: number): number => (count * 8) / DTYPES[type].bits
  target.set(bytesOf(tensorOfBytes(type, [toMemory(bytes.length)], bytes, layout).data as Uint8Array), toMemory(at))
}
