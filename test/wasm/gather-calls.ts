import { expect } from 'vitest'
import type { Paced } from '../../src/kernels/core/pace.ts'
import type { BeamSearch } from '../../src/kernels/gather/gather-tree.ts'
import type { IndexPolicy } from '../../src/kernels/gather/indices.ts'
import type { KernelContext, Op } from '../../src/op-kit/define.ts'
import { gatherElements } from '../../src/ops/gather/gather-elements.ts'
import { gatherND } from '../../src/ops/gather/gather-nd.ts'
import { gatherTree } from '../../src/ops/gather/gather-tree.ts'
import { gather } from '../../src/ops/gather/gather.ts'
import { factOf } from '../../src/shapes/fact.ts'
import { type DType, DTYPES } from '../../src/tensor/dtype.ts'
import type { NumericArray } from '../../src/tensor/dtype.ts'
import { allocate, product, Tensor } from '../../src/tensor/tensor.ts'
import { heapAllocate, heapFree } from '../../src/wasm/heap.ts'
import { select } from '../../src/wasm/select.ts'

/** One type for each width of an element. */
export const TYPES = ['uint8', 'float16', 'float32', 'float64', 'complex128'] as const
export const INDEX_TYPES = ['int32', 'int64', 'int8', 'uint8', 'int16', 'uint16', 'uint32', 'uint64'] as const
export const POLICIES = [
  { negative: 'wrap', outOfRange: 'error' },
  { negative: 'error', outOfRange: 'error' },
  { negative: 'wrap', outOfRange: 'zero' },
  { negative: 'error', outOfRange: 'zero' }
] as const

/** Runs the kernel that is selected for these operands: the accelerated one, or the reference. */
function* runSelected(
  op: Op,
  operands: Readonly<Record<string, Tensor>>,
  params: Readonly<Record<string, unknown>>,
  out: Tensor
): Paced {
  const call = { rawOutput: () => out, output: () => out, threads: 1 } as unknown as KernelContext
  const selection = select(op, operands, { parameters: params, outputs: [factOf(out)] })
  expect(selection?.holds?.(operands) ?? true).toBe(true)
  const rest = selection?.kernel ? selection.kernel(operands, params, call) : op.run(operands, params, call)
  if (rest) yield* rest
}

/** Gather along `axis`; the data have as many batch dims before it as `batchDims` says. */
export const runGather = (
  data: Tensor,
  indices: Tensor,
  out: Tensor,
  { axis = 0, batchDims = 0, ...policy }: { axis?: number; batchDims?: number } & IndexPolicy
): Paced => runSelected(gather, { data, indices }, { axis, batchDims, ...policy }, out)

export const runGatherElements = (
  data: Tensor,
  indices: Tensor,
  out: Tensor,
  axis: number,
  policy: IndexPolicy
): Paced => runSelected(gatherElements, { data, indices }, { axis, ...policy }, out)

export const runGatherND = (
  data: Tensor,
  indices: Tensor,
  out: Tensor,
  batchDims: number,
  policy: IndexPolicy
): Paced => runSelected(gatherND, { data, indices }, { batchDims, ...policy }, out)

export const runGatherTree = (search: BeamSearch, out: Tensor): Paced => runSelected(gatherTree, { ...search }, {}, out)

const held: NumericArray[] = []

/** Keeps an array of the heap until `freeHeld`. */
export const hold = (array: NumericArray): unknown => held.push(array)

/** Gives back what was put on the heap; how many arrays that were. */
export function freeHeld(): number {
  const arrays = held.splice(0)
  arrays.forEach(heapFree)
  return arrays.length
}

/** The same tensor in the heap; what lay there before is junk. */
export function onHeap(tensor: Tensor): Tensor {
  const array = tensor.data as NumericArray
  const block = heapAllocate(array.byteLength, { zero: false }) ?? expect.fail('the heap is full')
  block.fill(0xab)
  block.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength))
  hold(block)
  const { array: Storage, slots } = DTYPES[tensor.type]
  return new Tensor(
    tensor.type,
    new Storage!(block.buffer, block.byteOffset, product(tensor.dims) * slots) as never,
    tensor.dims
  )
}

/** A junk-filled tensor: kernels write all of their output. */
export function junk(type: DType, dims: readonly number[]): Tensor {
  const tensor = allocate(type, dims)
  bytesOf(tensor).fill(0xcd)
  return tensor
}

export const bytesOf = ({ data }: Tensor): Uint8Array =>
  new Uint8Array((data as NumericArray).buffer, (data as NumericArray).byteOffset, (data as NumericArray).byteLength)

const wordsOf = (tensor: Tensor): Int32Array => {
  const { buffer, byteOffset, byteLength } = bytesOf(tensor)
  return new Int32Array(buffer, byteOffset, byteLength / 4)
}

/** Numbers from 0 to 1, always the same for a seed. */
export function random(seed: number): () => number {
  let state = seed | 1
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return (state >>> 0) / 2 ** 32
  }
}

/** Data whose bytes are random: all patterns of NaN among them. */
export function randomData(type: DType, dims: readonly number[], next: () => number): Tensor {
  const tensor = allocate(type, dims)
  const bytes = bytesOf(tensor)
  const words = new Int32Array(Math.ceil(bytes.length / 4))
  // A loop of its own, since millions of calls take longer than the kernels.
  for (let i = 0, state = next() * 2 ** 32; i < words.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    words[i] = state
  }
  bytes.set(new Uint8Array(words.buffer, 0, bytes.length))
  return tensor
}

/** Wild indices that no axis here admits, for types that hold them. */
const WILD = [
  2n ** 32n,
  -(2n ** 63n),
  2n ** 63n - 1n,
  2n ** 31n,
  -(2n ** 31n),
  2n ** 40n,
  2n ** 32n + 1n,
  2n ** 64n - 1n,
  65_000n,
  -30_000n,
  120n,
  -120n
]

/**
 * Indices for axes of these sizes (one for each component), negative ones where they count from the end, some out of
 * range where asked for.
 */
export function randomIndices(
  type: (typeof INDEX_TYPES)[number],
  dims: readonly number[],
  sizes: readonly number[],
  wrap: boolean,
  bad: boolean,
  next: () => number
): Tensor {
  const tensor = allocate(type, dims)
  const { length } = tensor.data
  const isWide = type.endsWith('64')
  const mayBeNegative = wrap && DTYPES[type].kind === 'int'
  const limits = sizes.map(size => Math.min(size, 100))
  // Low words of wide indices, whose high words are the signs.
  const [words, step] = isWide ? [wordsOf(tensor), 2] : [new Int32Array(length), 1]
  for (let i = 0, component = 0, state = next() * 2 ** 32; i < words.length; i += step) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    const limit = limits[component]
    // The upper bits, and of the lower ones such as have little to do with them.
    const isNegative = mayBeNegative && (state & 0xffff) < 0.3 * 0x10000
    words[i] = Math.floor(((state >>> 16) * limit) / 0x10000) - (isNegative ? limit : 0)
    if (isWide) words[i + 1] = words[i] >> 31
    component = component + 1 === limits.length ? 0 : component + 1
  }
  if (!isWide) (tensor.data as Int32Array).set(words)
  if (bad && length > 0) {
    for (let k = 0; k < 2; k++) {
      const wild = WILD[Math.floor(next() * WILD.length)]
      tensor.data[Math.floor(next() * length)] = isWide ? wild : Number(wild)
    }
  }
  return tensor
}
