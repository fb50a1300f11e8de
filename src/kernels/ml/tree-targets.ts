import type { Numbers } from '../../tensor/elements.ts'
import type { Forest } from './forest.ts'
import { type PostTransform, transformScores } from './scores.ts'
import { type Aggregate, type LeafFinder, walkForest } from './walk-forest.ts'

/** A regressor by trees. */
export interface TreeTargets {
  readonly forest: Forest
  readonly targets: number
  readonly aggregate: Aggregate
  /** Added to what the trees say, one for each target or none. */
  readonly base: readonly number[]
  readonly post: PostTransform
}

/** Rows whose targets are to be predicted. */
export interface Regressing {
  /** Rows of `stride` features each. */
  readonly x: Numbers
  readonly rows: number
  readonly stride: number
  readonly to: { set(numbers: Float64Array, at: number): void }
  readonly finder?: LeafFinder
}

/** Writes the targets of rows. */
export function* regressByTrees(model: TreeTargets, given: Regressing): Generator<void> {
  const { forest, targets, aggregate, base, post } = model
  yield* walkForest(forest, { ...given, targets, aggregate }, ({ totals }, first, count) => {
    for (let row = 0, at = 0; row < count; row++, at += targets) {
      for (let i = 0; i < base.length; i++) totals[at + i] += base[i]
      transformScores(totals, at, targets, post)
    }
    given.to.set(totals.subarray(0, count * targets), first * targets)
  })
}
