import type { Forest } from './forest.ts'

/** What a classifier says for the leaves of its only tree: found out when a row first gets there. */
export interface LeafAnswers {
  /** The tree, whose leaves vote for their own places here. */
  readonly forest: Forest
  /** Numbers of the leaves, which count all nodes of old operators. */
  readonly leaves: Int32Array
  /** Whether what a leaf says is known. */
  readonly known: Uint8Array
  /** Positions among the labels. */
  readonly labels: Int32Array
  /** A row for each leaf. */
  readonly scores: Float32Array
}

/** Scores of all leaves that are kept. */
const MAX_SCORES = 1 << 19

/** The answers of a forest that is one tree; undefined where it is not, or where they would take much memory. */
export function leafAnswers({ forest, columns }: { forest: Forest; columns: number }): LeafAnswers | undefined {
  if (forest.roots.length !== 1) return undefined
  const sums = new Float64Array(forest.next.length)
  const leaves: number[] = []
  for (const [cell, leaf] of forest.leafOf.entries()) if (forest.next[cell] === cell) sums[cell] = leaves.push(leaf) - 1
  const count = leaves.length
  if (count * columns > MAX_SCORES) return undefined
  return {
    forest: { ...forest, sums },
    leaves: Int32Array.from(leaves),
    known: new Uint8Array(count),
    labels: new Int32Array(count),
    scores: new Float32Array(count * columns)
  }
}
