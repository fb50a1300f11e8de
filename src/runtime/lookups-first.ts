import { isBuiltIn } from '../op-kit/define.ts'
import { alteredPlan, leavingAll, type Plan, slotsReadBy, type Step } from '../plan/plan.ts'
import { isConcrete } from '../shapes/dim.ts'
import type { Fact } from '../shapes/fact.ts'
import { product, type Value } from '../tensor/tensor.ts'
import type { Budget } from './memory.ts'
import type { Slot, Slots } from './slots.ts'
import { lazyTables, type RunPart } from './tables.ts'

/** Most elements of what is made on the way to indices. */
const MAX_ELEMENTS = 1 << 10

/** Fewer other steps do not make up for copies of what is looked up. */
const MIN_STEPS = 8

/** A plan in two, the first of which is undefined where there is nothing in it. */
export interface Parted {
  readonly first: Plan | undefined
  readonly others: Plan
}

/**
 * Takes the steps ahead that look rows up in tables which stay in the file, with the few that make their indices: they
 * depend on nothing else, and are the only ones of many a model that cannot be repeated with tensors that stay where
 * they are. What they make is there until {@link releaseMade}.
 * @param slots what slots hold before the first step
 */
export function lookupsFirst(plan: Plan, slots: readonly Slot[], run: RunPart): Parted {
  const ready = new Set(plan.inputs)
  const lookups = new Set<Step>()
  const early: Step[] = []
  for (const step of plan.steps) {
    const isLookup = step.tables.length > 0 && lazyTables(step, plan, slots, run).length > 0
    if (!(isLookup || makesLittle(step)) || !isPlain(step)) continue
    if (!slotsReadBy(step).every(slot => ready.has(slot) || plan.initial[slot] !== undefined)) continue
    if (isLookup) lookups.add(step)
    early.push(step)
    for (const slot of step.outputs) ready.add(slot)
  }
  if (lookups.size === 0) return { first: undefined, others: plan }
  const needed = new Set<number>()
  const first = early
    .toReversed()
    .filter(step => {
      const isNeeded = lookups.has(step) || step.outputs.some(slot => needed.has(slot))
      if (isNeeded) for (const slot of step.inputs) needed.add(slot)
      return isNeeded
    })
    .toReversed()
  const isFirst = new Set(first)
  const steps = plan.steps.filter(step => !isFirst.has(step))
  if (steps.length < MIN_STEPS) return { first: undefined, others: plan }
  const outputAt = plan.outputAt.map(() => -1)
  return {
    first: alteredPlan(plan, { steps: first.map(leavingAll), outputs: [], outputAt }),
    others: alteredPlan(plan, { steps })
  }
}

/** Slots that steps make. */
export const slotsMadeBy = ({ steps }: Plan): number[] =>
  steps.flatMap(({ outputs }) => outputs.filter(slot => slot >= 0))

/** Gives up what the first steps have made. */
export function releaseMade(first: Plan, slots: Slots, budget: Budget): void {
  for (const slot of slotsMadeBy(first)) {
    budget.release(slots[slot] as Value | undefined)
    slots[slot] = undefined
  }
}

const isPlain = ({ call: { op }, bodies }: Step): boolean =>
  !op.impure && op.dynamic !== true && bodies.size === 0 && isBuiltIn(op)

const makesLittle = ({ memo }: Step): boolean => memo.kept?.outputs.every(isLittle) === true

const isLittle = (fact: Fact): boolean =>
  fact.kind === 'tensor' && fact.shape !== undefined && isConcrete(fact.shape) && product(fact.shape) <= MAX_ELEMENTS
