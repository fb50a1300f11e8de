import { isConcrete } from '../shapes/dim.ts'
import type { Fact } from '../shapes/fact.ts'
import { elementCount, memoryBytes } from '../tensor/tensor.ts'
import { isLargeInFile } from './fused-convert.ts'
import type { Plan } from './plan.ts'
import { mayAgree } from './schedule.ts'

/** The memory that a plan takes, as far as dims are known before a run. */
export interface PlanMemory {
  /** Most bytes of results that are held at once. A result that shares memory with another counts by itself. */
  readonly peakBytes: number
  /** At which step, counted from 0, they are held first; -1: no step makes anything. */
  readonly peakStep: number
  /** Some dims are unknown, or a body runs: then more is held than `peakBytes`. */
  readonly isLowerBound: boolean
  /** Bytes of the constants that steps read whole. */
  readonly constantBytes: number
  /** Bytes of the tables of which rows are looked up: they are held where that pays. */
  readonly tableBytes: number
}

/** Adds up what the steps of a plan hold: each result from the step that makes it to the last one that reads it. */
export function planMemory(plan: Plan): PlanMemory {
  const factBySlot = new Map([...plan.slots].map(([id, slot]) => [slot, plan.facts.get(id)]))
  const held = new Map<number, number>()
  let [bytes, peakBytes, peakStep, isLowerBound] = [0, 0, -1, false]
  for (const [at, step] of plan.steps.entries()) {
    if (step.bodies.size > 0) isLowerBound = true
    const reused = step.inPlace.find(position => isSameKind(factBySlot, step.inputs[position], step.outputs[0]))
    for (const [i, slot] of step.outputs.entries()) {
      if (slot < 0) continue
      const size = bytesOf(factBySlot.get(slot))
      if (size === undefined) isLowerBound = true
      held.set(slot, size ?? 0)
      bytes += i === 0 && reused !== undefined ? 0 : (size ?? 0)
    }
    if (bytes > peakBytes) [peakBytes, peakStep] = [bytes, at]
    for (const slot of step.free) {
      if (reused === undefined || slot !== step.inputs[reused]) bytes -= held.get(slot) ?? 0
      held.delete(slot)
    }
  }
  return { peakBytes, peakStep, isLowerBound, ...constantMemory(plan) }
}

const isSameKind = (facts: ReadonlyMap<number, Fact | undefined>, a: number, b: number): boolean =>
  mayAgree(facts.get(a), facts.get(b)) === true

/** Undefined where dims are unknown, and for sequences and optionals. */
function bytesOf(fact: Fact | undefined): number | undefined {
  if (fact?.kind !== 'tensor' || fact.type === undefined || fact.shape === undefined) return undefined
  return isConcrete(fact.shape) ? memoryBytes(fact.type, elementCount(fact.shape)) : undefined
}

function constantMemory({ steps, initial }: Plan): Pick<PlanMemory, 'constantBytes' | 'tableBytes'> {
  const whole = new Set<number>()
  const tables = new Set<number>()
  for (const { inputs, tables: looked } of steps)
    for (const [i, slot] of inputs.entries())
      if (slot >= 0 && initial[slot] !== undefined)
        (looked.includes(i) && isLargeInFile(initial[slot]) ? tables : whole).add(slot)
  const total = (slots: Iterable<number>): number =>
    [...slots].reduce((sum, slot) => sum + memoryBytes(initial[slot]!.type, elementCount(initial[slot]!.dims)), 0)
  return { constantBytes: total(whole), tableBytes: total([...tables].filter(slot => !whole.has(slot))) }
}
