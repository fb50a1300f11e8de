import { DTYPES, is64BitInteger } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { type Codes, isCodedFloat, widen } from '../../tensor/floats.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { type BigInts, nothingToFinish, readNumbers, targetOf } from '../core/numbers.ts'
import { COST, Pace } from '../core/pace.ts'
import type { Positions } from '../core/positions.ts'
import { copyUnits, unitsOf } from '../core/units.ts'

/** Which rows of a table go into which bag. */
export interface Bags {
  /** Rows of the table. */
  readonly rows: Positions
  /** Bag of each row; -1: none. */
  readonly bagOf: Positions
  /** A factor for each of `rows`, of the table's type. */
  readonly weights?: Tensor
  readonly reduction: 'sum' | 'mean'
  /** Row that an empty bag gets; -1: zeros. */
  readonly defaultRow: number
}

/** `out[bag] = Σ weight · table[row]`, or the mean of the rows. Integers wrap; their means are cut towards zero. */
export function* reduceBags(
  table: Tensor,
  { rows, bagOf, weights, reduction, defaultRow }: Bags,
  out: Tensor
): Generator<void> {
  const bags = out.dims[0]
  if (out.data.length === 0) return
  const width = out.data.length / bags
  const counts = new Uint32Array(bags)
  const { sums, addRow, finish } = yield* adder(table, weights, width, out)
  const pace = new Pace()
  const cost = width * COST.element + (isCodedFloat(table.type) ? COST.allocation : 0)
  for (let i = 0; i < rows.length; i++) {
    const bag = bagOf[i]
    if (bag < 0) continue
    counts[bag]++
    addRow(bag, rows[i], i)
    if (pace.isDue(cost)) yield
  }
  if (reduction === 'mean') divideRows(sums, counts, width)
  yield* finish()
  if (defaultRow >= 0) fillEmpty(table, defaultRow, counts, out)
}

type AddRow = (bag: number, row: number, i: number) => void

interface Adder {
  readonly sums: Numbers | BigInts
  /** Adds one row of the table, times its weight, to a bag. */
  readonly addRow: AddRow
  finish(): Generator<void>
}

/** One for each kind of numbers, so that each loop meets one type of array. */
function* adder(table: Tensor, weights: Tensor | undefined, width: number, out: Tensor): Generator<void, Adder> {
  const { type } = table
  if (is64BitInteger(type)) {
    const [data, sums, factors] = [table.data as BigInts, out.data as BigInts, weights?.data as BigInts | undefined]
    const addRow: AddRow = (bag, row, i) =>
      addBigInts(data, row * width, factors ? factors[i] : 1n, sums, bag * width, width)
    return { sums, addRow, finish: nothingToFinish }
  }
  const target = targetOf(out)
  const sums = target.numbers
  const factors = weights && (yield* readNumbers(weights))
  const add = DTYPES[type].kind === 'float' ? addFloats : addIntegers
  if (!isCodedFloat(type)) {
    const data = table.data as Numbers
    const addRow: AddRow = (bag, row, i) => add(data, row * width, factors ? factors[i] : 1, sums, bag * width, width)
    return { sums, addRow, finish: target.finish }
  }
  // Rows are widened one by one, when they are read: the table may be large.
  const rowOf = (row: number): Numbers => widen(type, (table.data as Codes).subarray(row * width, (row + 1) * width))
  const addRow: AddRow = (bag, row, i) => add(rowOf(row), 0, factors ? factors[i] : 1, sums, bag * width, width)
  return { sums, addRow, finish: target.finish }
}

function addFloats(data: Numbers, at: number, factor: number, sums: Numbers, to: number, width: number): void {
  for (let i = 0; i < width; i++) sums[to + i] += factor * data[at + i]
}

function addIntegers(data: Numbers, at: number, factor: number, sums: Numbers, to: number, width: number): void {
  for (let i = 0; i < width; i++) sums[to + i] += Math.imul(factor, data[at + i])
}

function addBigInts(data: BigInts, at: number, factor: bigint, sums: BigInts, to: number, width: number): void {
  for (let i = 0; i < width; i++) sums[to + i] += factor * data[at + i]
}

function divideRows(sums: Numbers | BigInts, counts: Uint32Array, width: number): void {
  for (let bag = 0; bag < counts.length; bag++) {
    if (counts[bag] < 2) continue
    for (let at = bag * width; at < (bag + 1) * width; at++) {
      if (sums instanceof BigInt64Array || sums instanceof BigUint64Array) sums[at] /= BigInt(counts[bag])
      else sums[at] /= counts[bag]
    }
  }
}

function fillEmpty(table: Tensor, row: number, counts: Uint32Array, out: Tensor): void {
  const from = unitsOf(table).array
  const to = unitsOf(out).array
  const block = to.length / counts.length
  for (let bag = 0; bag < counts.length; bag++)
    if (counts[bag] === 0) copyUnits(from, row * block, to, bag * block, block)
}
