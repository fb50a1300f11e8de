import { afterEach, describe, expect, test } from 'vitest'
import { NodewiseError } from '../../src/errors.ts'
import type { Paced } from '../../src/kernels/core/pace.ts'
import type { BeamSearch } from '../../src/kernels/gather/gather-tree.ts'
import { gatherBlocks, gatherOffsets } from '../../src/kernels/gather/gather.ts'
import { type IndexPolicy, ravelPositions, resolveIndices, resolveTuples } from '../../src/kernels/gather/indices.ts'
import type { KernelContext, Op } from '../../src/op-kit/define.ts'
import { gatherElements } from '../../src/ops/gather/gather-elements.ts'
import { gatherND } from '../../src/ops/gather/gather-nd.ts'
import { gatherTree } from '../../src/ops/gather/gather-tree.ts'
import { gather } from '../../src/ops/gather/gather.ts'
import { factOf } from '../../src/shapes/fact.ts'
import { type DType, DTYPES } from '../../src/tensor/dtype.ts'
import { allocate, product, Tensor } from '../../src/tensor/tensor.ts'
import { heapAllocate, heapFree, heapStats } from '../../src/wasm/heap.ts'
import { type JobTemplate, runJob } from '../../src/wasm/jobs.ts'
import { gatherJobs } from '../../src/wasm/kernels/gather.ts'
import { select } from '../../src/wasm/select.ts'
import type { NumericArray } from '../../src/wasm/staging.ts'
import fc from '../fixtures/random-cases.ts'

/** One type for each width of an element. */
const TYPES = ['uint8', 'float16', 'float32', 'float64', 'complex128'] as const
const INDEX_TYPES = ['int32', 'int64', 'int8', 'uint8', 'int16', 'uint16', 'uint32', 'uint64'] as const
const POLICIES = [
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
const runGather = (
  data: Tensor,
  indices: Tensor,
  out: Tensor,
  { axis = 0, batchDims = 0, ...policy }: { axis?: number; batchDims?: number } & IndexPolicy
): Paced => runSelected(gather, { data, indices }, { axis, batchDims, ...policy }, out)

const runGatherElements = (data: Tensor, indices: Tensor, out: Tensor, axis: number, policy: IndexPolicy): Paced =>
  runSelected(gatherElements, { data, indices }, { axis, ...policy }, out)

const runGatherND = (data: Tensor, indices: Tensor, out: Tensor, batchDims: number, policy: IndexPolicy): Paced =>
  runSelected(gatherND, { data, indices }, { batchDims, ...policy }, out)

const runGatherTree = (search: BeamSearch, out: Tensor): Paced => runSelected(gatherTree, { ...search }, {}, out)

const held: NumericArray[] = []
afterEach(() => held.splice(0).forEach(heapFree))

/** The same tensor in the heap; what lay there before is junk. */
function onHeap(tensor: Tensor): Tensor {
  const array = tensor.data as NumericArray
  const block = heapAllocate(array.byteLength, { zero: false }) ?? expect.fail('the heap is full')
  block.fill(0xab)
  block.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength))
  held.push(block)
  const { array: Storage, slots } = DTYPES[tensor.type]
  return new Tensor(
    tensor.type,
    new Storage!(block.buffer, block.byteOffset, product(tensor.dims) * slots) as never,
    tensor.dims
  )
}

/** A junk-filled tensor: kernels write all of their output. */
function junk(type: DType, dims: readonly number[]): Tensor {
  const tensor = allocate(type, dims)
  bytesOf(tensor).fill(0xcd)
  return tensor
}

const bytesOf = ({ data }: Tensor): Uint8Array =>
  new Uint8Array((data as NumericArray).buffer, (data as NumericArray).byteOffset, (data as NumericArray).byteLength)

/** Numbers from 0 to 1, always the same for a seed. */
function random(seed: number): () => number {
  let state = seed | 1
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    return (state >>> 0) / 2 ** 32
  }
}

