import type { Tensor } from '../../tensor/tensor.ts'
import { targetOf } from '../core/numbers.ts'
import type { Forest } from './forest.ts'
import { rowsOf } from './rows.ts'
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

/** Writes the targets of rows. */
export function* regressByTrees(model: TreeTargets, x: Tensor, to: Tensor, finder?: LeafFinder): Generator<void> {
  const { forest, targets, aggregate, base, post } = model
  const out = targetOf(to)
  const walk = { ...(yield* rowsOf(x)), targets, aggregate, finder }
  yield* walkForest(forest, walk, ({ totals }, first, count) => {
    for (let row = 0, at = 0; row < count; row++, at += targets) {
      for (let i = 0; i < base.length; i++) totals[at + i] += base[i]
      transformScores(totals, at, targets, post)
    }
    out.numbers.set(totals.subarray(0, count * targets), first * targets)
  })
  yield* out.finish()
}
