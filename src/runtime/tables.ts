import type { Call } from '../bind/call.ts'
import type { Constant } from '../graph/graph.ts'
import { prepareCall } from '../infer/prepare.ts'
import { locate } from '../infer/propagate.ts'
import { FOLDING, runCall } from '../infer/run.ts'
import type { Paced } from '../kernels/core/pace.ts'
import { type Positions, resolveIndices } from '../kernels/gather/indices.ts'
import { positionOf } from '../plan/graph.ts'
import type { Plan, Step } from '../plan/plan.ts'
import { type Fact, factOf, tensorFact } from '../shapes/fact.ts'
import { elementCount, isTensor, Tensor, type Value } from '../tensor/tensor.ts'
import type { Budget } from './memory.ts'
import { areWholeBytes, distinctRows, inMemory, rankOf, readRows, rentOf, spansOf } from './rows.ts'
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

/** The inputs of a call that looks rows up, and the tensors that were made for them. */
export interface TableInputs {
  readonly inputs: (Value | undefined)[]
  /** Held against the budget until the step has run. */
  readonly made: Value[]
}

/**
 * A step's inputs with the table among them. The table is whole where it is held or has to be; else it is made of the
 * rows that the indices name, and the indices count in those. The operator's own kernel then runs on them.
 * @param inputs all but the table
 * @throws NodewiseError what the operator throws for the same inputs; `limit-exceeded`; what reading throws
 */
export function* withTable(
  { call }: Step,
  plan: Plan,
  inputs: readonly (Value | undefined)[],
  lazy: LazyTable,
  run: RunPart
): Paced<TableInputs> {
  const { constant, index, convert } = lazy
  const { weights, budget } = run
  const made: Value[] = []
  const withWhole = function* (table: Tensor): Paced<TableInputs> {
    return { inputs: inputs.with(index, yield* converted(table, lazy, plan, run, made)), made }
  }

  let held = weights.held(constant)
  if (held && !convert) return yield* withWhole(held)
  const lookup = lookupOf(call, plan, inputs, lazy, run)
  const { raw } = constant
  if (lookup === undefined || raw === undefined || !areWholeBytes(constant, raw, lookup.axis))
    return yield* withWhole(weights.read(constant, budget))
  const { axis, positions, row } = lookup
  const rows = distinctRows(positions, row)
  const rowBytes = raw.length / constant.dims[axis]
  const spans = spansOf(rows, rowBytes)
  held ??= weights.wholeFor(constant, rentOf(spans, rows, rowBytes), budget)
  if (held && !convert) return yield* withWhole(held)

  const table = budget.allocate(constant.type, constant.dims.with(axis, rows.length), 'heap', false)
  hold(table, budget, made)
  yield* readRows(constant, held ? inMemory(held) : raw, axis, rows, spans, table)
  const looked = yield* converted(table, lazy, plan, run, made)
  if (looked !== table) budget.release(made.shift())
  const result = inputs.with(index, looked).with(lookup.index, indicesInto(rows, lookup, budget, made))
  const source = call.dataDependent.find(({ name }) => name === call.op.rows?.row)?.source
  if (source && row >= 0) result[source.index] = new Tensor('int32', [rankOf(row, rows)], [])
  return { inputs: result, made }
}

function hold<T extends Value>(value: T, budget: Budget, made: Value[]): T {
  budget.hold(value)
  made.push(value)
  return value
}

/** A table, or rows of it, as the call wants them: converted where a conversion has been fused with the call. */
function* converted(
  table: Tensor,
  { convert }: LazyTable,
  plan: Plan,
  { threads, budget }: RunPart,
  made: Value[]
): Paced<Value> {
  if (!convert) return table
  try {
    const [result = table] = yield* runCall(convert, [table], {
      ...FOLDING,
      threads,
      allocate: (type, dims, _, isZeroed) => budget.allocate(type, dims, 'heap', isZeroed)
    })
    return hold(result, budget, made)
  } catch (error) {
    throw locate(error, convert, plan.bound)
  }
}

/** Indices that count among the rows that are read; what was out of range is out of range. */
function indicesInto(rows: Positions, { dims, positions }: Lookup, budget: Budget, made: Value[]): Tensor<'int32'> {
  const indices = hold(budget.allocate('int32', dims, 'heap', false) as Tensor<'int32'>, budget, made)
  for (let i = 0; i < positions.length; i++)
    indices.data[i] = positions[i] < 0 ? rows.length : rankOf(positions[i], rows)
  return indices
}

/** What a call looks up in its table. */
interface Lookup {
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
function lookupOf(
  call: Call,
  plan: Plan,
  inputs: readonly (Value | undefined)[],
  { constant: { type, dims }, index, convert }: LazyTable,
  { overrides }: RunPart
): Lookup | undefined {
  const at = positionOf(call, call.op.rows?.indices)
  const indices = inputs[at]
  const table = convert ? factAfter(convert, tensorFact(type, dims), plan) : tensorFact(type, dims)
  try {
    const facts = inputs.map((value, i) => (i === index ? table : value && factOf(value)))
    const { parameters } = prepareCall(call, facts, { overrides })
    const lookup = call.op.rows?.at(dims, parameters)
    if (lookup === undefined || indices === undefined || !isTensor(indices)) return undefined
    const { axis, policy, row = -1 } = lookup
    if (elementCount(dims.slice(0, axis)) !== 1) return undefined
    return { axis, index: at, dims: indices.dims, positions: resolveIndices(indices, dims[axis], axis, policy), row }
  } catch (error) {
    throw locate(error, call, plan.bound)
  }
}

/** What a conversion makes of a table. */
function factAfter(convert: Call, table: Fact, plan: Plan): Fact {
  try {
    return prepareCall(convert, [table]).outputs[0]
  } catch (error) {
    throw locate(error, convert, plan.bound)
  }
}
