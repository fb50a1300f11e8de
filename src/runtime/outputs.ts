import { fail } from '../errors.ts'
import type { Model } from '../graph/graph.ts'
import type { Plan } from '../plan/plan.ts'
import { copyArray } from '../tensor/arrays.ts'
import type { NumericArray } from '../tensor/dtype.ts'
import { copyOf, lendOut, liesInRoom, storageOf } from '../tensor/room.ts'
import { areSameDims, isTensor, type Tensor, type Value } from '../tensor/tensor.ts'
import { type Feed, valueFrom } from './feeds.ts'
import { presentOutput } from './graph-ports.ts'
import { liesOnHeap, someTensor } from './memory.ts'
import type { Watch } from './watch.ts'

/**
 * What a run is to return: names, or by name a tensor to write into (null: a fresh one), as in `onnxruntime-common`.
 */
export type Fetches = readonly string[] | Readonly<Record<string, Feed | null>>

/**
 * Whether the second argument of `run` is what to fetch; else it is options. They are told apart as in
 * `onnxruntime-common`: an object is fetches when one of its values is null or a value with a type.
 */
export const isFetches = (given: Fetches | object): given is Fetches =>
  Array.isArray(given) ||
  Object.values(given).some(value => value === null || (typeof value === 'object' && 'type' in value))

/** The caller's own tensor for an output, and that tensor as it was given. */
export interface Target {
  readonly tensor: Tensor
  readonly given: Feed
}

/** What the caller gives for each output; nothing for those beyond the list's end. */
export type Targets = readonly (Target | undefined)[]

const NONE: Targets = []

const isList = (fetches: Fetches): fetches is readonly string[] => Array.isArray(fetches)

/** Names of what a run is to return. */
export const namesOf = (fetches: Fetches): readonly string[] => (isList(fetches) ? fetches : Object.keys(fetches))

const isGiven = (given: unknown): given is Feed => typeof given === 'object' && given !== null

/** @throws NodewiseError `type-mismatch` where something is given to write into that is no tensor, or cannot be */
export function targetsOf(fetches: Fetches | undefined, names: readonly string[]): Targets {
  if (fetches === undefined || isList(fetches)) return NONE
  return names.map(name => {
    const given: unknown = fetches[name]
    if (given === null) return undefined
    if (!isGiven(given))
      fail('type-mismatch', `${String(given)} is given to write "${name}" into; expected a tensor or null`)
    const tensor = valueFrom(given)
    if (!isTensor(tensor))
      fail('type-mismatch', `a ${tensor.type} is given to write "${name}" into; a tensor is expected`)
    // A list of numbers has been copied, and nobody would see what is written into the copy.
    if (Array.isArray((given as { readonly data?: unknown }).data) && !Array.isArray(tensor.data))
      fail(
        'type-mismatch',
        `a list is given to write "${name}" of type ${tensor.type} into; an array of it is expected`
      )
    return { tensor, given }
  })
}

/** How the caller gets the outputs of the main graph. */
export interface Delivery {
  /** By position, tensors of the caller's own to write into. */
  readonly writable: readonly (Tensor | undefined)[]
  /** Outputs may lie on the heap. */
  readonly asViews: boolean
  /** Is told of every step. */
  readonly watch: Watch | undefined
  /** Whether memory belongs to this run or its session, so that a value in it may grow there. */
  mayExtend(storage: unknown): boolean
}

/**
 * The tensors that kernels may write into: the caller's that overlap no input and none of the others, and caches that a
 * result extends in place, by the caller's wish or since they have been lent until now. By position of the output;
 * where several outputs are one value, of the first of them.
 * @param isLent whether this storage is a view of an earlier run, which is void once this run begins
 */
export function writableOf(
  targets: Targets,
  { outputs, outputAt, grown }: Plan,
  inputs: readonly (Value | undefined)[],
  isLent: (data: unknown) => boolean
): readonly (Tensor | undefined)[] {
  if (targets.length === 0 && grown.every(input => input < 0)) return NOTHING
  const writable = new Array<Tensor | undefined>(outputs.length).fill(undefined)
  const overlaps = (tensor: Tensor, except = -1): boolean =>
    inputs.some(
      (input, i) => input && i !== except && someTensor(input, other => overlap(storageOf(other), tensor.data))
    ) || writable.some(other => other && overlap(other.data, tensor.data))
  const hasTargets = targets.some(target => target?.tensor !== undefined)
  let areApart: boolean | undefined
  for (let i = 0; i < outputs.length; i++) {
    const target = targets[i]?.tensor
    const at = outputAt[outputs[i]]
    const cache = inputs[grown[i]]
    const tensor = target ?? (cache && isTensor(cache) && !liesInRoom(cache) && isLent(cache.data) ? cache : undefined)
    if (tensor === undefined || writable[at] !== undefined) continue
    const isInPlace = cache !== undefined && isTensor(cache) && storageOf(cache) === tensor.data
    const isApart = isInPlace && !hasTargets && liesOnHeap(tensor.data) && (areApart ??= lieApart(inputs))
    if (isApart || !overlaps(tensor, isInPlace ? grown[i] : -1)) writable[at] = tensor
  }
  return writable
}

