import { byOperand, type Call, shapeCallOf } from '../bind/call.ts'
import { parametersOf } from '../bind/parameters.ts'
import { locate } from '../bind/propagate.ts'
import { checkTypes } from '../bind/types.ts'
import { NodewiseError } from '../errors.ts'
import type { Constant, RawPlace } from '../graph/graph.ts'
import { readInto } from '../graph/source.ts'
import { type Positions, resolveIndices } from '../kernels/indices.ts'
import { factOf, tensorFact } from '../shapes/fact.ts'
import { elementCount, isTensor, Tensor, type Value } from '../tensor/tensor.ts'
import type { Budget } from './memory.ts'
import type { Plan, Step } from './plan.ts'
import type { Weights } from './weights.ts'

/** A constant of which a call looks rows up, at the input position where it belongs. */
export interface LazyTable {
  readonly constant: Constant
  readonly index: number
}

interface RunPart {
  readonly budget: Budget
  readonly weights: Weights
  readonly overrides: Readonly<Record<string, unknown>>
  readonly shared: Set<unknown>
}

/** Rows that lie closer than this are read at once, with what is between them: a call takes about as long as reading so many bytes. */
const NEAR = 2 ** 14
/** The most that is read at once where there is something between the rows. */
const LARGEST_SPAN = 2 ** 20
/** Reading can be interrupted whenever this much has been done: some milliseconds. */
const COST_PER_YIELD = 2 ** 25

/**
 * The table of a step that looks rows up in one, where that is a large constant that need not be held.
 * @param slots what a slot holds; a constant where it has not been read
 */
export function lazyTable({ call, inputs }: Step, slots: { peek(slot: number): Value | Constant | undefined }, { weights, budget }: RunPart): LazyTable | undefined {
  const index = positionOf(call, call.op.rows?.table)
  const constant = slots.peek(inputs[index] ?? -1)
  return constant && 'read' in constant && weights.isByRow(constant, budget) ? { constant, index } : undefined
}

/**
 * A step's inputs with the table among them: whole where it is held or has to be, else made of the rows that the indices name, and with
 * indices into those. The operator's own kernel then runs on them.
 * @param inputs all but the table
 * @returns and the tensors that were made, held against the budget until the step has run
 * @throws NodewiseError what the operator throws for the same inputs; `limit-exceeded`; what reading throws
 */
export function* withTable(
  step: Step, plan: Plan, inputs: readonly (Value | undefined)[], { constant, index }: LazyTable, run: RunPart
): Generator<void, { inputs: (Value | undefined)[]; made: Tensor[] }> {
  const withWhole = (table: Tensor) => {
    run.shared.add(table.data)
    return { inputs: inputs.with(index, table), made: [] }
  }
  const { weights, budget } = run
  const { call } = step
  const held = weights.held(constant)
  if (held) return withWhole(held)
  const lookup = rowsOf(call, plan, inputs, { constant, index }, run)
  const { raw } = constant
  if (lookup === undefined || raw === undefined) return withWhole(weights.read(constant, budget))
  const { axis, positions, row } = lookup
  const rows = distinct(positions, row)
  const rowBytes = raw.length / constant.dims[axis]
  const spans = spansOf(rows, rowBytes)
  const bought = weights.buy(constant, spans.reduce((sum, span) => sum + costOf(span, rows, rowBytes), 0), budget)
  if (bought) return withWhole(bought)
  const table = budget.allocate(constant.type, constant.dims.with(axis, rows.length), 'heap', false)
  yield* readRows(constant, raw, rows, spans, rowBytes, table)
  const indices = budget.allocate('int32', lookup.dims, 'heap', false) as Tensor<'int32'>
  // Out of range stays out of range.
  positions.forEach((position, i) => { indices.data[i] = position < 0 ? rows.length : placeOf(position, rows) })
  const result = inputs.with(index, table).with(lookup.index, indices)
  const source = call.late.find(({ name }) => name === call.op.rows?.row)?.source
  if (source && row >= 0) result[source.index] = new Tensor('int32', [placeOf(row, rows)], [])
  const made = [table, indices]
  for (const tensor of made) budget.hold(tensor)
  return { inputs: result, made }
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
function rowsOf(call: Call, plan: Plan, inputs: readonly (Value | undefined)[], { constant, index }: LazyTable, { overrides }: RunPart): Rows | undefined {
  const { type, dims } = constant
  const { op } = call
  const at = positionOf(call, op.rows?.indices)
  const indices = inputs[at]
  try {
    const facts = inputs.map((value, i) => i === index ? tensorFact(type, dims) : value && factOf(value))
    checkTypes(call, facts)
    const parameters = parametersOf(call, facts, overrides)
    op.shape(byOperand(call, facts) as never, parameters as never, shapeCallOf(call))
    const lookup = op.rows?.at(dims, parameters as never)
    if (lookup === undefined || indices === undefined || !isTensor(indices) || elementCount(dims.slice(0, lookup.axis)) !== 1) return undefined
    const { axis, policy, row = -1 } = lookup
    return { axis, index: at, dims: indices.dims, positions: resolveIndices(indices, dims[axis], axis, policy), row }
  } catch (error) {
    throw locate(error, call, plan.bound)
  }
}

const positionOf = ({ operands }: Call, name: string | undefined): number => operands.find(operand => operand.name === name)?.index ?? -1

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
const costOf = ({ from, to }: Span, rows: Positions, rowBytes: number): number => (rows[to - 1] - rows[from] + 1) * rowBytes + NEAR

function spansOf(rows: Positions, rowBytes: number): Span[] {
  const spans: Span[] = []
  for (let from = 0, to = 1; from < rows.length; from = to++) {
    const isNear = (): boolean => (rows[to] - rows[to - 1] - 1) * rowBytes < NEAR && (rows[to] - rows[from] + 1) * rowBytes <= LARGEST_SPAN
    while (to < rows.length && isNear()) to++
    spans.push({ from, to })
  }
  return spans
}

function* readRows(constant: Constant, { source, offset }: RawPlace, rows: Positions, spans: readonly Span[], rowBytes: number, table: Tensor): Generator<void> {
  const { buffer, byteOffset, byteLength } = table.data as Uint8Array
  const target = new Uint8Array(buffer, byteOffset, byteLength)
  const between = new Uint8Array(spans.some(span => !isWhole(span, rows)) ? LARGEST_SPAN : 0)
  let work = 0
  try {
    constant.verify?.()
    for (const span of spans) {
      const start = offset + rows[span.from] * rowBytes
      if (isWhole(span, rows)) {
        const to = span.to * rowBytes
        for (let at = span.from * rowBytes, from = start; at < to; at += LARGEST_SPAN, from += LARGEST_SPAN) {
          readInto(source, from, target.subarray(at, Math.min(to, at + LARGEST_SPAN)))
          if (at + LARGEST_SPAN < to) yield
        }
      } else {
        const length = (rows[span.to - 1] - rows[span.from] + 1) * rowBytes
        const bytes = source.read(start, length, between.subarray(0, length))
        for (let i = span.from; i < span.to; i++) {
          const at = (rows[i] - rows[span.from]) * rowBytes
          target.set(bytes.subarray(at, at + rowBytes), i * rowBytes)
        }
      }
      work += costOf(span, rows, rowBytes)
      if (work < COST_PER_YIELD) continue
      work = 0
      yield
    }
  } catch (error) {
    throw error instanceof NodewiseError ? error.at(constant.place) : error
  }
}
