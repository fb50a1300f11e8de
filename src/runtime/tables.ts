import type { Call } from '../bind/call.ts'
import type { ByteRange, Constant } from '../graph/graph.ts'
import { prepareCall } from '../infer/prepare.ts'
import { locate } from '../infer/propagate.ts'
import { FOLDING, runCall } from '../infer/run.ts'
import type { Paced } from '../kernels/core/pace.ts'
import type { Positions } from '../kernels/core/positions.ts'
import { resolveIndices } from '../kernels/gather/indices.ts'
import { positionOf } from '../plan/graph.ts'
import type { Plan, Step } from '../plan/plan.ts'
import { type Fact, factOf, type TensorFact, tensorFact } from '../shapes/fact.ts'
import { elementCount, isTensor, memoryBytes, Tensor, type Value } from '../tensor/tensor.ts'
import type { Budget } from './memory.ts'
import {
  areWholeBytes,
  distinctRows,
  inMemory,
  rankOf,
  readRows,
  rentOf,
  type Span,
  spansOf,
  type Stored
} from './rows.ts'
import { isConstant, type Slot } from './slots.ts'
import { bytesToHold, type Weights } from './weights.ts'

/** A constant of which a call looks rows up, at the input position where it belongs. */
export interface LazyTable {
  readonly constant: Constant
  readonly index: number
  /** Converts each row that is read. */
  readonly convert?: Call
}

/** What looking rows up needs of a run. */
export interface RunPart {
  readonly budget: Budget
  readonly weights: Weights
  readonly overrides: Readonly<Record<string, unknown>>
  readonly threads: number
  readonly signal: () => AbortSignal | undefined
}

const NONE: readonly LazyTable[] = []

/**
 * The tables of a step that looks rows up in some, which are large constants that need not be held.
 * @param slots what a slot holds; a constant where it has not been read
 */
export function lazyTables(
  { tables, inputs, convert }: Step,
  { initial }: Plan,
  slots: readonly Slot[],
  { weights, budget }: RunPart
): readonly LazyTable[] {
  if (tables.length === 0) return NONE
  const lazies: LazyTable[] = []
  let wholeBytes = 0
  for (const index of tables) {
    const converts = convert !== undefined && index === tables[0]
    // What is converted is a constant of the file, even where another step has read all of it into the slot.
    const constant = (converts ? initial : slots)[inputs[index]]
    if (constant === undefined || !isConstant(constant)) continue
    if (converts) lazies.push({ constant, index, convert })
    else if (weights.isByRow(constant, budget, wholeBytes)) lazies.push({ constant, index })
    else if (!weights.held(constant)) wholeBytes += bytesToHold(constant)
  }
  return lazies
}

/** The inputs of a call that looks rows up, and the tensors that were made for them. */
export interface TableInputs {
  readonly inputs: (Value | undefined)[]
  /** Held against the budget until the step has run. */
  readonly made: Value[]
}

/**
 * A step's inputs with the tables among them. Tables are whole where all of them are held or have to be; else they are
 * made of the rows that the indices name, and the indices count in those. The operator's own kernel then runs on them.
 * @param inputs all but the lazy tables
 * @throws NodewiseError what the operator throws for the same inputs; `limit-exceeded`; what reading throws
 */
export function* withTables(
  { call, tables }: Step,
  plan: Plan,
  inputs: readonly (Value | undefined)[],
  lazies: readonly LazyTable[],
  run: RunPart
): Paced<TableInputs> {
  const { weights, budget } = run
  const made: Value[] = []
  const result = inputs.slice()
  const areHeld = lazies.every(({ constant, convert }) => !convert && weights.held(constant))
  const lookup = areHeld ? undefined : lookupOf(call, plan, inputs, tables[0], lazies, run)
  const cuts = lookup && cutsOf(tables, inputs, lazies, lookup, run)
  if (lookup === undefined || cuts === undefined) {
    for (const lazy of lazies) {
      const table = weights.held(lazy.constant) ?? weights.read(lazy.constant, budget)
      result[lazy.index] = yield* converted(table, lazy.convert, plan, run, made)
    }
    return { inputs: result, made }
  }
  for (const cut of cuts) result[cut.index] = yield* rowsOf(cut, lookup, plan, run, made)
  const { row, rows } = lookup
  result[lookup.index] = indicesInto(lookup, budget, made)
  const source = call.dataDependent.find(({ name }) => name === call.op.rows?.row)?.source
  if (source && row >= 0) result[source.index] = new Tensor('int32', [rankOf(row, rows)], [])
  return { inputs: result, made }
}

/** A table of which only some rows are given to the call; without spans all of it is. */
interface Cut {
  readonly index: number
  readonly like: Stored
  /** All of the table, where it is in memory. */
  readonly whole: Tensor | undefined
  /** The file's bytes of the table. */
  readonly raw: ByteRange | undefined
  readonly spans: readonly Span[] | undefined
  readonly convert: Call | undefined
}

