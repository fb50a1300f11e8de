import { fail } from '../errors.ts'
import type { ValueId } from '../graph/graph.ts'
import { isTensor, Tensor, type Value } from '../tensor/tensor.ts'
import type { Targets } from './execute.ts'
import { type Feed, valueFrom } from './feeds.ts'
import { liesOnHeap, tensorsIn } from './memory.ts'
import type { Plan } from './plan.ts'

/** What a run is to return: names, or by name a tensor to write into (null: a fresh one), as in `onnxruntime-common`. */
export type Fetches = readonly string[] | Readonly<Record<string, Feed | null>>

/** One value that is asked for. */
export interface Wanted {
  readonly name: string
  readonly value: ValueId
  /** The caller's own tensor for it, and that tensor as it was given. */
  readonly target?: { readonly tensor: Tensor; readonly given: Feed }
}

export function wantedOf(fetches: Fetches, valueOf: (name: string) => ValueId): Wanted[] {
  if (isList(fetches)) return fetches.map(name => ({ name, value: valueOf(name) }))
  return Object.entries(fetches).map(([name, given]) => {
    const tensor = given === null ? undefined : valueFrom(given)
    if (tensor && !isTensor(tensor)) fail('type-mismatch', `a ${tensor.type} is given to write "${name}" into; a tensor is expected`)
    return { name, value: valueOf(name), ...(tensor && given && { target: { tensor, given } }) }
  })
}

const isList = (fetches: Fetches): fetches is readonly string[] => Array.isArray(fetches)

const NONE: Targets = new Map()

/**
 * The slots that the caller gets, each with the tensor that its kernel may write into: the caller's own, unless it overlaps an input or
 * another of them.
 * @param asViews none of them need be the caller's
 */
export function targetsOf(wanted: readonly Wanted[], plan: Plan, inputs: Iterable<Value>, asViews = false): Targets {
  if (asViews && wanted.every(({ target }) => target === undefined)) return NONE
  const targets = new Map<number, Tensor | undefined>()
  const others = wanted.some(({ target }) => target) ? [...inputs].flatMap(tensorsIn) : []
  wanted.forEach(({ target }, i) => {
    const slot = plan.outputs[i]
    const tensor = target?.tensor
    const isFree = tensor !== undefined && !targets.get(slot) && !others.some(other => overlap(other.data, tensor.data))
    if (isFree) others.push(tensor)
    if (isFree || (!asViews && !targets.has(slot))) targets.set(slot, isFree ? tensor : undefined)
  })
  return targets
}

function overlap(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b)) return false
  // Buffer objects of one shared memory differ after it has grown.
  if (a.buffer !== b.buffer && !(liesOnHeap(a) && liesOnHeap(b))) return false
  return a.byteOffset < b.byteOffset + b.byteLength && b.byteOffset < a.byteOffset + a.byteLength
}

/**
 * Outputs by name. What shares memory with an input, a constant, the state or another output is copied, and so is what lies on the heap
 * unless the caller asked for views: outputs belong to the caller.
 * @throws NodewiseError `type-mismatch`, `shape-mismatch` where the caller's tensor does not fit
 */
export function deliver(wanted: readonly Wanted[], values: readonly Value[], isForeign: (data: unknown) => boolean, asViews = false): Record<string, Value> {
  const result = Object.create(null) as Record<string, Value>
  const given: Value[] = []
  const isShared = (data: unknown): boolean => isForeign(data) || (!asViews && liesOnHeap(data)) || given.some(value => holdsData(value, data))
  wanted.forEach(({ name, target }, i) => {
    const value = values[i]
    const own = target ? writeInto(name, value, target.tensor) : apartFrom(value, isShared)
    result[name] = target ? target.given as Value : own
    given.push(own)
  })
  return result
}

function writeInto(name: string, value: Value, target: Tensor): Tensor {
  if (!isTensor(value) || value.type !== target.type) fail('type-mismatch', `"${name}" has type ${value.type}; the tensor to write it into has ${target.type}`)
  const [dims, given] = [value.dims.join(', '), target.dims.join(', ')]
  if (dims !== given) fail('shape-mismatch', `"${name}" has dims [${dims}]; the tensor to write it into has [${given}]`)
  if (value.data === target.data) return target
  if (Array.isArray(target.data)) target.data.splice(0, target.data.length, ...(value.data as string[]))
  else (target.data as Uint8Array).set(value.data as Uint8Array)
  return target
}

const holdsData = (value: Value, data: unknown): boolean => tensorsIn(value).some(tensor => tensor.data === data)

/** Whether one of some values has this storage. */
export function holds(values: ReadonlyMap<unknown, Value>, data: unknown): boolean {
  for (const value of values.values()) if (holdsData(value, data)) return true
  return false
}

/** The value with copies of the tensors whose storage is shared. */
export function apartFrom(value: Value, isShared: (data: unknown) => boolean): Value {
  if (isTensor(value)) return isShared(value.data) ? new Tensor(value.type, value.data.slice() as never, value.dims) : value
  if (value.type === 'sequence') return { type: 'sequence', values: value.values.map(item => apartFrom(item, isShared)) }
  return { type: 'optional', value: value.value && apartFrom(value.value, isShared) }
}
