import { pendingRead } from '../files/remote.ts'
import type { Constant } from '../graph/graph.ts'
import { locate } from '../infer/propagate.ts'
import type { Paced } from '../kernels/core/pace.ts'
import type { Plan } from '../plan/plan.ts'
import { isConstant, type Slot } from './slots.ts'
import { lazyTables, type RunPart } from './tables.ts'

/** Constants of the next steps are read together with those that a step waits for, up to so many bytes. */
const AHEAD = 2 ** 24

/**
 * Waits for the bytes that a step has missed, after which it is to be run anew; those of the next steps come with them.
 * @param at index of the step; after the last one: the outputs
 * @param mayBeginAnew whether the step has changed nothing yet
 * @throws NodewiseError any other error, with the place of the step
 */
export function* settleStep(
  error: unknown,
  mayBeginAnew: boolean,
  at: number,
  plan: Plan,
  slots: readonly Slot[],
  run: RunPart
): Paced {
  const call = plan.steps.at(at)?.call
  const placed = (failure: unknown): unknown => (call ? locate(failure, call, plan.bound) : failure)
  const pending = mayBeginAnew ? pendingRead(error) : undefined
  if (pending === undefined) throw placed(error)
  const { weights, budget } = run
  try {
    const signal = run.signal()
    const ahead = weights.afar(constantsFrom(at, plan, slots, run), budget)
    yield Promise.all([
      // First, so that what the step needs is read together with what follows.
      ahead.length > 0 ? weights.fetch(ahead, budget, signal) : undefined,
      pending.settle(signal).then(end => end())
    ]).then(() => undefined)
  } catch (failure) {
    throw placed(failure)
  }
}

/** Constants that a step and those after it read whole. */
function constantsFrom(at: number, plan: Plan, slots: readonly Slot[], run: RunPart): Constant[] {
  const found = new Set<Constant>()
  let bytes = 0
  for (let i = at; i < plan.steps.length && bytes < AHEAD; i++) {
    const step = plan.steps[i]
    const tables = new Set(lazyTables(step, plan, slots, run).map(({ index }) => index))
    step.inputs.forEach((slot, index) => {
      const held = slots[slot]
      if (held === undefined || !isConstant(held) || tables.has(index) || found.has(held)) return
      found.add(held)
      bytes += held.byteLength
    })
  }
  return [...found]
}
