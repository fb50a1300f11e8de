import { byOperand, type Call } from '../bind/call.ts'
import { NodewiseError } from '../errors.ts'
import { readInto } from '../files/byte-source.ts'
import type { ByteRange, Constant } from '../graph/graph.ts'
import { parametersOf } from '../infer/parameters.ts'
import { locate } from '../infer/propagate.ts'
import { FOLDING, runCall } from '../infer/run.ts'
import { checkTypes } from '../infer/types.ts'
import type { Paced } from '../kernels/core/pace.ts'
import { type Positions, resolveIndices } from '../kernels/gather/indices.ts'
import { positionOf } from '../plan/graph.ts'
import type { Plan, Step } from '../plan/plan.ts'
import { factOf, tensorFact } from '../shapes/fact.ts'
import { tensorOfBytes } from '../tensor/bytes.ts'
import { type DType, DTYPES } from '../tensor/dtype.ts'
import { fillsBytes } from '../tensor/packing.ts'
import { elementCount, isTensor, Tensor, type Value } from '../tensor/tensor.ts'
import type { Budget } from './memory.ts'
import type { Weights } from './weights.ts'

/** A constant of which a call looks rows up, at the input position where it belongs. */
export interface LazyTable {
  readonly constant: Constant
  readonly index: number
  /** Converts each row that is read. */
  readonly convert?: Call
}

interface RunPart {
  readonly budget: Budget
  readonly weights: Weights
  readonly overrides: Readonly<Record<string, unknown>>
  readonly threads: number
}

/**
 * Rows that lie closer than this are read at once, with what is between them: a call takes about as long as reading so
 * many bytes.
 */
const NEAR = 2 ** 14
/** The most that is read at once where there is something between the rows. */
const MAX_SPAN = 2 ** 20
/** Reading can be interrupted whenever this much has been done: some milliseconds. */
const COST_PER_YIELD = 2 ** 25
/** What making elements of a byte costs, in bytes that could be read in the same time. */
const COST_OF_DECODING = 16

/**
 * The table of a step that looks rows up in one, where that is a large constant that need not be held.
 * @param slots what a slot holds; a constant where it has not been read
 */
export function lazyTable(
  { table: index, inputs, convert }: Step,
  { initial }: Plan,
  slots: readonly (Value | Constant | undefined)[],
  { weights, budget }: RunPart
): LazyTable | undefined {
  if (index < 0) return undefined
  // What is converted is a constant of the file, even where another step has read all of it into the slot.
  const constant = (convert ? initial : slots)[inputs[index]]
  if (constant === undefined || !('read' in constant)) return undefined
  if (convert) return { constant, index, convert }
  return weights.isByRow(constant, budget) ? { constant, index } : undefined
}

/**
 * A step's inputs with the table among them: whole where it is held or has to be, else made of the rows that the
 * indices name, and with
 * indices into those. The operator's own kernel then runs on them.
 * @param inputs all but the table
 * @returns and the tensors that were made, held against the budget until the step has run
 * @throws NodewiseError what the operator throws for the same inputs; `limit-exceeded`; what reading throws
 */
