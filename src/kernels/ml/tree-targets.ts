import type { Numbers } from '../../tensor/elements.ts'
import { isCodedFloat } from '../../tensor/floats.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { targetOf } from '../core/numbers.ts'
import type { Aggregate } from './collector.ts'
import type { Forest } from './forest.ts'
import { type PostTransform, transformScores } from './scores.ts'
import { type Means, walkForest } from './walk-forest.ts'

/** A regressor by trees. */
export interface TreeTargets {
  readonly forest: Forest
  readonly targets: number
  readonly aggregate: Aggregate
  /** Added to what the trees say, one for each target or none. Of several targets, those without a vote stay 0. */
  readonly base: readonly number[]
  readonly post: PostTransform
}

/** Writes the targets of rows. */
export function regressByTrees(model: TreeTargets, x: Tensor, to: Tensor, means?: Means): Generator<void> {
  const { forest, targets, aggregate, base, post } = model
  const { numbers, finish } = targetOf(to)
  const work = walkForest(forest, x, { targets, aggregate, ...means }, ({ totals, voted }, first, count) => {
    const isFinal = base.length === 0 && post === 'NONE'
    for (let row = 0, at = 0; row < count && !isFinal; row++, at += targets) {
      for (let i = 0; i < base.length; i++) if (targets === 1 || voted?.[at + i] !== 0) totals[at + i] += base[i]
      transformScores(totals, at, targets, post)
    }
    copyNumbers(totals, count * targets, numbers, first * targets)
  })
  return isCodedFloat(to.type) ? followed(work, finish) : work
}

/** In a loop where they are few, since `set` takes longer to start. */
function copyNumbers(from: Float64Array, count: number, to: Numbers, at: number): void {
  if (count > FEW) to.set(from.subarray(0, count), at)
  else for (let i = 0; i < count; i++) to[at + i] = from[i]
}

const FEW = 64

function* followed(work: Generator<void>, next: () => Generator<void>): Generator<void> {
  yield* work
  yield* next()
}
