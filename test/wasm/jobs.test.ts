import { afterEach, describe, expect, test } from 'vitest'
import { gatherBlocks } from '../../src/kernels/gather/gather.ts'
import { resolveIndices } from '../../src/kernels/gather/indices.ts'
import { gather } from '../../src/ops/gather/gather.ts'
import { factOf } from '../../src/shapes/fact.ts'
import type { NumericArray } from '../../src/tensor/dtype.ts'
import { allocate, Tensor } from '../../src/tensor/tensor.ts'
import { heapAllocate, heapFree, heapStats } from '../../src/wasm/heap.ts'
import { type JobTemplate, runJob, servesOutside } from '../../src/wasm/jobs.ts'
import { gatherJobs } from '../../src/wasm/kernels/gather.ts'
import { select } from '../../src/wasm/select.ts'
import {
  bytesOf,
  freeHeld,
  hold,
  junk,
  onHeap,
  POLICIES,
  random,
  randomData,
  randomIndices,
  runGather,
  runGatherElements
} from './gather-calls.ts'

afterEach(freeHeld)
/** A block of at least so many bytes that ends where the memory ends. */
function lastBlock(bytes: number): Uint8Array {
  for (let size = bytes; ;) {
    const block = heapAllocate(size, { zero: false }) ?? expect.fail('the heap is full')
    hold(block)
    const rest = block.buffer.byteLength - block.byteOffset - size
    if (rest === 0) return block
    size = Math.max(bytes, rest)
  }
}

/** A job with its arrays. */
interface ReadyJob {
  readonly template: JobTemplate
  readonly inputs: readonly [data: NumericArray, indices: NumericArray]
  readonly out: NumericArray
}