export function* withTable(
  { call }: Step,
  plan: Plan,
  inputs: readonly (Value | undefined)[],
  lazy: LazyTable,
  run: RunPart
): Paced<{ inputs: (Value | undefined)[]; made: Value[] }> {
  const { constant, index, convert } = lazy
  const { weights, budget } = run
  const made: Value[] = []
  const hold = <T extends Value>(value: T): T => {
    budget.hold(value)
    made.push(value)
    return value
  }
  const converted = function* (table: Tensor): Paced<Value> {
    if (!convert) return table
    try {
      return hold(
        (yield* runCall(convert, [table], {
          ...FOLDING,
          threads: run.threads,
          allocate: (type, dims, _, isZeroed) => budget.allocate(type, dims, 'heap', isZeroed)
        }))[0] ?? table
      )
    } catch (error) {
      throw locate(error, convert, plan.bound)
    }
  }
  const withWhole = function* (table: Tensor) {
    return { inputs: inputs.with(index, yield* converted(table)), made }
  }

  let held = weights.held(constant)
  if (held && !convert) return yield* withWhole(held)
  const lookup = rowsOf(call, plan, inputs, lazy, run)
  const { raw } = constant
  if (lookup === undefined || raw === undefined || !areWhole(constant, raw, lookup.axis))
    return yield* withWhole(weights.read(constant, budget))
  const { axis, positions, row } = lookup
  const rows = distinct(positions, row)
  const rowBytes = raw.length / constant.dims[axis]
  const spans = spansOf(rows, rowBytes)
  held ??= weights.wholeFor(
    constant,
    spans.reduce((sum, span) => sum + costOf(span, rows, rowBytes), 0),
    budget
  )
  if (held && !convert) return yield* withWhole(held)

  const table = budget.allocate(constant.type, constant.dims.with(axis, rows.length), 'heap', false)
  budget.hold(table)
  yield* readRows(constant, held ? inMemory(held) : raw, axis, rows, spans, table)
  const looked = yield* converted(table)
  if (convert) budget.release(table)
  else made.push(table)
  const indices = hold(budget.allocate('int32', lookup.dims, 'heap', false) as Tensor<'int32'>)
  // Out of range stays out of range.
  positions.forEach((position, i) => {
    indices.data[i] = position < 0 ? rows.length : placeOf(position, rows)
  })
  const result = inputs.with(index, looked).with(lookup.index, indices)
  const source = call.dataDependent.find(({ name }) => name === call.op.rows?.row)?.source
  if (source && row >= 0) result[source.index] = new Tensor('int32', [placeOf(row, rows)], [])
  return { inputs: result, made }
}

/** Whether rows are whole bytes of the file. */
const areWhole = ({ type, dims }: Constant, { layout }: ByteRange, axis: number): boolean =>
  layout === undefined || fillsBytes(type, elementCount(dims.slice(axis + 1)), layout)

function inMemory({ data }: Tensor): ByteRange {
  const bytes = bytesOf(data)
  const source = {
    name: '',
    size: bytes.length,
    inMemory: true,
    read: (offset: number, length: number) => bytes.subarray(offset, offset + length)
  }
  return { source, offset: 0, length: bytes.length }
}

const bytesOf = (data: Tensor['data']): Uint8Array => {
  const { buffer, byteOffset, byteLength } = data as Uint8Array
  return new Uint8Array(buffer, byteOffset, byteLength)
}

interface Rows {
  readonly axis: number
  /** Input position and dims of the indices. */
  readonly index: number
  readonly dims: readonly number[]
  /** One for each index; -1: out of range, which reads zero. */
  readonly positions: Positions
  /** One more row; -1: none. */
  readonly row: number
}

/** The rows that a call reads; undefined where they do not lie in one piece each. Fails as the operator does. */
function rowsOf(
  call: Call,
  plan: Plan,
  inputs: readonly (Value | undefined)[],
  { constant, index, convert }: LazyTable,
  { overrides }: RunPart
): Rows | undefined {
  const { dims } = constant
  const type = convert ? typeAfter(convert, constant) : constant.type
  const { op } = call
  const at = positionOf(call, op.rows?.indices)
  const indices = inputs[at]
  try {
    const facts = inputs.map((value, i) => (i === index ? tensorFact(type, dims) : value && factOf(value)))
    checkTypes(call, facts)
    const parameters = parametersOf(call, facts, { overrides })
    op.shape(byOperand(call, facts), parameters, call)
    const lookup = op.rows?.at(dims, parameters)
    if (
      lookup === undefined ||
      indices === undefined ||
      !isTensor(indices) ||
      elementCount(dims.slice(0, lookup.axis)) !== 1
    )
      return undefined
    const { axis, policy, row = -1 } = lookup
    return { axis, index: at, dims: indices.dims, positions: resolveIndices(indices, dims[axis], axis, policy), row }
  } catch (error) {
    throw locate(error, call, plan.bound)
  }
}

