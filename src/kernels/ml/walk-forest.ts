import type { Numbers } from '../../tensor/elements.ts'
import { doubles } from '../core/numbers.ts'
import { Pace, QUANTUM } from '../core/pace.ts'
import type { Forest, Leaves } from './forest.ts'
import { addFullVotes, type FullVotes, fullVotesOf } from './full-votes.ts'

/** How the votes of all trees for a target become one number. */
export type Aggregate = 'AVERAGE' | 'SUM' | 'MIN' | 'MAX'

/** Rows that walk a tree one after the other while its cells are in the cache. Measured: 64 take 1.6 times as long. */
const BLOCK = 512
/** Numbers of a block, which should stay in the cache too: what is compared, or what is collected. */
const MAX_BLOCK = 2 ** 15
/** Walks at once, so that the processor need not wait for one of them. */
const LANES = 4
/** Nanoseconds that one step of one walk takes, estimated from above. Measured: 4 to 7. */
const STEP = 15

/** The votes that rows collected; made anew for each block of rows. */
export interface Votes {
  /** One number for each row and target, 0 where there was no vote. */
  readonly totals: Float64Array
  /** Whether there was a vote for a row and target. */
  readonly voted: Uint8Array
}

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

/** Rows that walk a forest. */
export interface Walk {
  /** Rows of `stride` features each. */
  readonly x: Numbers
  readonly rows: number
  readonly stride: number
  readonly targets: number
  readonly aggregate: Aggregate
  readonly finder?: LeafFinder | undefined
}

/**
 * Walks all trees with all rows and collects what the leaves say. After each block of rows `finish` is called; the
 * votes are used again then.
 */
export function* walkForest(
  forest: Forest,
  walk: Walk,
  finish: (votes: Votes, first: number, count: number) => void
): Generator<void> {
  const { x, rows, stride, targets, aggregate, finder } = walk
  const perRow = STEP * (forest.deepest + 1)
  const columns = columnsOf(forest)
  const most = Math.min(finder?.most ?? Math.min(BLOCK, QUANTUM / perRow), MAX_BLOCK / Math.max(columns, targets))
  const block = Math.min(rows, Math.max(LANES, LANES * Math.floor(most / LANES)))
  const collector = new Collector(forest, block, targets, aggregate)
  const values = doubles(block * columns)
  const cells = new Int32Array(Math.max(block, forest.roots.length) + LANES)
  const pace = new Pace()
  for (let first = 0; first < rows; first += block) {
    const count = Math.min(block, rows - first)
    takeValues(forest, x, first, count, stride, values)
    collector.clear()
    const found = finder && (yield* finder.find(values, count))
    if (found) yield* takeFound(collector, found, found.length / forest.roots.length, count, pace)
    else yield* walkBlock(forest, values, count, cells, collector, pace)
    collector.finish()
    finish(collector, first, count)
    if (pace.isDue(count * (forest.features.length + targets) * STEP)) yield
  }
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
  const columns = columnsOf(forest)
  for (let row = 0; row < count; row++) {
    const from = (first + row) * stride
    const at = row * columns
    for (let column = 0; column < features.length; column++) {
      const feature = features[column]
      to[at + column] = feature < 0 ? -x[from - 1 - feature] : x[from + feature]
    }
  }
}

/** Collects the votes of leaves for the rows of a block. */
class Collector implements Votes {
  readonly totals: Float64Array
  readonly voted: Uint8Array
  /** With one target and sums, what each cell adds. */
  private readonly sums: Float64Array | undefined
  /** With several targets, what leaves add where each votes for all of them. */
  private readonly full: FullVotes | undefined

  constructor(
    private readonly forest: Forest,
    block: number,
    private readonly targets: number,
    private readonly aggregate: Aggregate
  ) {
    this.totals = doubles(block * targets)
    this.voted = new Uint8Array(block * targets)
    const isSum = aggregate === 'SUM' || aggregate === 'AVERAGE'
    if (isSum && targets === 1) this.sums = forest.sums
    else if (isSum) this.full = fullVotesOf(forest, targets)
  }

  clear(): void {
    this.totals.fill(0)
    this.voted.fill(this.sums || this.full ? 1 : 0)
  }

  /** Takes the votes of `count` leaf cells: the first for row `row`, each other for the row `step` further. */
  take(cells: Int32Array, count: number, row: number, step: number): void {
    const { totals, voted, sums, full, targets, aggregate, forest } = this
    if (sums) {
      addSums(totals, sums, cells, count, row, step)
      return
    }
    if (full) {
      addFullVotes(full, forest.leafOf, cells, count, totals, targets, row, step)
      return
    }
    const add = aggregate === 'MIN' ? takeSmallest : aggregate === 'MAX' ? takeLargest : takeSum
    for (let i = 0; i < count; i++, row += step)
      add(forest.leaves, forest.leafOf[cells[i]], totals, voted, row * targets)
  }

  finish(): void {
    if (this.aggregate !== 'AVERAGE') return
    const trees = this.forest.roots.length
    for (let i = 0; i < this.totals.length; i++) this.totals[i] /= trees
  }
}

/** A function of its own, since in the methods around it the loop is ten times slower. */
function addSums(
  totals: Float64Array,
  sums: Float64Array,
  cells: Int32Array,
  count: number,
  row: number,
  step: number
): void {
  for (let i = 0; i < count; i++, row += step) totals[row] += sums[cells[i]]
}

type TakeVotes = (leaves: Leaves, leaf: number, totals: Float64Array, voted: Uint8Array, at: number) => void

const takeSum: TakeVotes = ({ starts, targets, weights }, leaf, totals, voted, at) => {
  for (let i = starts[leaf]; i < starts[leaf + 1]; i++) {
    totals[at + targets[i]] += weights[i]
    voted[at + targets[i]] = 1
  }
}

const takeSmallest: TakeVotes = ({ starts, targets, weights }, leaf, totals, voted, at) => {
  for (let i = starts[leaf]; i < starts[leaf + 1]; i++) {
    const to = at + targets[i]
    if (voted[to] === 0 || weights[i] < totals[to]) totals[to] = weights[i]
    voted[to] = 1
  }
}

const takeLargest: TakeVotes = ({ starts, targets, weights }, leaf, totals, voted, at) => {
  for (let i = starts[leaf]; i < starts[leaf + 1]; i++) {
    const to = at + targets[i]
    if (voted[to] === 0 || weights[i] > totals[to]) totals[to] = weights[i]
    voted[to] = 1
  }
}