/** Data whose bytes are random: all patterns of NaN among them. */
function randomData(type: DType, dims: readonly number[], next: () => number): Tensor {
  const tensor = allocate(type, dims)
  const bytes = bytesOf(tensor)
  const words = new Uint32Array(Math.ceil(bytes.length / 4))
  for (let i = 0; i < words.length; i++) words[i] = next() * 2 ** 32
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
function randomIndices(
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
  for (let i = 0; i < length; i++) {
    const limit = Math.min(sizes[i % sizes.length], 100)
    const isNegative = mayBeNegative && next() < 0.3
    const index = Math.floor(next() * limit) - (isNegative ? limit : 0)
    tensor.data[i] = isWide ? BigInt(index) : index
  }
  if (bad && length > 0) {
    for (let k = 0; k < 2; k++) {
      const wild = WILD[Math.floor(next() * WILD.length)]
      tensor.data[Math.floor(next() * length)] = isWide ? wild : Number(wild)
    }
  }
  return tensor
}

/** What a kernel makes of its output, as bytes, or the message of its error. */
function outcome(steps: Paced, out: Tensor): string {
  try {
    for (const _ of steps);
    const { buffer, byteOffset, byteLength } = bytesOf(out)
    return Buffer.from(buffer, byteOffset, byteLength).toString('latin1')
  } catch (error) {
    if (error instanceof NodewiseError) return `${error.code}: ${error.reason}`
    throw error
  }
}

const places = fc.record({ data: fc.boolean(), indices: fc.boolean(), out: fc.boolean() })
const common = {
  seed: fc.nat(),
  type: fc.constantFrom(...TYPES),
  indexType: fc.constantFrom(...INDEX_TYPES),
  policy: fc.constantFrom(...POLICIES),
  bad: fc.boolean(),
  places
}
const smallDim = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(0, 1) },
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 6 }) }
)
const largeDim = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(0, 1) },
  { weight: 12, arbitrary: fc.integer({ min: 2, max: 300 }) }
)

type Run = (data: Tensor, indices: Tensor, out: Tensor) => Paced

/** Holds the outcome of arrays in the places given equal to that of the reference kernel on ordinary arrays. */
function holdEqual(
  run: Run,
  reference: Run,
  data: Tensor,
  indices: Tensor,
  outDims: readonly number[],
  at: { data: boolean; indices: boolean; out: boolean }
): void {
  const before = heapStats().blocks
  const expected = junk(data.type, outDims)
  const wanted = outcome(reference(data, indices, expected), expected)
  const out = at.out ? onHeap(junk(data.type, outDims)) : junk(data.type, outDims)
  expect(outcome(run(at.data ? onHeap(data) : data, at.indices ? onHeap(indices) : indices, out), out)).toBe(wanted)
  held.splice(0).forEach(heapFree)
  // The kernels keep one block for themselves from their first run on.
  expect(heapStats().blocks - before).toBeLessThanOrEqual(1)
}

