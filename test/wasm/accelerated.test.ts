import { createHash } from 'node:crypto'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { NodewiseError } from '../../src/errors.ts'
import type { Paced } from '../../src/kernels/core/pace.ts'
import type { BeamSearch } from '../../src/kernels/gather/gather-tree.ts'
import { gatherBlocks, gatherOffsets } from '../../src/kernels/gather/gather.ts'
import { ravelPositions, resolveIndices, resolveTuples } from '../../src/kernels/gather/indices.ts'
import type { NumericArray } from '../../src/tensor/dtype.ts'
import { allocate, product, Tensor } from '../../src/tensor/tensor.ts'
import { heapStats } from '../../src/wasm/heap.ts'
import fc from '../fixtures/random-cases.ts'
import {
  bytesOf,
  freeHeld,
  INDEX_TYPES,
  junk,
  onHeap,
  POLICIES,
  random,
  randomData,
  randomIndices,
  runGather,
  runGatherElements,
  runGatherND,
  runGatherTree,
  TYPES
} from './gather-calls.ts'

afterEach(freeHeld)

const processor = vi.hoisted(() => ({ isZen5: false }))
vi.mock(import('../../src/host.ts'), async original => ({ ...(await original()), isZen5: () => processor.isZen5 }))

/** What a kernel makes of its output, as a hash of the bytes, or the message of its error. */
function outcome(steps: Paced, out: Tensor): string {
  try {
    for (const _ of steps);
    return createHash('sha256').update(bytesOf(out)).digest('hex')
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
  freeHeld()
  // The kernels keep one block for themselves from their first run on.
  expect(heapStats().blocks - before).toBeLessThanOrEqual(1)
}

describe('accelerated kernels equal the reference kernels', () => {
  const anyGather = fc.record({
    ...common,
    batch: smallDim,
    outer: smallDim,
    size: largeDim,
    inner: fc.oneof(smallDim, fc.integer({ min: 1, max: 70 }), fc.constantFrom(16, 32, 64, 128, 129, 150, 600)),
    count: largeDim
  })
  const fewOfManySlices = fc.record({
    ...common,
    places: fc.record({ data: fc.constant(true), indices: fc.boolean(), out: fc.boolean() }),
    batch: fc.integer({ min: 1, max: 3 }),
    outer: fc.integer({ min: 100, max: 1500 }),
    size: fc.integer({ min: 1, max: 40 }),
    inner: fc.integer({ min: 1, max: 3 }),
    count: fc.integer({ min: 1, max: 18 })
  })
  test.each([
    ['for every width, type of index, policy, axis, batch and place', anyGather],
    ['of few positions of many slices', fewOfManySlices]
  ])('Gather, %s', (_, cases) => {
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
        // Of large data few along the axis: millions of indices take seconds, and no other path than thousands.
        const most = product(dims) > 1e5 ? 40 : count
        const indexDims = dims.map((dim, i) =>
          i !== axis ? Math.max(0, dim - less[i]) : dim === 0 ? 0 : Math.min(count, most)
        )
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

  test.each(POLICIES)('GatherElements of an axis without elements, with %j', policy => {
    for (const at of [true, false]) {
      const indices = randomIndices('int64', [3, 3000], [1], false, false, random(1))
      holdEqual(
        (d, i, o) => runGatherElements(d, i, o, 1, policy),
        function* (d, i, o) {
          yield* gatherOffsets(d, resolveIndices(i, 0, 1, policy), o, 1)
        },
        allocate('float32', [3, 0]),
        indices,
        [3, 3000],
        { data: true, indices: at, out: at }
      )
    }
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

  test.each(POLICIES)('GatherND, of indices whose lower words alone are in range, with %j', policy => {
    const data = randomData('float32', [3, 5], random(1))
    for (const far of [2n ** 32n + 1n, 2n ** 63n - 1n, -(2n ** 32n) + 2n, -(2n ** 63n)]) {
      const indices = new Tensor('int64', new Array<bigint>(4000).fill(1n).with(2001, far), [4000, 1])
      holdEqual(
        (d, i, o) => runGatherND(d, i, o, 0, policy),
        function* (d, i, o) {
          yield* gatherOffsets(d, resolveTuples(i, 1, [3], 0, policy), o, 5)
        },
        data,
        indices,
        [4000, 5],
        { data: true, indices: true, out: true }
      )
    }
  })

  test('Gather and GatherND, of blocks that are more together than the nearer caches hold', () => {
    const MIN_FAR = 8 << 20
    const cases = fc.record({
      ...common,
      type: fc.constantFrom(...TYPES.slice(0, 3)),
      size: fc.integer({ min: 2, max: 20 }),
      inner: fc.oneof(fc.integer({ min: 513, max: 9000 }), fc.integer({ min: 20_000, max: 70_000 })),
      isTuples: fc.boolean(),
      isZen5: fc.boolean()
    })
    fc.assert(
      fc.property(cases, ({ seed, type, indexType, policy, bad, places: at, size, inner, isTuples, isZen5 }) => {
        processor.isZen5 = isZen5
        const next = random(seed)
        const data = randomData(type, [size, inner], next)
        const count = Math.ceil((MIN_FAR * size) / bytesOf(data).length) + 3
        const dims = isTuples ? [count, 1] : [count]
        const indices = randomIndices(indexType, dims, [size], policy.negative === 'wrap', bad, next)
        const layout = { batch: 1, outer: 1, size, inner, count }
        holdEqual(
          (d, i, o) => (isTuples ? runGatherND(d, i, o, 0, policy) : runGather(d, i, o, policy)),
          function* (d, i, o) {
            if (isTuples) yield* gatherOffsets(d, resolveTuples(i, 1, [size], 0, policy), o, inner)
            else yield* gatherBlocks(d, resolveIndices(i, size, 0, policy), o, layout)
          },
          data,
          indices,
          [count, inner],
          at
        )
      }),
      { numRuns: 24 }
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