const NOTHING: readonly undefined[] = []

/** Whether no inputs on the heap overlap: a decoder has dozens of caches, and would hold each against all others. */
function lieApart(inputs: readonly (Value | undefined)[]): boolean {
  const views: ArrayBufferView[] = []
  const note = (tensor: Tensor): boolean => {
    const storage: unknown = storageOf(tensor)
    if (ArrayBuffer.isView(storage) && liesOnHeap(storage)) views.push(storage)
    return false
  }
  for (const input of inputs) if (input) someTensor(input, note)
  views.sort((a, b) => a.byteOffset - b.byteOffset)
  return views.every((view, i) => i === 0 || views[i - 1].byteOffset + views[i - 1].byteLength <= view.byteOffset)
}

/** Whether elements share memory. */
export function overlap(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b)) return false
  // Buffer objects of one shared memory differ after it has grown.
  if (a.buffer !== b.buffer && !(liesOnHeap(a) && liesOnHeap(b))) return false
  return a.byteOffset < b.byteOffset + b.byteLength && b.byteOffset < a.byteOffset + a.byteLength
}

/**
 * Outputs by name, of the types that callers see. Storage that others may see is copied: outputs belong to the caller.
 * @param mayGive whether storage was made for the run and nobody else sees it
 * @throws NodewiseError `type-mismatch`, `shape-mismatch` where the caller's tensor does not fit
 */
export function deliver(
  model: Model,
  names: readonly string[],
  targets: Targets,
  values: readonly Value[],
  mayGive: (data: unknown) => boolean
): Record<string, Value> {
  const result = Object.create(null) as Record<string, Value>
  // Values that the caller gets, and elements of one sequence, each have memory of their own.
  const given = new Set<unknown>()
  const isShared = (data: unknown): boolean => !mayGive(data) || given.size === given.add(data).size
  const made = targets.length === 0 ? values : readBeforeWritten(values, targets)
  for (let i = 0; i < names.length; i++) {
    const target = targets[i]
    const value = presentOutput(model, made[i])
    const own = target
      ? writeInto(names[i], value, target.tensor)
      : value === made[i]
        ? apartFrom(value, isShared)
        : value
    lendOut(own)
    result[names[i]] = target ? (target.given as Value) : own
  }
  return result
}

/**
 * The values, with copies of those that lie where a result before them is yet to be copied to, such as an output that
 * is an input whose memory takes another output; and where they overlap their own target, since a copy by pieces would
 * read what it has written.
 */
function readBeforeWritten(values: readonly Value[], targets: Targets): readonly Value[] {
  const written: unknown[] = []
  const isWritten = (data: unknown): boolean => written.some(other => overlap(data, other))
  return values.map((value, i) => {
    const target = targets[i]?.tensor
    if (target && !(isTensor(value) && storageOf(value) === target.data)) written.push(target.data)
    return written.length === 0 ? value : apartFrom(value, isWritten)
  })
}

function writeInto(name: string, value: Value, target: Tensor): Tensor {
  if (!isTensor(value) || value.type !== target.type)
    fail('type-mismatch', `"${name}" has type ${value.type}; the tensor to write it into has ${target.type}`)
  if (!areSameDims(value.dims, target.dims)) {
    fail(
      'shape-mismatch',
      `"${name}" has dims [${value.dims.join(', ')}]; the tensor to write it into has [${target.dims.join(', ')}]`
    )
  }
  if (value.data === target.data) return target
  if (Array.isArray(target.data)) for (let i = 0; i < target.data.length; i++) target.data[i] = value.data[i] as string
  else copyArray(value.data as NumericArray, target.data)
  return target
}

/** Whether one of some values has this storage. */
export function holds(values: Iterable<Value | undefined>, data: unknown): boolean {
  for (const value of values) if (value && someTensor(value, tensor => storageOf(tensor) === data)) return true
  return false
}

/** The value with copies of the tensors whose storage is shared. Maps have none, and nobody writes into them. */
export function apartFrom(value: Value, isShared: (data: unknown) => boolean): Value {
  if (isTensor(value)) return isShared(storageOf(value)) ? copyOf(value) : value
  if (value.type === 'sequence')
    return { type: 'sequence', values: value.values.map(item => apartFrom(item, isShared)) }
  if (value.type === 'map') return value
  return { type: 'optional', value: value.value && apartFrom(value.value, isShared) }
}