/** The element type of a constant that a call converts. */
function typeAfter(convert: Call, { type, dims }: Constant): DType | undefined {
  const [fact] = convert.op.shape(
    byOperand(convert, [tensorFact(type, dims)]),
    parametersOf(convert, [tensorFact(type, dims)]),
    convert
  )
  return fact.kind === 'tensor' ? fact.type : undefined
}

/** Rows that are read, each once, ascending. */
function distinct(positions: Positions, row: number): Positions {
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

/** The place of a row among those that are read. */
function placeOf(row: number, rows: Positions): number {
  let low = 0
  let high = rows.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if (rows[middle] < row) low = middle + 1
    else high = middle
  }
  return low
}

/** Places `[from, to)` in the list of rows: rows that are read at once. */
interface Span {
  readonly from: number
  readonly to: number
}

/** Whether every row between the first and the last is read. */
const isWhole = ({ from, to }: Span, rows: Positions): boolean => rows[to - 1] - rows[from] === to - from - 1

/** What reading a span costs, in bytes that could be read in the same time. */
const costOf = ({ from, to }: Span, rows: Positions, rowBytes: number): number =>
  (rows[to - 1] - rows[from] + 1) * rowBytes + NEAR

function spansOf(rows: Positions, rowBytes: number): Span[] {
  const spans: Span[] = []
  for (let from = 0, to = 1; from < rows.length; from = to++) {
    const isNear = (): boolean =>
      (rows[to] - rows[to - 1] - 1) * rowBytes < NEAR && (rows[to] - rows[from] + 1) * rowBytes <= MAX_SPAN
    while (to < rows.length && isNear()) to++
    spans.push({ from, to })
  }
  return spans
}

function* readRows(
  { type, dims, place, verify }: Constant,
  { source, offset, length, layout }: ByteRange,
  axis: number,
  rows: Positions,
  spans: readonly Span[],
  table: Tensor
): Generator<void> {
  const rowBytes = length / dims[axis]
  const target = bytesOf(table.data)
  const between = new Uint8Array(layout !== undefined || spans.some(span => !isWhole(span, rows)) ? MAX_SPAN : 0)
  /** Where in memory what lies at a byte of the file belongs, or how much it takes there. */
  const toMemory = (bytes: number): number => (layout === undefined ? bytes : (bytes * 8) / DTYPES[type].bits)
  const put = (bytes: Uint8Array, at: number): void =>
    target.set(
      layout === undefined ? bytes : bytesOf(tensorOfBytes(type, [toMemory(bytes.length)], bytes, layout).data),
      toMemory(at)
    )
  // A packed group of three bytes is not cut.
  const most = layout === undefined ? MAX_SPAN : MAX_SPAN - (MAX_SPAN % 3)
  let work = 0
  try {
    if (!source.inMemory) verify?.()
    for (const span of spans) {
      const start = offset + rows[span.from] * rowBytes
      if (isWhole(span, rows)) {
        const to = span.to * rowBytes
        for (let at = span.from * rowBytes, from = start; at < to; at += most, from += most) {
          const size = Math.min(most, to - at)
          if (layout === undefined) readInto(source, from, target.subarray(at, at + size))
          else put(source.read(from, size, between.subarray(0, size)), at)
          if (at + most < to) yield
        }
      } else {
        const size = (rows[span.to - 1] - rows[span.from] + 1) * rowBytes
        const bytes = source.read(start, size, between.subarray(0, size))
        for (let i = span.from; i < span.to; i++) {
          const at = (rows[i] - rows[span.from]) * rowBytes
          put(bytes.subarray(at, at + rowBytes), i * rowBytes)
        }
      }
      work += costOf(span, rows, rowBytes) * (layout === undefined ? 1 : COST_OF_DECODING)
      if (work < COST_PER_YIELD) continue
      work = 0
      yield
    }
  } catch (error) {
    throw error instanceof NodewiseError ? error.at(place) : error
  }
}
