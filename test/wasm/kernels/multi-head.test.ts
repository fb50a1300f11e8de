import { describe, expect, test } from 'vitest'
import { product, Tensor } from '../../../src/tensor/tensor.ts'
import { heapStats } from '../../../src/wasm/heap.ts'
import fc from '../../fixtures/random-cases.ts'
import { bits, expectEqual, noise, runAccelerated } from '../compare.ts'

/** Float sums in another order, and exp by a polynomial. */
const TOLERANCE = 3e-6
const APART = ['onnx', 'MultiHeadAttention', 1, 'com.microsoft'] as const
const CODES = ['onnx', 'QAttention', 1, 'com.microsoft'] as const
const PROJECTED = ['onnx', 'Attention', 1, 'com.microsoft'] as const

const size = (max: number) => fc.integer({ min: 1, max })
const sizes = {
  batch: size(2),
  heads: size(3),
  depth: size(20),
  queries: fc.oneof(fc.constant(1), size(70)),
  isCausal: fc.boolean(),
  hasBias: fc.boolean(),
  biased: fc.constantFrom('none', 'all', 'shared')
}

/** 0 for about a quarter of the keys, but never for the first. */
const padding = (dims: readonly number[]): Tensor => {
  const columns = dims[dims.length - 1]
  const isSeen = noise(dims, 9).data.map((value, i) => Number(i % columns === 0 || value > -0.5))
  return new Tensor('int32', Int32Array.from(isSeen), dims)
}

/** What is added to the scores, as an operand of com.microsoft. */
const scoreBias = (kind: string, [batch, heads, ...rest]: readonly number[]): Tensor | undefined =>
  kind === 'none' ? undefined : noise(kind === 'all' ? [batch, heads, ...rest] : [1, 1, ...rest], 8, 2)

