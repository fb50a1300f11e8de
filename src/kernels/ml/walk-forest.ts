import type { DType } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { doubles, ints, readReals } from '../core/numbers.ts'
import { DONE, Pace, QUANTUM } from '../core/pace.ts'
import { type Aggregate, Collector, type Votes } from './collector.ts'
import type { Forest } from './forest.ts'
import { realsAtOnce, rowsAndFeatures } from './rows.ts'

/** Rows that walk a tree one after the other while its cells are in the cache. Measured: 64 take 1.6 times as long. */
const BLOCK = 512
/** Numbers of a block, which should stay in the cache too: what is compared, or what is collected. */
const MAX_BLOCK = 2 ** 15
/** Walks at once, so that the processor need not wait for one of them. */
const LANES = 4
/** Nanoseconds that one step of one walk takes, estimated from above. Measured: 4 to 7. */
const STEP = 15

/** Finds the leaves of rows by other means than {@link walkForest} itself. */
export interface LeafFinder {
  /** Most rows at once. */
  readonly most: number
  /**
   * Finds the leaf cells of all trees for `count` rows of what trees compare: of the first tree for all rows, perhaps
   * with some more behind them, then of the next one.
   * @returns undefined where there is no memory for that
   */
  find(values: Float64Array, count: number): Generator<void, Int32Array | undefined>
}

/** Adds up what the leaves of rows say by other means than {@link walkForest} itself. */
export interface VoteAdder {
  /** Most rows at once. */
  readonly most: number
  /**
   * Adds up the votes of all trees for `count` rows that lie as they are in the input.
   * @returns a sum for each row and target; undefined where there is no memory for that
   */
  add(rows: Float32Array | Float64Array, count: number): Generator<void, Float64Array | undefined>
}

/** Other means to walk a forest. */
export interface Means {
  readonly finder?: LeafFinder | undefined
  /** Only of sums and means to which each leaf adds for every target. */
  readonly adder?: VoteAdder | undefined
}

/** How rows walk a forest. */
export interface Walk extends Means {
  readonly targets: number
  readonly aggregate: Aggregate
}

/** Is called with the votes of `count` rows from `first` on; these are used again then. */
type Finish = (votes: Votes, first: number, count: number) => void

/**
 * Walks all trees with all rows and collects what the leaves say. After each block of rows `finish` is called. Few
 * walks are done before this returns.
 */
export function walkForest(forest: Forest, x: Tensor, walk: Walk, finish: Finish): Generator<void> {
  if (walk.adder) return walkAdding(forest, x, walk, walk.adder, finish)
  const [rows, stride] = rowsAndFeatures(x.dims)
  const cost = rows * forest.roots.length * STEP * (forest.deepest + 1)
  const isLight = cost + rows * (columnsOf(forest) + walk.targets) * STEP <= QUANTUM
  const numbers = walk.finder || rows === 0 || !isLight ? undefined : realsAtOnce(x)
  if (numbers === undefined) return walkBlocks(forest, x, walk, finish)
  walkAtOnce(forest, numbers, rows, stride, walk, finish)
  return DONE
}

function walkAtOnce(
  forest: Forest,
  x: Numbers,
  rows: number,
  stride: number,
  { targets, aggregate }: Walk,
  finish: Finish
): void {
  const trees = forest.roots.length
  const apart = rows % LANES
  // Filling the last group of rows up takes a walk of a group for each tree.
  const isFilled = apart * Math.ceil(trees / LANES) >= trees
  const together = rows - apart + (isFilled && apart > 0 ? LANES : 0)
  const collector = new Collector(forest, rows, targets, aggregate)
  const values = doubles(Math.max(rows, together) * columnsOf(forest))
  const cells = ints(Math.max(together, trees) + LANES)
  takeValues(forest, x, 0, rows, stride, values)
  for (let tree = 0; together > 0 && tree < trees; tree++) {
    walkRows(forest, tree, values, together, cells)
    collector.take(cells, Math.min(rows, together), 0, 1)
  }
  for (let row = together; row < rows; row++) {
    cells.set(forest.roots)
    walk(forest, values, cells, 0, LANES * Math.ceil(trees / LANES), row * columnsOf(forest), 0, forest.shallowest)
    collector.take(cells, trees, row, 0)
  }
  collector.finish()
  finish(collector, 0, rows)
}

