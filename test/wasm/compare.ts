import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { expect } from 'vitest'
import { runCall } from '../../src/infer/run.ts'
import { drain } from '../../src/kernels/core/pace.ts'
import type { Op, Pack, Packed, SelectKernel } from '../../src/op-kit/define.ts'
import { isOfParameters } from '../../src/op-kit/packs.ts'
import { factOf } from '../../src/shapes/fact.ts'
import type { DType } from '../../src/tensor/dtype.ts'
import { allocate, elementCount, isTensor, Tensor, type Value } from '../../src/tensor/tensor.ts'
import { unreadTensor } from '../../src/tensor/unread.ts'
import { heapAllocate } from '../../src/wasm/heap.ts'
import { select } from '../../src/wasm/select.ts'
import { wasm } from '../../src/wasm/wasm.ts'
import { callOf, type CallOptions, type Kind, overwriting, runOp, spoiled } from '../ops/harness.ts'

/** Where operands and outputs lie: on the heap, or in ordinary arrays, which are staged. */
export type Region = 'heap' | 'array'

/** How an accelerated kernel is asked for. */
export interface AcceleratedOptions extends CallOptions {
  /** As in {@link differenceOf}: for outputs that may be small beside what they are computed from. */
  readonly least?: number
  readonly region?: Region
  /** Input positions whose tensors are constants, which the kernel may pack. */
  readonly constants?: Readonly<Record<string, number>>
  readonly threads?: number
  /** Called for each array that is made for an output. */
  readonly onMade?: (index: number) => void
}

/** A float32 tensor of pseudo-random numbers in [-scale, scale), the same for the same seed. */
export function noise(dims: readonly number[], seed: number, scale = 1): Tensor<'float32'> {
  const data = new Float32Array(elementCount(dims))
  // Plain loops here and below: `from` with a function took more time than all kernels together.
  for (let i = 0, state = (seed * 2654435761) | 0; i < data.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    data[i] = ((state >>> 0) / 2 ** 31 - 1) * scale
  }
  return new Tensor('float32', data, dims)
}

/** A tensor whose elements have any bits; integers may be negative. */
export function bits(type: DType, dims: readonly number[], seed = 1): Tensor {
  const tensor = allocate(type, dims) as Tensor
  const { buffer, byteOffset, byteLength } = tensor.data as Uint8Array
  const bytes = new Uint8Array(buffer, byteOffset, byteLength)
  for (let i = 0, state = (seed * 2654435761) | 0; i < byteLength; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    bytes[i] = state >>> 24
  }
  return tensor
}

/** A copy of a tensor on the heap. */
export function onHeap(tensor: Tensor): Tensor {
  const data = tensor.data as Float32Array
  const block = heapAllocate(Math.max(64, data.byteLength), { zero: false })!
  const Storage = data.constructor as Float32ArrayConstructor
  const copy = new Storage(block.buffer as ArrayBuffer, block.byteOffset, data.length)
  copy.set(data)
  return new Tensor(tensor.type, copy as never, tensor.dims)
}

/**
 * Outputs of the kernel that is selected for a node.
 * @throws Error when none is selected
 */
export function runAccelerated(
  kind: Kind,
  inputs: readonly (Value | undefined)[],
  { region = 'heap', constants = {}, threads = 1, onMade, ...options }: AcceleratedOptions = {}
): Value[] {
  const call = callOf(kind, inputs, options)
  const given = inputs.map(value => (value && isTensor(value) && region === 'heap' ? onHeap(value) : value))
  const allocated = (type: DType, dims: readonly number[], index: number, isZeroed: boolean): Tensor => {
    onMade?.(index)
    const tensor = spoiled(type, dims, index, isZeroed)
    return region === 'heap' ? onHeap(tensor) : tensor
  }
  // Else the reference would do the first small jobs.
  wasm()?.compute()
  let wasSelected = false
  let packed: Packed | undefined
  const selecting: SelectKernel = (op, operands, prepared) => {
    const selection = selectOnce(op, operands, prepared)
    wasSelected = selection?.kernel !== undefined
    return selection
  }
  const environment = {
    allocate: overwriting(given, options.over, allocated),
    wanted: (index: number) => options.unwanted?.includes(index) !== true,
    body: () => expect.unreachable(),
    state: { read: () => undefined, write: () => undefined },
    random: () => () => 0.5,
    threads,
    select: selecting,
    pack(pack: Pack, parameters: Readonly<Record<string, unknown>>): undefined {
      const operands = Object.fromEntries(Object.entries(constants).map(([name, at]) => [name, given[at] as Tensor]))
      if (Object.keys(operands).length === 0 && !isOfParameters(pack)) return undefined
      const made = pack(operands, parameters, {
        threads,
        allocate: (type, dims) => onHeap(spoiled(type, dims, 0, false)),
        takeOver: (name, type) => (operands[name].type === type ? onHeap(operands[name]) : undefined)
      })
      packed = made && Symbol.iterator in made ? drain(made as Generator<unknown, Packed | undefined>) : made
      return undefined
    },
    get packed() {
      return packed
    }
  }
  const outputs = finishNaming(kind[1], runCall(call, given, environment))
  if (!wasSelected)
    throw new Error('no accelerated kernel is selected: none in wasm/selectors.ts, or its selector declines the call')
  return outputs as Value[]
}

/**
 * What is selected for operands, which the kernel must not read: a selection serves all calls with operands of the same
 * types and dims. An operand whose elements the selection reads decides it, and stays the same in those calls.
 */