/** What of each table is read; undefined where all of them are whole. */
function cutsOf(
  tables: readonly number[],
  inputs: readonly (Value | undefined)[],
  lazies: readonly LazyTable[],
  lookup: Lookup,
  run: RunPart
): readonly Cut[] | undefined {
  const cuts = tables.flatMap((index): Cut[] => {
    const lazy = lazies.find(other => other.index === index)
    if (lazy) return [cutOfConstant(lazy, lookup, run)]
    const value = inputs[index]
    if (value === undefined || !isTensor(value) || !hasRows(value.dims, lookup)) return []
    const spans = spansOf(lookup.rows, memoryBytes(value.type, elementCount(value.dims)) / lookup.size)
    const like = { type: value.type, dims: value.dims, place: {} }
    return [{ index, like, whole: value, raw: undefined, spans, convert: undefined }]
  })
  return cuts.some(({ whole, convert }) => whole === undefined || convert) ? cuts : undefined
}

function cutOfConstant({ constant, index, convert }: LazyTable, lookup: Lookup, { weights, budget }: RunPart): Cut {
  const { raw } = constant
  const { axis, rows, size } = lookup
  const base = { index, like: constant, raw, convert }
  if (!hasRows(constant.dims, lookup)) return { ...base, whole: weights.read(constant, budget), spans: undefined }
  const isReadable = raw !== undefined && areWholeBytes(constant, raw, axis)
  const held = weights.held(constant) ?? (isReadable ? undefined : weights.read(constant, budget))
  const bytes = (held ? memoryBytes(constant.type, elementCount(constant.dims)) : raw!.length) / size
  const spans = spansOf(rows, bytes)
  return { ...base, whole: held ?? weights.wholeFor(constant, rentOf(spans, rows, bytes), budget), spans }
}

/** Whether a tensor has a row for each row of the table; a single row serves all of them. */
const hasRows = (dims: readonly number[], { axis, size }: Lookup): boolean =>
  dims[axis] === size && elementCount(dims.slice(0, axis)) === 1

/** The rows of a table that a call needs, one after the other. */
function* rowsOf(
  { like, whole, raw, spans, convert }: Cut,
  lookup: Lookup,
  plan: Plan,
  run: RunPart,
  made: Value[]
): Paced<Value> {
  if (spans === undefined) return whole!
  const { axis, rows } = lookup
  const table = hold(run.budget.allocate(like.type, like.dims.with(axis, rows.length), 'heap', false), run.budget, made)
  yield* readRows(like, whole ? inMemory(whole) : raw!, axis, rows, spans, table, run.signal)
  const looked = yield* converted(table, convert, plan, run, made)
  if (looked !== table) run.budget.release(made.splice(made.indexOf(table), 1)[0])
  return looked
}

function hold<T extends Value>(value: T, budget: Budget, made: Value[]): T {
  budget.hold(value)
  made.push(value)
  return value
}

/** A table, or rows of it, as the call wants them: converted where a conversion has been fused with the call. */
function* converted(
  table: Tensor,
  convert: Call | undefined,
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
function indicesInto({ rows, dims, positions }: Lookup, budget: Budget, made: Value[]): Tensor<'int32'> {
  const indices = hold(budget.allocate('int32', dims, 'heap', false) as Tensor<'int32'>, budget, made)
  for (let i = 0; i < positions.length; i++)
    indices.data[i] = positions[i] < 0 ? rows.length : rankOf(positions[i], rows)
  return indices
}

/** What a call looks up in its table. */
interface Lookup {
  readonly axis: number
  /** Rows of the table. */
  readonly size: number
  /** Input position and dims of the indices. */
  readonly index: number
  readonly dims: readonly number[]
  /** One for each index; -1: out of range, which reads zero. */
  readonly positions: Positions
  /** One more row; -1: none. */
  readonly row: number
  /** All rows that are read, each once, ascending. */
  readonly rows: Positions
}

/** The rows that a call reads; undefined where they do not lie in one piece each. Fails as the operator does. */
function lookupOf(
  call: Call,
  plan: Plan,
  inputs: readonly (Value | undefined)[],
  table: number,
  lazies: readonly LazyTable[],
  { overrides }: RunPart
): Lookup | undefined {
  const at = positionOf(call, call.op.rows?.indices)
  const indices = inputs[at]
  const facts: (Fact | undefined)[] = inputs.map(value => value && factOf(value))
  for (const { constant, index, convert } of lazies) {
    const fact = tensorFact(constant.type, constant.dims)
    facts[index] = convert ? factAfter(convert, fact, plan) : fact
  }
  try {
    const { parameters } = prepareCall(call, facts, { overrides })
    const dims = (facts[table] as TensorFact).shape as readonly number[]
    const lookup = call.op.rows?.at(dims, parameters)
    if (lookup === undefined || indices === undefined || !isTensor(indices)) return undefined
    const { axis, policy, row = -1 } = lookup
    const size = dims[axis]
    if (elementCount(dims.slice(0, axis)) !== 1) return undefined
    const positions = resolveIndices(indices, size, axis, policy)
    return { axis, size, index: at, dims: indices.dims, positions, row, rows: distinctRows(positions, row) }
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