describe('accelerated kernels equal the reference kernels', () => {
  test('Gather, for every width, type of index, policy, axis, batch and place', () => {
    const cases = fc.record({
      ...common,
      batch: smallDim,
      outer: smallDim,
      size: largeDim,
      inner: fc.oneof(smallDim, fc.integer({ min: 1, max: 70 }), fc.constantFrom(16, 32, 64, 128, 129, 150, 600)),
      count: largeDim
    })
    fc.assert(
      fc.property(cases, ({ seed, type, indexType, policy, bad, places: at, batch, outer, size, inner, count }) => {
        const next = random(seed)
        const data = randomData(type, [batch, outer, size, inner], next)
        const indices = randomIndices(
          indexType,
          [batch, size === 0 ? 0 : count],
          [size],
          policy.negative === 'wrap',
          bad,
          next
        )
        const layout = { batch, outer, size, inner, count: indices.dims[1] }
        holdEqual(
          (d, i, o) => runGather(d, i, o, { axis: 2, batchDims: 1, ...policy }),
          function* (d, i, o) {
            yield* gatherBlocks(d, resolveIndices(i, size, 2, policy), o, layout)
          },
          data,
          indices,
          [batch, outer, indices.dims[1], inner],
          at
        )
      }),
      { numRuns: 200 }
    )
  })

  test('GatherElements, for every axis, and indices that are smaller than the data', () => {
    const cases = fc.record({
      ...common,
      dims: fc.array(fc.oneof(smallDim, fc.integer({ min: 1, max: 40 })), { minLength: 1, maxLength: 4 }),
      axis: fc.nat(),
      count: largeDim,
      less: fc.array(fc.constantFrom(0, 0, 0, 1, 2), { minLength: 4, maxLength: 4 })
    })
    fc.assert(
      fc.property(cases, ({ seed, type, indexType, policy, bad, places: at, dims, axis: any, count, less }) => {
        const axis = any % dims.length
        const next = random(seed)
        const data = randomData(type, dims, next)
        const indexDims = dims.map((dim, i) => (i !== axis ? Math.max(0, dim - less[i]) : dim === 0 ? 0 : count))
        const indices = randomIndices(indexType, indexDims, [dims[axis]], policy.negative === 'wrap', bad, next)
        holdEqual(
          (d, i, o) => runGatherElements(d, i, o, axis, policy),
          function* (d, i, o) {
            const offsets = resolveIndices(i, dims[axis], axis, policy, product(d.dims))
            for (const _ of ravelPositions(offsets, i.dims, d.dims, axis));
            yield* gatherOffsets(d, offsets, o, 1)
          },
          data,
          indices,
          indexDims,
          at
        )
      }),
      { numRuns: 200 }
    )
  })

  test('GatherElements along an axis that is not the last, of data beyond the cache', () => {
    const cases = fc.record({
      ...common,
      outer: fc.constantFrom(1, 2),
      size: fc.integer({ min: 500, max: 1000 }),
      inner: fc.integer({ min: 300, max: 700 }),
      fewer: fc.constantFrom(0, 0, 3)
    })
    fc.assert(
      fc.property(cases, ({ seed, type, indexType, policy, bad, places: at, outer, size, inner, fewer }) => {
        const next = random(seed)
        const data = randomData(type, [outer, size, inner], next)
        const indices = randomIndices(
          indexType,
          [outer, size >> 1, inner - fewer],
          [size],
          policy.negative === 'wrap',
          bad,
          next
        )
        holdEqual(
          (d, i, o) => runGatherElements(d, i, o, 1, policy),
          function* (d, i, o) {
            const offsets = resolveIndices(i, size, 1, policy, product(d.dims))
            for (const _ of ravelPositions(offsets, i.dims, d.dims, 1));
            yield* gatherOffsets(d, offsets, o, 1)
          },
          data,
          indices,
          indices.dims,
          at
        )
      }),
      { numRuns: 12 }
    )
  })

  test('GatherND, for tuples of any length, with batches', () => {
    const cases = fc.record({
      ...common,
      batchDims: fc.array(smallDim, { maxLength: 2 }),
      sizes: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
      inner: fc.oneof(smallDim, fc.integer({ min: 1, max: 70 })),
      count: largeDim
    })
    fc.assert(
      fc.property(cases, ({ seed, type, indexType, policy, bad, places: at, batchDims, sizes, inner, count }) => {
        const next = random(seed)
        const data = randomData(type, [...batchDims, ...sizes, inner], next)
        const indices = randomIndices(
          indexType,
          [...batchDims, count, sizes.length],
          sizes,
          policy.negative === 'wrap',
          bad,
          next
        )
        holdEqual(
          (d, i, o) => runGatherND(d, i, o, batchDims.length, policy),
          function* (d, i, o) {
            yield* gatherOffsets(d, resolveTuples(i, product(batchDims), sizes, batchDims.length, policy), o, inner)
          },
          data,
          indices,
          [...batchDims, count, inner],
          at
        )
      }),
      { numRuns: 200 }
    )
  })

  test('GatherTree, for lengths and parents of any kind', () => {
    const cases = fc.record({
      seed: fc.nat(),
      type: fc.constantFrom('float32', 'int32', 'int64', 'float64', 'uint8', 'float16'),
      steps: fc.integer({ min: 1, max: 50 }),
      batches: fc.integer({ min: 1, max: 60 }),
      beams: fc.integer({ min: 1, max: 9 }),
      bad: fc.boolean(),
      places
    })
    fc.assert(
      fc.property(cases, ({ seed, type, steps, batches, beams, bad, places: at }) => {
        const next = random(seed)
        const whole = (dims: readonly number[], limit: number): Tensor =>
          new Tensor(
            type as 'int32',
            Array.from({ length: product(dims) }, () => Math.floor(next() * limit)),
            dims
          )
        const ids = whole([steps, batches, beams], 12)
        const parents = whole([steps, batches, beams], beams)
        if (bad)
          parents.data[Math.floor(next() * parents.data.length)] =
            type === 'int64' ? BigInt(beams) : type === 'float32' ? 0.5 : beams
        const lengths = whole([batches], steps + 3)
        if (type === 'float32') lengths.data[0] = [NaN, -1, 2.7, Infinity][seed % 4]
        const endToken = whole([], 12)
        holdEqualBeams({ stepIds: ids, parentIds: parents, maxSeqLen: lengths, endToken }, at.out)
      }),
      { numRuns: 200 }
    )
  })
})

