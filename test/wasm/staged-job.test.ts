import { afterEach, describe, expect, test } from 'vitest'
import { gatherBlocks } from '../../src/kernels/gather/gather.ts'
import { resolveIndices } from '../../src/kernels/gather/indices.ts'
import type { NumericArray } from '../../src/tensor/dtype.ts'
import { allocate, type Tensor } from '../../src/tensor/tensor.ts'
import { isOnHeap } from '../../src/wasm/heap.ts'
import { runJob } from '../../src/wasm/jobs.ts'
import { gatherJobs } from '../../src/wasm/kernels/gather.ts'
import {
  bytesOf,
  freeHeld,
  junk,
  onHeap,
  POLICIES,
  random,
  randomData,
  randomIndices,
  runGather
} from './gather-calls.ts'

afterEach(freeHeld)

const SIZE = 90

/** Rows of a table on the heap, by the reference kernel. */
function expectedRows(data: Tensor, indices: Tensor, width: number): Tensor {
  const count = indices.dims[0]
  const out = allocate(data.type, [count, width])
  const layout = { batch: 1, outer: 1, size: SIZE, inner: width, count }
  for (const _ of gatherBlocks(data, resolveIndices(indices, SIZE, 0, POLICIES[0]), out, layout));
  return out
}

describe('arrays that pass through the stage', () => {
  test.each([
    ['uint8', 1],
    ['float16', 3],
    ['float32', 63],
    ['float64', 512],
    ['float32', 4096],
    ['float32', 4097],
    ['complex128', 20_000]
  ] as const)('give what the reference kernel gives, rows of %s of %i elements', (type, width) => {
    const data = onHeap(randomData(type, [SIZE, width], random(width)))
    for (const indexType of ['int64', 'int32', 'int8'] as const) {
      // Several parts, and a last one that is shorter.
      const count = Math.ceil(2.7e6 / (width * (data.data as NumericArray).BYTES_PER_ELEMENT)) + 1
      const indices = randomIndices(indexType, [count], [SIZE], true, false, random(count))
      const out = allocate(type, [count, width])
      expect(isOnHeap(out.data as NumericArray)).toBe(false)
      for (const _ of runGather(data, indices, out, POLICIES[0]));
      expect(Buffer.compare(bytesOf(out), bytesOf(expectedRows(data, indices, width)))).toBe(0)
    }
  })

  test('give the same where a slice has more rows than are copied at once', () => {
    const [outer, width, count] = [30, 32, 700]
    const next = random(5)
    const data = onHeap(randomData('float32', [outer, SIZE, width], next))
    const indices = randomIndices('int64', [count], [SIZE], true, false, next)
    const out = junk('float32', [outer, count, width])
    const expected = junk('float32', [outer, count, width])
    const layout = { batch: 1, outer, size: SIZE, inner: width, count }
    for (const _ of gatherBlocks(data, resolveIndices(indices, SIZE, 1, POLICIES[0]), expected, layout));
    for (const _ of runGather(data, indices, out, { axis: 1, ...POLICIES[0] }));
    expect(Buffer.compare(bytesOf(out), bytesOf(expected))).toBe(0)
  })

  test('may be those of an output alone, and of indices alone', () => {
    const width = 40
    const data = onHeap(randomData('float32', [SIZE, width], random(1)))
    const indices = randomIndices('int64', [30_000], [SIZE], true, false, random(2))
    const expected = bytesOf(expectedRows(data, indices, width))
    for (const [list, out] of [
      [onHeap(indices), allocate('float32', [30_000, width])],
      [indices, onHeap(allocate('float32', [30_000, width]))]
    ]) {
      for (const _ of runGather(data, list, out, POLICIES[0]));
      expect(Buffer.compare(bytesOf(out), expected)).toBe(0)
    }
  })

  test('are given up at an index that the kernel cannot serve, in whatever part it lies', () => {
    const data = onHeap(randomData('float32', [SIZE, 40], random(1)))
    const out = new Float32Array(30_000 * 40)
    for (const at of [0, 15_000, 29_999]) {
      const indices = allocate('int64', [30_000])
      indices.data[at] = BigInt(SIZE)
      const [template] = gatherJobs({ data, indices }, { axis: 0, batchDims: 0, ...POLICIES[0] })
      const run = runJob(template, [data.data as NumericArray, indices.data], out, 1)
      let step = run.next()
      while (!step.done) step = run.next()
      expect(step.value).toBe(false)
    }
  })
})
