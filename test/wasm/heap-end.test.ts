import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DType, DTYPES } from '../../src/tensor/dtype.ts'
import { allocate, product, Tensor } from '../../src/tensor/tensor.ts'
import { heapAllocate, heapFree } from '../../src/wasm/heap.ts'
import { type Kind, runOp } from '../ops/harness.ts'
import { differenceOf, noise, runAccelerated } from './compare.ts'

/** Where the heap ends: a page less than 4 GiB. */
const END = 65535 * 65536
/** Bytes of the last block. */
const LAST = 2 ** 21
/** Bytes of all other room. */
const ROOM = 2 ** 25
/** Elements of a row, whose bytes are more than that page. */
const ROW = 50_003

const held: Uint8Array[] = []

/** Takes all of the heap but some room, and as the last block its end. Pages that nobody touches take no memory. */
beforeAll(() => {
  // What kernels need for themselves is made first.
  runAccelerated(['onnx', 'ReduceSum', 13], [noise([8, 300], 1), new Tensor('int64', [0n], [1])])
  const room = heapAllocate(ROOM, { zero: false }) ?? expect.fail('the heap is full')
  for (let size = 2 ** 31; size >= 64;) {
    const block = heapAllocate(size, { zero: false })
    if (block === undefined) size /= 2
    else held.push(block)
  }
  held.sort((a, b) => a.byteOffset - b.byteOffset)
  while (held.length > 0 && END - held.at(-1)!.byteOffset <= LAST) heapFree(held.pop()!)
  const start = held.pop()!
  heapFree(start)
  held.push(heapAllocate(END - LAST - start.byteOffset, { zero: false })!)
  held.push(heapAllocate(LAST, { zero: false })!)
  expect(held.at(-1)!.byteOffset + LAST).toBe(END)
  heapFree(room)
})
afterAll(() => {
  held.forEach(heapFree)
})

/** A tensor of small numbers that ends where the heap does. */
function atEnd(type: DType, dims: readonly number[]): Tensor {
  const { data } = noise(dims, 1, 4)
  const tensor = allocate(type, dims) as Tensor<'float32'>
  const bytes = tensor.data.byteLength
  const Storage = DTYPES[type].array as Float32ArrayConstructor
  const last = new Storage(held.at(-1)!.buffer as ArrayBuffer, END - bytes, product(dims))
  last.set(data)
  return new Tensor(type, last as never, dims)
}

const axes = new Tensor('int64', [0n], [1])
const reduced = (name: string, version: number) => [['onnx', name, version] as Kind, [axes]] as const

test.each([
  ['float32', [6, ROW], ...reduced('ReduceSum', 13), {}],
  ['float32', [200, 2503], ...reduced('ReduceMax', 20), {}],
  ['float32', [5, ROW], ...reduced('ReduceProd', 18), {}],
  ['float64', [5, 25_003], ...reduced('ReduceMax', 20), {}],
  ['int32', [6, ROW], ...reduced('ReduceSum', 13), {}],
  ['int32', [6, ROW], ...reduced('ReduceMax', 20), {}],
  ['int8', [6, 4 * ROW], ...reduced('ReduceMin', 20), {}],
  ['float32', [6, ROW], ['onnx', 'Softmax', 13], [], { attributes: { axis: 0 }, over: 0 }],
  ['float32', [6, ROW], ['onnx', 'LogSoftmax', 13], [], { attributes: { axis: 0 }, over: 0 }],
  ['float64', [6, 25_003], ['onnx', 'Softmax', 13], [], { attributes: { axis: 0 }, over: 0 }],
  ['float32', [1, 6, ROW], ['onnx', 'LRN', 13], [], { attributes: { size: 3 } }],
  ['float32', [1, 6, 1, ROW - 3], ['onnx', 'Conv', 11], [noise([24, 6, 1, 1], 2)], {}],
  [
    'float64',
    [6, 25_003],
    ['onnx', 'Gemm', 13],
    [new Tensor('float64', new Float64Array(18).fill(2), [6, 3])],
    { attributes: { transA: 1 } }
  ],
  [
    'float32',
    [1, 5, 1, 40_000],
    ['onnx', 'GroupNorm', 1, 'com.microsoft'],
    [noise([40_000], 2), noise([40_000], 3)],
    { attributes: { groups: 2, activation: 0, channels_last: 1 } }
  ]
] as const)('%s of %j at the end of the heap: %j', (type, dims, kind, others, options) => {
  const x = atEnd(type, dims)
  const copy = new Tensor(type, x.data.slice() as never, dims)
  const expected = runOp(kind, [copy, ...others], { ...options, over: undefined }) as Tensor[]
  const found = runAccelerated(kind, [x, ...others], { ...options, region: 'array' }) as Tensor[]
  expect(differenceOf(found[0], expected[0])).toBeLessThanOrEqual(1e-5)
})