describe.each(['heap', 'array'] as const)('multi-head attention in WebAssembly, operands in an %s', region => {
  test('MultiHeadAttention equals the reference, however its inputs are given', () => {
    const calls = fc.record({
      ...sizes,
      fresh: size(60),
      past: fc.constantFrom(0, 0, 5),
      width: size(20),
      form: fc.constantFrom('apart', 'blocks', 'keys with values', 'by head'),
      mask: fc.constantFrom('none', 'lengths', 'keys', 'queries'),
      outputs: fc.constantFrom(1, 3)
    })
    fc.assert(
      fc.property(calls, ({ batch, heads, depth, queries, fresh: given, form, ...rest }) => {
        const isApart = form === 'apart'
        const fresh = form === 'by head' ? queries : given
        const width = isApart || form === 'blocks' ? rest.width : depth
        const past = isApart ? rest.past : 0
        const keys = past + fresh
        const parts = {
          apart: [
            [batch, queries, heads * depth],
            [batch, fresh, heads * depth],
            [batch, fresh, heads * width]
          ],
          blocks: [
            [batch, queries, heads * depth],
            [batch, heads, fresh, depth],
            [batch, heads, fresh, width]
          ],
          'keys with values': [
            [batch, queries, heads * depth],
            [batch, fresh, heads, 2, depth]
          ],
          'by head': [[batch, queries, heads, 3, depth]]
        }[form] as number[][]
        const masks: Record<string, number[]> = { keys: [batch, keys], queries: [batch, queries, keys] }
        const lengths = new Tensor('int32', new Int32Array(batch).fill(Math.max(1, keys - 2)), [batch])
        const [query, key, value] = parts.map((dims, i) => noise(dims, i + 1, 2))
        const inputs = [
          query,
          key,
          value,
          rest.hasBias ? noise([heads * (2 * depth + width)], 4) : undefined,
          rest.mask === 'none' ? undefined : rest.mask === 'lengths' ? lengths : padding(masks[rest.mask]),
          scoreBias(rest.biased, [batch, heads, queries, keys]),
          past > 0 ? noise([batch, heads, past, depth], 5) : undefined,
          past > 0 ? noise([batch, heads, past, width], 6) : undefined
        ]
        const attributes = { num_heads: heads, unidirectional: Number(rest.isCausal) }
        expectEqual(APART, inputs, { region, attributes, outputs: rest.outputs }, TOLERANCE)
      }),
      { numRuns: 80, seed: 3 }
    )
  })

  test('Attention with projections equals the reference, its weights packed or not', () => {
    const calls = fc.record({
      ...sizes,
      features: size(40),
      past: fc.constantFrom(0, 0, 6),
      mask: fc.constantFrom('none', 'keys', 'square'),
      rotates: fc.boolean(),
      isConstant: fc.boolean()
    })
    fc.assert(
      fc.property(calls, ({ batch, heads, queries, features, past, mask, rotates, isConstant, ...rest }) => {
        const depth = 2 * Math.ceil(rest.depth / 2)
        const keys = past + queries
        const columns = 3 * heads * depth
        const masks: Record<string, number[]> = { keys: [batch, keys], square: [batch, 1, keys, keys] }
        const inputs = [
          noise([batch, queries, features], 1),
          noise([features, columns], 2),
          rest.hasBias ? noise([columns], 3) : undefined,
          mask === 'none' ? undefined : padding(masks[mask]),
          past > 0 ? noise([2, batch, heads, past, depth], 4) : undefined,
          scoreBias(rest.biased, [batch, heads, queries, keys])
        ]
        const attributes = {
          num_heads: heads,
          unidirectional: Number(rest.isCausal),
          do_rotary: Number(rotates)
        }
        const constants: Record<string, number> = isConstant ? { weights: 1 } : {}
        expectEqual(PROJECTED, inputs, { region, attributes, outputs: 2, constants }, TOLERANCE)
      }),
      { numRuns: 60, seed: 4 }
    )
  })

  test('QAttention equals the reference, its weights packed or not', () => {
    const calls = fc.record({
      ...sizes,
      features: size(40),
      past: fc.constantFrom(0, 6),
      hasMask: fc.boolean(),
      hasZeros: fc.boolean(),
      perColumn: fc.boolean(),
      types: fc.constantFrom(['uint8', 'int8'], ['uint8', 'uint8'], ['int8', 'int8']),
      isConstant: fc.boolean()
    })
    fc.assert(
      fc.property(calls, ({ batch, heads, depth, queries, features, past, types, isConstant, ...rest }) => {
        const columns = 3 * heads * depth
        const [data, weights] = types as ['uint8' | 'int8', 'uint8' | 'int8']
        const inputs = [
          bits(data, [batch, queries, features], 1),
          bits(weights, [features, columns], 2),
          noise([columns], 3),
          new Tensor('float32', [0.002], [1]),
          noise(rest.perColumn ? [columns] : [1], 5, 0.005),
          rest.hasMask ? padding([batch, past + queries]) : undefined,
          rest.hasZeros ? bits(data, [1], 6) : undefined,
          rest.hasZeros ? bits(weights, rest.perColumn ? [columns] : [1], 7) : undefined,
          past > 0 ? noise([2, batch, heads, past, depth], 4) : undefined
        ]
        const attributes = { num_heads: heads, unidirectional: Number(rest.isCausal) }
        const constants: Record<string, number> = isConstant ? { weights: 1, bias: 2, weightScale: 4 } : {}
        expectEqual(CODES, inputs, { region, attributes, outputs: past > 0 ? 2 : 1, constants }, TOLERANCE)
      }),
      { numRuns: 15, seed: 5 }
    )
  })
})

test('what lies on the heap in between is given back, scores and beams are left to the reference', () => {
  const inputs = [noise([1, 40, 64], 1), noise([1, 40, 64], 2), noise([1, 40, 64], 3), noise([192], 4)]
  const run = (outputs: number): number[] =>
    runAccelerated(APART, inputs, { region: 'array', attributes: { num_heads: 4 }, outputs }).map(value =>
      product((value as Tensor).dims)
    )
  run(1)
  const { used } = heapStats()
  expect(run(4)).toEqual([2560, 2560, 2560, 6400])
  expect(heapStats().used).toBe(used)
})