/**
 * Everything on the heap, and the reference: the selector asks for 4096 elements at least, so the reference gets one
 * beam search after the other.
 */
function holdEqualBeams(search: BeamSearch, outOnHeap: boolean): void {
  const [steps, batches, beams] = search.stepIds.dims
  const out = outOnHeap
    ? onHeap(junk(search.stepIds.type, search.stepIds.dims))
    : junk(search.stepIds.type, search.stepIds.dims)
  const result = outcome(runGatherTree(search, out), out)
  const expected = allocate(search.stepIds.type, search.stepIds.dims)
  const reference = outcome(
    (function* () {
      for (let batch = 0; batch < batches; batch++) {
        const part = (tensor: Tensor): Tensor => {
          const own = allocate(tensor.type, [steps, 1, beams])
          copyBeams(tensor, batch, batches, own, 0, 1)
          return own
        }
        const own = allocate(search.stepIds.type, [steps, 1, beams])
        const lengths = new Tensor(search.maxSeqLen.type, search.maxSeqLen.data.slice(batch, batch + 1), [1])
        yield* runGatherTree(
          {
            stepIds: part(search.stepIds),
            parentIds: part(search.parentIds),
            maxSeqLen: lengths,
            endToken: search.endToken
          },
          own
        )
        copyBeams(own, 0, 1, expected, batch, batches)
      }
    })(),
    expected
  )
  // The batch alone has another position; everything else of the message is the same.
  const plain = (text: string): string => text.replace(/at \[(\d+), \d+, (\d+)\]/, 'at [$1, b, $2]')
  expect(plain(result)).toBe(plain(reference))
}

/** Copies one beam search, whose steps lie apart where there are several, to another place among searches. */
function copyBeams(from: Tensor, source: number, sources: number, to: Tensor, target: number, targets: number): void {
  const [steps, , beams] = from.dims
  const width = beams * (from.data as NumericArray).BYTES_PER_ELEMENT
  for (let step = 0; step < steps; step++) {
    const start = (step * sources + source) * width
    bytesOf(to).set(bytesOf(from).subarray(start, start + width), (step * targets + target) * width)
  }
}

/** A block of at least so many bytes that ends where the memory ends. */
function lastBlock(bytes: number): Uint8Array {
  for (let size = bytes; ;) {
    const block = heapAllocate(size, { zero: false }) ?? expect.fail('the heap is full')
    held.push(block)
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
  const resultOf = ({ template, inputs, out }: ReadyJob): string => {
    const steps = runJob(template, inputs, out, 1)
    let step = steps.next()
    while (!step.done) step = steps.next()
    return step.value
  }

  test('are done on the heap, and where indices and output lie elsewhere', () => {
    const own = job(1000)
    const [data, indices] = own.inputs
    expect(resultOf(own)).toBe('done')
    const elsewhere = new Float32Array(4096)
    expect(resultOf({ ...own, inputs: [data, BigInt64Array.from(indices as BigInt64Array)], out: elsewhere })).toBe(
      'done'
    )
    expect(elsewhere).toEqual(Float32Array.from(own.out as Float32Array))
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
    expect(resultOf(own)).toBe('failed')
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
      else held.push(block)
    }
    const out = junk('float32', [2, 10_000])
    for (const _ of runGather(data, indices, out, { axis: 1, ...POLICIES[0] }));
    expect(out.data).toEqual(filled.data)
    expect(out.data[0]).toBe(9_999)
    const { length } = held
    held.splice(0).forEach(heapFree)
    expect(length).toBeGreaterThan(3)
  })
})