const selectOnce: SelectKernel = (op, operands, prepared) => {
  let isMade = false
  const readDuring = (value: Value): Value =>
    isTensor(value)
      ? unreadTensor(value, () => {
          if (isMade) throw new Error(`the kernel of ${op.name} reads an operand of its selection`)
          return value
        })
      : value
  const unread = Object.entries(operands).map(([name, given]) => [
    name,
    Array.isArray(given) ? given.map(readDuring) : given && readDuring(given as Value)
  ])
  const selection = select(op, Object.fromEntries(unread) as typeof operands, prepared)
  isMade = true
  return selection
}

/**
 * The result of an operator that only plans have, with these parameters.
 * @param isAccelerated whether by the kernel that is selected, instead of by the operator's own
 */
export function runPlanned(
  op: Op,
  operands: Readonly<Record<string, Tensor | undefined>>,
  parameters: Readonly<Record<string, unknown>>,
  dims: readonly number[],
  isAccelerated: boolean
): Tensor {
  const out = spoiled('float32', dims, 0, !isAccelerated)
  const context = { output: () => out, rawOutput: () => out, threads: 1, outputCount: 1 } as never
  wasm()?.compute()
  const kernel = isAccelerated ? selectOnce(op, operands, { parameters, outputs: [factOf(out)] })?.kernel : undefined
  if (isAccelerated && kernel === undefined) throw new Error(`no accelerated kernel is selected for ${op.name}`)
  const rest = (kernel ?? op.run)(operands, parameters, context)
  if (rest) drain(rest as Generator<unknown, void>)
  return out
}

/** A module that was compiled before a kernel got its number traps, which by itself says nothing of the reason. */
function finishNaming<T>(name: string, work: Generator<unknown, T>): T {
  try {
    return drain(work)
  } catch (error) {
    if (!(error instanceof WebAssembly.RuntimeError)) throw error
    const reason = 'a fault, or no case in assembly/compute.ts as scripts/build-kernels.mjs compiled it last'
    throw new Error(`the kernel of ${name} trapped: ${reason}`, { cause: error })
  }
}

/**
 * Holds the accelerated kernel against the reference one.
 * @param tolerance largest difference, as a share of the largest magnitude of the output
 */
export function expectEqual(
  kind: Kind,
  inputs: readonly (Value | undefined)[],
  options: AcceleratedOptions = {},
  tolerance = 1e-6
): void {
  const expected = referenceOf(kind, inputs, options)
  const found = runAccelerated(kind, inputs, options)
  expect(found.length).toBe(expected.length)
  expected.forEach((value, i) => {
    if (options.unwanted?.includes(i) || !isTensor(value)) return
    const other = found[i] as Tensor
    expect(other.dims).toEqual(value.dims)
    const call = `${kind[1]} -> [${value.dims.join()}], operands in an ${options.region ?? 'heap'}`
    expect(
      differenceOf(other, value, options.least),
      `difference of ${call}, as compiled last by scripts/build-kernels.mjs`
    ).toBeLessThanOrEqual(tolerance)
  })
}

/** Outputs of the reference by what was asked: operands in both regions, packed or not, have the same. */
const references = new Map<string, Value[]>()
let referenceBytes = 0
const MAX_REFERENCE_BYTES = 64 * 2 ** 20

function referenceOf(kind: Kind, inputs: readonly (Value | undefined)[], options: AcceleratedOptions): Value[] {
  const { attributes, outputs, unwanted } = options
  if (!inputs.every(isBytes)) return runOp(kind, inputs, options)
  const hash = createHash('sha1')
  for (const input of inputs) {
    hash.update(input ? `${input.type} ${input.dims.join()};` : ';')
    if (input) hash.update(bytesOf(input))
  }
  const key = inspect([kind, attributes, outputs, unwanted, hash.digest('hex')], { depth: null, maxArrayLength: null })
  const known = references.get(key)
  if (known) return known
  const values = runOp(kind, inputs, options)
  referenceBytes += values.reduce((sum, value) => sum + (isBytes(value) && value ? bytesOf(value).length : 0), 0)
  if (referenceBytes > MAX_REFERENCE_BYTES) {
    references.clear()
    referenceBytes = 0
  } else references.set(key, values)
  return values
}

/** Whether a value is a tensor of numbers; what is left out counts as one. */
const isBytes = (value: Value | undefined): value is Tensor | undefined =>
  value === undefined || (isTensor(value) && value.type !== 'string')

/**
 * Largest difference as a share of the largest finite magnitude; infinite where NaN or infinities differ.
 * @param least magnitude that is taken for the largest where that is smaller
 */
export function differenceOf(a: Tensor, b: Tensor, least = Number.MIN_VALUE): number {
  // Most are equal to the last bit, which is seen much faster.
  if (a.type === b.type && a.type !== 'string' && bytesOf(a).equals(bytesOf(b))) return 0
  const [found, wanted] = [numbersOf(a), numbersOf(b)]
  let worst = 0
  for (let i = 0; i < wanted.length; i++) {
    const [x, y] = [found[i], wanted[i]]
    if (Object.is(x, y) || x === y) continue
    if (!Number.isFinite(x) || !Number.isFinite(y)) return Infinity
    worst = Math.max(worst, Math.abs(x - y))
  }
  if (worst === 0) return 0
  let largest = 0
  for (let i = 0; i < wanted.length; i++) {
    const magnitude = Math.abs(wanted[i])
    if (Number.isFinite(magnitude)) largest = Math.max(largest, magnitude)
  }
  return worst / Math.max(largest, least)
}

/** Elements as numbers; loops over arrays of one kind are several times as fast as over all kinds. */
const numbersOf = ({ type, data }: Tensor): Float32Array | Float64Array =>
  type === 'float32' ? data : Float64Array.from(data as readonly unknown[], Number)

function bytesOf({ data }: Tensor): Buffer {
  const { buffer, byteOffset, byteLength } = data as Uint8Array
  return Buffer.from(buffer, byteOffset, byteLength)
}
