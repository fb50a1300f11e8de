import { isBuiltIn } from '../op-kit/define.ts'
import type { Plan } from '../plan/plan.ts'
import { isConcrete } from '../shapes/dim.ts'
import { type DType, DTYPES } from '../tensor/dtype.ts'
import { elementCount, isTensor, memoryBytes, product, type Value } from '../tensor/tensor.ts'

/** What is recorded at most. Of larger values the kernels take so long that a recording would gain little. */
export interface Limits {
  /** Bytes of values that live at once. */
  readonly live: number
  /** Bytes for values, since what is free between them may not fit others. */
  readonly values: number
  /** Bytes of jobs. */
  readonly jobs: number
  /** Bytes of what a run is given, which is copied to where it is read: an image, and no large caches. */
  readonly given: number
  /** Bytes of the heap that are taken at once. */
  readonly chunk: number
  /**
   * What is recorded: a run, of which the first steps may be recorded alone; a body, of which they may, too, and where
   * what it only passes on is not copied; a segment of a run, as a whole or not at all, whose results are lent.
   */
  readonly kind: 'run' | 'body' | 'segment'
}

/** Bytes of an output above which a step that writes it part by part is not recorded: a cache holds smaller ones. */
const MAX_WHOLE = 1 << 19

/**
 * The number of steps, from the first one on, that may be recorded by what is known before they run; -1 where much is
 * given, or lives at once.
 * @param given what is copied
 */
export function countRecordable(plan: Plan, given: ReadonlyMap<number, Value>, limits: Limits): number {
  const { steps } = plan
  if (limits.kind === 'run' && writesByParts(plan)) return -1
  const sizes = new Map<number, number>()
  let live = 0
  const add = (slot: number, type: DType, dims: readonly number[]): void => {
    const bytes = memoryBytes(type, elementCount(dims))
    sizes.set(slot, bytes)
    live += bytes
  }
  for (const [slot, value] of given) {
    if (!isTensor(value) || !isOfNumbers(value.type)) return -1
    add(slot, value.type, value.dims)
  }
  if (live > limits.given) return -1
  for (const [i, { call, bodies, memo, outputs, free }] of steps.entries()) {
    const { op } = call
    if (op.impure || op.dynamic || bodies.size > 0 || !isBuiltIn(op) || memo.kept === undefined) return i
    for (const [at, fact] of memo.kept.outputs.entries()) {
      if (fact.kind !== 'tensor' || fact.shape === undefined || !isConcrete(fact.shape)) return i
      if (fact.type === undefined || !isOfNumbers(fact.type)) return i
      if (outputs[at] >= 0) add(outputs[at], fact.type, fact.shape)
    }
    if (live > limits.live) return -1
    for (const slot of free) live -= sizes.get(slot) ?? 0
  }
  return steps.length
}

/**
 * Whether a run is one step that writes a large output part by part: it writes to the caller's array what is in the
 * cache, and a recording would copy the output once it is whole.
 */
function writesByParts({ steps }: Plan): boolean {
  if (steps.length !== 1) return false
  const { selection, outputs: [fact] = [] } = steps[0].memo.kept ?? {}
  if (selection?.isByParts !== true || fact.kind !== 'tensor') return false
  const { type, shape } = fact
  return type !== undefined && shape !== undefined && isConcrete(shape) && memoryBytes(type, product(shape)) > MAX_WHOLE
}

const isOfNumbers = (type: DType): boolean => DTYPES[type].array !== undefined
