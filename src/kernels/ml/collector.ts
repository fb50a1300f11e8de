import { doubles, flags } from '../core/numbers.ts'
import type { Forest, Leaves } from './forest.ts'
import { addFullVotes, type FullVotes, fullVotesOf } from './full-votes.ts'

/** How the votes of all trees for a target become one number. */
export type Aggregate = 'AVERAGE' | 'SUM' | 'MIN' | 'MAX'

/** The votes that rows collected; made anew for each block of rows. */
export interface Votes {
  /** One number for each row and target, 0 where there was no vote. */
  readonly totals: Float64Array
  /** Whether there was a vote for a row and target; undefined: there was one for each. */
  readonly voted: Uint8Array | undefined
}

/** Collects the votes of leaves for the rows of a block. */
export class Collector implements Votes {
  readonly totals: Float64Array
  readonly voted: Uint8Array | undefined
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
    const isSum = aggregate === 'SUM' || aggregate === 'AVERAGE'
    if (isSum && targets === 1) this.sums = forest.sums
    else if (isSum) this.full = fullVotesOf(forest, targets)
    if (!this.sums && !this.full) this.voted = flags(block * targets)
  }

  clear(): void {
    this.totals.fill(0)
    this.voted?.fill(0)
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
      add(forest.leaves, forest.leafOf[cells[i]], totals, voted!, row * targets)
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