function* walkAdding(forest: Forest, x: Tensor, walk: Walk, adder: VoteAdder, finish: Finish): Generator<void> {
  const [rows, stride] = rowsAndFeatures(x.dims)
  const numbers = isFloat(x.type) ? x.data : Float64Array.from(yield* readReals(x))
  for (let first = 0; first < rows; first += adder.most) {
    const count = Math.min(adder.most, rows - first)
    const own = (numbers as Float32Array).subarray(first * stride, (first + count) * stride)
    const totals = yield* adder.add(own, count)
    if (totals === undefined) {
      // The heap is full: nothing has been finished but whole blocks, which are written once more.
      yield* walkBlocks(forest, x, { ...walk, adder: undefined }, finish)
      return
    }
    if (walk.aggregate === 'AVERAGE') for (let i = 0; i < totals.length; i++) totals[i] /= forest.roots.length
    finish({ totals, voted: undefined }, first, count)
  }
}

const isFloat = (type: DType): boolean => type === 'float32' || type === 'float64'

function* walkBlocks(forest: Forest, tensor: Tensor, walk: Walk, finish: Finish): Generator<void> {
  const { targets, aggregate, finder } = walk
  const x = yield* readReals(tensor)
  const [rows, stride] = rowsAndFeatures(tensor.dims)
  const perRow = STEP * (forest.deepest + 1)
  const columns = columnsOf(forest)
  const most = Math.min(finder?.most ?? Math.min(BLOCK, QUANTUM / perRow), MAX_BLOCK / Math.max(columns, targets))
  const block = Math.min(rows, Math.max(LANES, LANES * Math.floor(most / LANES)))
  const collector = new Collector(forest, block, targets, aggregate)
  const values = borrowed(block * columns)
  let cells: Int32Array | undefined
  const pace = new Pace()
  for (let first = 0; first < rows; first += block) {
    const count = Math.min(block, rows - first)
    takeValues(forest, x, first, count, stride, values)
    collector.clear()
    const found = finder && (yield* finder.find(values, count))
    if (found) yield* takeFound(collector, found, found.length / forest.roots.length, count, pace)
    else {
      cells ??= new Int32Array(Math.max(block, forest.roots.length) + LANES)
      yield* walkBlock(forest, values, count, cells, collector, pace)
    }
    collector.finish()
    finish(collector, first, count)
    if (pace.isDue(count * (forest.features.length + targets) * STEP)) yield
  }
  if (values.length <= MAX_BLOCK) spare = values
}

/** What one call compared, for another one: to make it takes as long as to fill it. */
let spare: Float64Array | undefined

function borrowed(count: number): Float64Array {
  const values = spare !== undefined && spare.length >= count ? spare : new Float64Array(count)
  spare = undefined
  return values
}

/** Takes the votes of leaf cells that a {@link LeafFinder} has found, `step` of each tree. */
function* takeFound(collector: Collector, found: Int32Array, step: number, count: number, pace: Pace): Generator<void> {
  for (let at = 0; at < found.length; at += step) {
    collector.take(found.subarray(at, at + count), count, 0, 1)
    if (pace.isDue(count * STEP)) yield
  }
}

/** Walks all trees with the rows of a block and takes the votes. */
function* walkBlock(
  forest: Forest,
  values: Float64Array,
  count: number,
  cells: Int32Array,
  collector: Collector,
  pace: Pace
): Generator<void> {
  const trees = forest.roots.length
  const together = count - (count % LANES)
  for (let tree = 0; together > 0 && tree < trees; tree++) {
    walkRows(forest, tree, values, together, cells)
    collector.take(cells, together, 0, 1)
    if (pace.isDue(together * STEP * (forest.deepest + 1))) yield
  }
  for (let row = together; row < count; row++) {
    yield* walkTrees(forest, values, row, cells, pace)
    collector.take(cells, trees, row, 0)
  }
}

/** One tree, `count` rows, a multiple of {@link LANES}. Each row's leaf cell goes into `cells`. */
function walkRows(forest: Forest, tree: number, values: Float64Array, count: number, cells: Int32Array): void {
  cells.fill(forest.roots[tree], 0, count)
  walk(forest, values, cells, 0, count, 0, columnsOf(forest), forest.shortest[tree])
}

