import { expect, test } from 'vitest'
import { NodewiseError } from '../../../src/errors.ts'
import { gatherFew } from '../../../src/kernels/gather/gather-few.ts'
import { gatherBlocks, type GatherLayout } from '../../../src/kernels/gather/gather.ts'
import { type IndexPolicy, resolveIndices } from '../../../src/kernels/gather/indices.ts'
import type { DType } from '../../../src/tensor/dtype.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import fc from '../../fixtures/random-cases.ts'

const TYPES = [
  'string',
  'float32',
  'float64',
  'complex64',
  'int64',
  'uint64',
  'int32',
  'uint8',
  'float16',
  'bool'
] as const
const INDEX_TYPES = ['int64', 'int32', 'uint64', 'uint8'] as const

/** Bytes count up from a pattern that makes many floats a NaN. */
function dataOf(type: DType, dims: readonly number[]): Tensor {
  const tensor = allocate(type, dims)
  if (type === 'string')
    (tensor.data as string[]).forEach((_, i) => {
      ;(tensor.data as string[])[i] = `s${i}`
    })
  else
    bytesOf(tensor).forEach((_, i, bytes) => {
      bytes[i] = i % 4 === 3 ? 0x7f : i % 4 === 2 ? 0x80 | (i >> 2) : i
    })
  return tensor
}

const bytesOf = ({ data }: Tensor): Uint8Array =>
  new Uint8Array((data as Uint8Array).buffer, (data as Uint8Array).byteOffset, (data as Uint8Array).byteLength)

/** What a tensor holds after it has been written, or the error. */
function outcome(out: Tensor, write: () => void): unknown {
  try {
    write()
  } catch (error) {
    if (error instanceof NodewiseError) return { code: error.code, message: error.message, details: error.details }
    throw error
  }
  return out.type === 'string' ? out.data : [...bytesOf(out)]
}

const size = fc.integer({ min: 1, max: 3 })
const cases = fc.record({
  type: fc.constantFrom(...TYPES),
  indexType: fc.constantFrom(...INDEX_TYPES),
  batch: size,
  outer: size,
  size: fc.integer({ min: 1, max: 5 }),
  inner: size,
  policy: fc.record<IndexPolicy>({
    negative: fc.constantFrom('wrap', 'error'),
    outOfRange: fc.constantFrom('error', 'zero')
  }),
  list: fc.array(
    fc.oneof(
      { weight: 30, arbitrary: fc.integer({ min: 0, max: 4 }) },
      { weight: 5, arbitrary: fc.integer({ min: -6, max: 6 }) },
      { weight: 1, arbitrary: fc.constantFrom(2n ** 32n, -(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n) }
    ),
    { minLength: 1, maxLength: 4 }
  )
})

test('few elements are gathered as many are, whatever their type', () =>
  fc.assert(
    fc.property(cases, ({ type, indexType, policy, list, ...shape }) => {
      const layout: GatherLayout = { ...shape, count: list.length }
      const { batch, outer, inner, count } = layout
      const data = dataOf(type, [batch, outer, layout.size, inner])
      const indices = allocate(indexType, [batch, count])
      for (let i = 0; i < batch * count; i++) {
        const index = list[(i + Math.floor(i / count)) % count]
        indices.data[i] = indexType.endsWith('64') ? BigInt(index) : Number(index)
      }
      const [few, many] = [allocate(type, [batch, outer, count, inner]), allocate(type, [batch, outer, count, inner])]
      if (type !== 'string') for (const { data } of [few, many]) bytesOf({ data } as Tensor).fill(0xcd)
      const isServed = type === 'string' || batch * outer * count * inner * (type === 'complex64' ? 2 : 1) <= 64
      expect(outcome(few, () => expect(gatherFew(data, indices, few, layout, 2, policy)).toBe(isServed))).toEqual(
        isServed
          ? outcome(many, () => {
              for (const _ of gatherBlocks(data, resolveIndices(indices, layout.size, 2, policy), many, layout));
            })
          : [...bytesOf(few)]
      )
    }),
    { numRuns: 2000 }
  ))

test('a list of thousands of strings, with wild indices in it', () => {
  const words = new Tensor(
    'string',
    Array.from({ length: 5000 }, (_, i) => `w${i}`)
  )
  const list = BigInt64Array.from({ length: 3000 }, (_, i) => BigInt(i % 7 === 0 ? -1 - (i % 5000) : (i * 31) % 5000))
  const out = allocate('string', [3000])
  const layout = { batch: 1, outer: 1, size: 5000, inner: 1, count: 3000 }
  expect(gatherFew(words, new Tensor('int64', list), out, layout, 0, { negative: 'wrap', outOfRange: 'error' })).toBe(
    true
  )
  expect(out.data).toEqual(Array.from(list, index => words.data.at(Number(index))))
  list[2999] = 5000n
  expect(() =>
    gatherFew(words, new Tensor('int64', list), out, layout, 0, { negative: 'wrap', outOfRange: 'error' })
  ).toThrow('index 5000 at [2999]')
})