describe('jobs', () => {
  const params = { axis: 0, batchDims: 0, ...POLICIES[0] }
  const job = (size: number): ReadyJob => {
    const data = onHeap(randomData('float32', [size], random(1)))
    const indices = onHeap(randomIndices('int64', [4096], [size], false, false, random(2)))
    const [template] = gatherJobs({ data, indices }, params)
    return {
      template,
      inputs: [data.data as NumericArray, indices.data as NumericArray],
      out: onHeap(junk('float32', [4096])).data as NumericArray
    }
  }
  const isDone = ({ template, inputs, out }: ReadyJob): boolean => {
    const steps = runJob(template, inputs, out, 1)
    let step = steps.next()
    while (!step.done) step = steps.next()
    return step.value
  }

  test('are done on the heap, and where indices and output lie elsewhere', () => {
    const own = job(1000)
    const [data, indices] = own.inputs
    expect(isDone(own)).toBe(true)
    const elsewhere = new Float32Array(4096)
    expect(isDone({ ...own, inputs: [data, BigInt64Array.from(indices as BigInt64Array)], out: elsewhere })).toBe(true)
    expect(elsewhere).toEqual(Float32Array.from(own.out as Float32Array))
  })

  test('write long blocks outside the heap only where threads share many of them', () => {
    const MB = 1 << 20
    const serves = (width: number, bytes: number, threads: number): boolean => {
      const indices = allocate('int64', [Math.ceil(bytes / width)])
      const [template] = gatherJobs({ data: allocate('uint8', [2, width]), indices }, params)
      return servesOutside(template, bytes, threads)
    }
    expect(serves(1000, MB, 1)).toBe(true)
    expect(serves(8000, 8 * MB, 2)).toBe(true)
    expect(serves(8000, 8 * MB, 1)).toBe(false)
    expect(serves(8000, MB, 2)).toBe(false)
    expect(serves(20_000, 8 * MB, 2)).toBe(false)
  })

  test('are not selected for data elsewhere that exceed what is moved, nor for uint32 and uint64 indices', () => {
    const indices = allocate('int64', [4096])
    const kernelFor = (data: Tensor, list: Tensor): unknown =>
      select(gather, { data, indices: list }, { parameters: params, outputs: [factOf(indices)] })?.kernel
    const large = allocate('float32', [100_000])
    expect(kernelFor(large, indices)).toBeUndefined()
    expect(kernelFor(onHeap(large), indices)).toBeDefined()
    expect(
      select(gather, { data: large, indices }, { parameters: params, outputs: [factOf(indices)] })?.holds?.({
        data: large
      })
    ).toBe(true)
    expect(
      select(gather, { data: large, indices }, { parameters: params, outputs: [factOf(indices)] })?.holds?.({
        data: onHeap(large)
      })
    ).toBe(false)
    expect(kernelFor(onHeap(allocate('float32', [1000])), indices)).toBeDefined()
    expect(kernelFor(onHeap(allocate('float32', [1000])), allocate('uint32', [4096]))).toBeUndefined()
    expect(kernelFor(onHeap(allocate('float32', [1000])), allocate('uint64', [4096]))).toBeUndefined()
  })

  test('read nothing beyond the memory, though they read ahead', () => {
    const room = heapAllocate(1 << 24, { zero: false }) ?? expect.fail('the heap is full')
    const block = lastBlock(1 << 20)
    const { reserved } = heapStats()
    heapFree(room)
    for (const [rows, size] of [
      [256, 1000],
      [3000, 40],
      [2, 65_536]
    ]) {
      const length = rows * size
      const data = new Tensor(
        'float32',
        new Float32Array(block.buffer, block.byteOffset + block.length - 4 * length, length),
        [rows, size]
      )
      data.data.forEach((_, i) => {
        data.data[i] = i
      })
      const count = size >> 1
      const indices = onHeap(
        new Tensor(
          'int64',
          BigInt64Array.from({ length: count }, (_, i) => BigInt(size - 1 - i)),
          [count]
        )
      )
      const out = onHeap(junk('float32', [rows, count]))
      for (const _ of runGather(data, indices, out, { axis: 1, ...POLICIES[0] }));
      expect(out.data.findIndex((value, i) => value !== (Math.floor(i / count) + 1) * size - 1 - (i % count))).toBe(-1)
      const each = onHeap(
        new Tensor(
          'int64',
          BigInt64Array.from({ length }, (_, i) => BigInt(size - 1 - (i % size))),
          [rows, size]
        )
      )
      const reversed = onHeap(junk('float32', [rows, size]))
      for (const _ of runGatherElements(data, each, reversed, 1, POLICIES[0]));
      expect(reversed.data.findIndex((value, i) => value !== (Math.floor(i / size) + 1) * size - 1 - (i % size))).toBe(
        -1
      )
    }
    expect(heapStats().reserved).toBe(reserved)
  })

  test('say that an index is bad', () => {
    const own = job(1000)
    ;(own.inputs[1] as BigInt64Array)[4095] = 1000n
    expect(isDone(own)).toBe(false)
  })

  test('yield while they move much, wherever the arrays lie', () => {
    const count = 6_000_000
    const data = onHeap(new Tensor('int8', new Int8Array([1, 2]), [2]))
    const indices = new Tensor('int64', new BigInt64Array(count).fill(1n), [count])
    for (const place of [onHeap, (tensor: Tensor) => tensor]) {
      const out = place(allocate('int8', [count]))
      const steps = [...runGather(data, place(indices), out, POLICIES[0])]
      expect(steps.length).toBeGreaterThanOrEqual(1)
      expect(out.data.every(value => value === 2)).toBe(true)
    }
  })

  test('that run alternately do not disturb each other', () => {
    const size = 50_000
    const data = [1, 2].map(seed => onHeap(randomData('int32', [size], random(seed))))
    const count = 2_000_000
    const indices = [3, 4].map(seed => randomIndices('int32', [count], [size], true, false, random(seed)))
    const layout = { batch: 1, outer: 1, size, inner: 1, count }
    const outs = [0, 1].map(() => allocate('int32', [count]))
    const running = [0, 1].map(i => runGather(data[i], indices[i], outs[i], POLICIES[0]))
    while (running.map(steps => steps.next()).some(({ done }) => !done));
    outs.forEach((out, i) => {
      const expected = allocate('int32', [count])
      for (const _ of gatherBlocks(data[i], resolveIndices(indices[i], size, 0, POLICIES[0]), expected, layout));
      expect(Buffer.compare(bytesOf(out), bytesOf(expected))).toBe(0)
    })
  })

  // The last test: it lets the heap grow to its limit.
  test('leave the call to the reference kernel where the heap has no room for what is staged', () => {
    const data = new Tensor(
      'float32',
      Float32Array.from({ length: 20_000 }, (_, i) => i),
      [2, 10_000]
    )
    const indices = new Tensor(
      'int64',
      BigInt64Array.from({ length: 10_000 }, (_, i) => BigInt(9_999 - i)),
      [10_000]
    )
    const filled = allocate('float32', [2, 10_000])
    for (const _ of runGather(data, indices, filled, { axis: 1, ...POLICIES[0] }));
    for (let size = 2 ** 30; size >= 64;) {
      const block = heapAllocate(size, { zero: false })
      if (block === undefined) size /= 2
      else hold(block)
    }
    const out = junk('float32', [2, 10_000])
    for (const _ of runGather(data, indices, out, { axis: 1, ...POLICIES[0] }));
    expect(out.data).toEqual(filled.data)
    expect(out.data[0]).toBe(9_999)
    expect(freeHeld()).toBeGreaterThan(3)
  })
})