/** One row, all trees, {@link LANES} at once. Each tree's leaf cell goes into `cells`. */
function* walkTrees(forest: Forest, values: Float64Array, row: number, cells: Int32Array, pace: Pace): Generator<void> {
  const { roots, shallowest, deepest } = forest
  const perTree = STEP * (deepest + 1)
  const part = Math.max(LANES, LANES * Math.floor(QUANTUM / perTree / LANES))
  cells.set(roots)
  for (let tree = 0; tree < roots.length; tree += part) {
    // The entries beyond the last tree begin wherever walks ended before.
    const end = Math.min(tree + part, LANES * Math.ceil(roots.length / LANES))
    walk(forest, values, cells, tree, end, row * columnsOf(forest), 0, shallowest)
    if (pace.isDue((end - tree) * perTree)) yield
  }
}

/**
 * Walks from cells to leaves, four at once. Every step of a walk is the same few instructions without a branch, and
 * independent walks keep the processor busy: a branch for each test, which is as good as random, takes twice as long.
 * @param cells where the walks `from … to` begin; their leaf cells replace them
 * @param at position in `values` of what the first of these walks compares; the others' follow `apart` from each other
 * @param least steps that no walk needs fewer of; a walk that has arrived stays where it is
 */
function walk(
  { next, columns, thresholds }: Forest,
  values: Float64Array,
  cells: Int32Array,
  from: number,
  to: number,
  at: number,
  apart: number,
  least: number
): void {
  for (let i = from; i < to; i += LANES, at += LANES * apart) {
    const atB = at + apart
    const atC = atB + apart
    const atD = atC + apart
    let a = cells[i]
    let b = cells[i + 1]
    let c = cells[i + 2]
    let d = cells[i + 3]
    for (let step = 0; step < least; step++) {
      a = next[a] + Number(values[at + columns[a]] <= thresholds[a])
      b = next[b] + Number(values[atB + columns[b]] <= thresholds[b])
      c = next[c] + Number(values[atC + columns[c]] <= thresholds[c])
      d = next[d] + Number(values[atD + columns[d]] <= thresholds[d])
    }
    while (((next[a] - a) | (next[b] - b) | (next[c] - c) | (next[d] - d)) !== 0) {
      a = next[a] + Number(values[at + columns[a]] <= thresholds[a])
      b = next[b] + Number(values[atB + columns[b]] <= thresholds[b])
      c = next[c] + Number(values[atC + columns[c]] <= thresholds[c])
      d = next[d] + Number(values[atD + columns[d]] <= thresholds[d])
    }
    cells[i] = a
    cells[i + 1] = b
    cells[i + 2] = c
    cells[i + 3] = d
  }
}

/** Columns of the values that trees compare, at least one, since a leaf reads a column, too. */
export const columnsOf = ({ features }: Forest): number => Math.max(1, features.length)

/** Copies the features that the trees compare of some rows, side by side. */
function takeValues(forest: Forest, x: Numbers, first: number, count: number, stride: number, to: Float64Array): void {
  const { features } = forest
  const end = (first + count) * stride
  if (areAll(features, stride)) for (let i = first * stride, at = 0; i < end; i++, at++) to[at] = x[i]
  else if (features.every(isPlain)) takeFeatures(features, x, first * stride, end, stride, to)
  else takeSigned(features, x, first * stride, end, stride, to)
}

const isPlain = (feature: number): boolean => feature >= 0

/** Whether all features are compared, in their order. */
function areAll(features: Int32Array, stride: number): boolean {
  if (features.length !== stride) return false
  for (let i = 0; i < stride; i++) if (features[i] !== i) return false
  return true
}

function takeFeatures(
  features: Int32Array,
  x: Numbers,
  from: number,
  end: number,
  stride: number,
  to: Float64Array
): void {
  for (let at = 0; from < end; from += stride)
    for (let column = 0; column < features.length; column++) to[at++] = x[from + features[column]]
}

function takeSigned(
  features: Int32Array,
  x: Numbers,
  from: number,
  end: number,
  stride: number,
  to: Float64Array
): void {
  for (let at = 0; from < end; from += stride)
    for (let column = 0; column < features.length; column++) {
      const feature = features[column]
      to[at++] = feature < 0 ? -x[from - 1 - feature] : x[from + feature]
    }
}
