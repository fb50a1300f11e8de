import { describe, expect, test } from 'vitest'
import type { Part } from '../../../src/kernels/attention/heads.ts'
import { HIDDEN } from '../../../src/kernels/attention/masks.ts'
import { scaledDotProductAttention } from '../../../src/ops/attention/scaled-dot-product-attention.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import fc from '../../fixtures/random-cases.ts'
import { mask, visible } from '../attention-masks.ts'
import { differenceOf, expectEqual, noise, runPlanned } from '../compare.ts'

/** How operands lie in calls of files. */
const AS_IT_IS = { rowsFirst: {}, parts: {}, safe: false, softcap: 0, spreads: false }
/** Float sums in another order, and exp by a polynomial. */
const TOLERANCE = 2e-6

describe.each(['heap', 'array'] as const)('attention in WebAssembly, operands in an %s', region => {
  test('of any sizes equals the reference', () => {
    const size = (max: number) => fc.integer({ min: 1, max })
    const sizes = fc.record({
      batch: size(2),
      heads: size(3),
      queries: fc.oneof(size(5), size(140)),
      keys: fc.oneof(size(9), size(600)),
      depth: size(70),
      width: size(70),
      kind: fc.constantFrom('none', 'full', 'row', 'bool', 'causal')
    })
    fc.assert(
      fc.property(sizes, ({ batch, heads, queries, keys, depth, width, kind }) => {
        fc.pre(batch * heads * queries * keys * (depth + width) >= 1 << 13)
        const inputs = [
          noise([batch, heads, queries, depth], 1, 2),
          noise([batch, heads, keys, depth], 2, 2),
          noise([batch, heads, keys, width], 3)
        ]
        if (kind === 'full') inputs.push(mask([batch, heads, queries, keys], 4) as never)
        if (kind === 'row') inputs.push(mask([batch, 1, 1, keys], 4) as never)
        if (kind === 'bool') inputs.push(visible([queries, keys], 4) as never)
        const attributes = { causal: String(kind === 'causal') }
        expectEqual(['openvino', 'ScaledDotProductAttention', 13], inputs, { region, attributes }, TOLERANCE)
      }),
      { numRuns: 40, seed: 7 }
    )
  })

  test('a query that sees no key gives NaN', () => {
    const inputs = [
      noise([1, 2, 20, 16], 1),
      noise([1, 2, 30, 16], 2),
      noise([1, 2, 30, 8], 3),
      new Tensor('float32', new Float32Array(20 * 30).fill(-Infinity, 60, 120), [20, 30])
    ]
    const attributes = { causal: 'false' }
    expectEqual(['openvino', 'ScaledDotProductAttention', 13], inputs, { region, attributes }, TOLERANCE)
  })

  test.each([
    [2, NaN],
    [20, NaN],
    [2, Infinity],
    [20, -Infinity]
  ])('safe attention of %i queries gives zeros where no key is seen, and where a key has %f', (queries, bad) => {
    const k = noise([1, 2, 300, 16], 2)
    const bias = new Float32Array(queries * 300).fill(-Infinity, 0, 300)
    const feeds = {
      query: noise([1, 2, queries, 16], 1),
      key: new Tensor('float32', Float32Array.from(k.data).fill(bad, 200 * 16, 201 * 16), k.dims),
      value: noise([1, 2, 300, 8], 3),
      mask: new Tensor('float32', bias.fill(-Infinity, 500, 501), [queries, 300])
    }
    const own = { causal: false, scale: 0.25, keysInColumns: false, hidden: HIDDEN, group: 1, ...AS_IT_IS, safe: true }
    const run = (isFast: boolean): Tensor =>
      runPlanned(scaledDotProductAttention, feeds, own, [1, 2, queries, 8], isFast)
    expect(differenceOf(run(true), run(false))).toBeLessThan(TOLERANCE)
  })

  test.each([2, 20])('a key of NaN gives NaN, also where it alone is seen: %i queries', queries => {
    const k = noise([1, 2, 30, 16], 2)
    const bias = new Float32Array(queries * 30).fill(-Infinity, 0, 30)
    bias[5] = 0
    const inputs = [
      noise([1, 2, queries, 16], 1),
      new Tensor('float32', Float32Array.from(k.data).fill(NaN, 5 * 16, 6 * 16), k.dims),
      noise([1, 2, 30, 8], 3),
      new Tensor('float32', bias, [queries, 30])
    ]
    const attributes = { causal: 'false' }
    expectEqual(['openvino', 'ScaledDotProductAttention', 13], inputs, { region, attributes }, TOLERANCE)
  })

  test('batches are broadcast, and there may be no heads', () => {
    const attributes = { causal: 'false' }
    for (const [q, k, v] of [
      [
        [2, 3],
        [1, 3],
        [2, 1]
      ],
      [[4], [1], [4]],
      [
        [1, 3],
        [2, 1],
        [2, 3]
      ]
    ]) {
      const inputs = [noise([...q, 17, 24], 1), noise([...k, 33, 24], 2), noise([...v, 33, 12], 3)]
      expectEqual(['openvino', 'ScaledDotProductAttention', 13], inputs, { region, attributes }, TOLERANCE)
    }
  })

  test.each([
    ['causal', { is_causal: 1 }],
    ['with a scale and softcap', { scale: 0.3, softcap: 2.5 }]
  ])('Attention-23 %s: several heads share keys', (_, attributes) => {
    const inputs = [noise([2, 6, 70, 32], 1), noise([2, 2, 70, 32], 2), noise([2, 2, 70, 40], 3)]
    expectEqual(['onnx', 'Attention', 23], inputs, { region, attributes }, TOLERANCE)
  })

  test.each([1, 5, 67])('Attention-23 of rank 3 with %i queries', queries => {
    const inputs = [noise([2, queries, 48], 1), noise([2, 50, 24], 2), noise([2, 50, 24], 3), mask([queries, 50], 4)]
    const attributes = { q_num_heads: 4, kv_num_heads: 2 }
    expectEqual(['onnx', 'Attention', 23], inputs, { region, attributes }, TOLERANCE)
  })

  test.each([0, 1])('Attention-23 with a past, causal: %i', causal => {
    const inputs = [
      noise([1, 4, 3, 32], 1),
      noise([1, 2, 3, 32], 2),
      noise([1, 2, 3, 32], 3),
      undefined,
      noise([1, 2, 300, 32], 5),
      noise([1, 2, 300, 32], 6)
    ]
    expectEqual(['onnx', 'Attention', 23], inputs, { region, attributes: { is_causal: causal }, outputs: 3 }, TOLERANCE)
  })

  test.each([
    [1, 0, [60, 60]],
    [1, 1, [60, 41]],
    [9, 1, [70, 12]],
    [9, 1, [3, 70]],
    [9, 0, [20, 7]],
    [4, 0, [70, 0]]
  ])('Attention-24 of %i queries, causal: %i, over %j keys that are no padding', (queries, causal, counts) => {
    const lengths = new Tensor('int64', counts.map(BigInt), [2])
    for (const masked of [undefined, mask([queries, 70], 4), mask([2, 1, 1, 70], 4), visible([2, 6, queries, 70], 5)]) {
      const inputs = [noise([2, 6, queries, 8], 1, 2), noise([2, 3, 70, 8], 2, 2), noise([2, 3, 70, 12], 3)]
      const given = [...inputs, masked, undefined, undefined, lengths]
      expectEqual(['onnx', 'Attention', 24], given, { region, attributes: { is_causal: causal } }, TOLERANCE)
    }
  })

  test('Attention-23: keys beyond the mask are hidden, a query that sees none gives zeros', () => {
    const hidden = new Tensor('bool', new Uint8Array(20 * 30).fill(1, 0, 560), [20, 30])
    const inputs = [noise([1, 2, 20, 16], 1), noise([1, 2, 40, 16], 2), noise([1, 2, 40, 16], 3), hidden]
    expectEqual(['onnx', 'Attention', 23], inputs, { region }, TOLERANCE)
  })

  test.each([
    ['one line', [2, 3, 4], [2, 3, 4], undefined],
    ['lines that share keys', [2, 3, 4], [2, 1, 1], undefined],
    ['lines with a mask for each of the last axis', [2, 3, 4], [2, 3, 4], [4, 12, 20]],
    ['lines with a mask for each of the first axis', [2, 1, 2, 2], [2, 1, 2, 2], [2, 1, 1, 1, 1, 20]]
  ])('axes of batches are as many as the file has: %s', (_, batch, shared, masked) => {
    const inputs = [noise([...batch, 12, 16], 1), noise([...shared, 20, 16], 2), noise([...shared, 20, 16], 3)]
    if (masked) inputs.push(mask(masked, 4) as never)
    const attributes = { causal: 'false' }
    expectEqual(['openvino', 'ScaledDotProductAttention', 13], inputs, { region, attributes }, TOLERANCE)
  })

  test('blocks of queries are shared by threads', () => {
    const inputs = [noise([1, 4, 300, 64], 1), noise([1, 4, 300, 64], 2), noise([1, 4, 300, 64], 3)]
    const attributes = { causal: 'false' }
    expectEqual(['openvino', 'ScaledDotProductAttention', 13], inputs, { region, attributes, threads: 2 }, TOLERANCE)
  })
})

describe('a plan that makes one call of products', () => {
  const columns = (k: Tensor): Tensor => {
    const [keys, depth] = k.dims.slice(-2)
    const data = new Float32Array(k.data.length)
    for (let i = 0; i < data.length; i++) {
      const [matrix, row, column] = [Math.floor(i / (keys * depth)), Math.floor(i / depth) % keys, i % depth]
      data[(matrix * depth + column) * keys + row] = Number(k.data[i])
    }
    return new Tensor('float32', data, [...k.dims.slice(0, -2), depth, keys])
  }

  test.each([2, 40])('may give the keys in columns, with %i queries', queries => {
    const [query, key, value] = [noise([2, 3, queries, 20], 1), noise([2, 3, 50, 20], 2), noise([2, 3, 50, 24], 3)]
    const results = [
      { key, keysInColumns: false, isAccelerated: false },
      { key: columns(key), keysInColumns: true, isAccelerated: false },
      { key: columns(key), keysInColumns: true, isAccelerated: true }
    ].map(({ key: given, keysInColumns, isAccelerated }) => {
      const operands = { query, key: given, value }
      const parameters = { causal: false, scale: 0.25, keysInColumns, hidden: HIDDEN, group: 1, ...AS_IT_IS }
      return [...runPlanned(scaledDotProductAttention, operands, parameters, [2, 3, queries, 24], isAccelerated).data]
    }) as number[][]
    expect(results[1]).toEqual(results[0])
    results[2].forEach((value, i) => expect(value).toBeCloseTo(results[0][i], 5))
  })

  test.each([
    [1, 50],
    [50, 1],
    [1, 1]
  ])('and shares heads, has %i keys and %i values stand for as many as the mask has', (keys, values) => {
    const [query, mask] = [noise([2, 6, 40, 20], 1), noise([40, 50], 4)]
    const [key, value] = [noise([2, 3, keys, 20], 2), noise([2, 3, values, 24], 3)]
    const spread = (tensor: Tensor): Tensor => {
      const [rows, columns] = tensor.dims.slice(-2)
      const data = new Float32Array(6 * 50 * columns)
      data.forEach((_, i) => {
        const [head, row] = [Math.floor(i / columns / 50), Math.floor(i / columns) % 50]
        data[i] = Number(tensor.data[(head * rows + (rows === 1 ? 0 : row)) * columns + (i % columns)])
      })
      return new Tensor('float32', data, [2, 3, 50, columns])
    }
    const parameters = { causal: false, scale: 0.25, keysInColumns: false, hidden: HIDDEN, group: 2, ...AS_IT_IS }
    const run = (k: Tensor, v: Tensor, isAccelerated: boolean): Tensor => {
      const operands = { query, key: k, value: v, mask }
      return runPlanned(scaledDotProductAttention, operands, parameters, [2, 6, 40, 24], isAccelerated)
    }
    const expected = run(spread(key), spread(value), false)
    for (const isAccelerated of [false, true])
      expect(differenceOf(run(key, value, isAccelerated), expected)).toBeLessThan(TOLERANCE)
  })

  test('caps scores, and has two masks, to whose rows, keys and batches it is broadcast', () => {
    const size = (max: number) => fc.integer({ min: 1, max })
    const kinds = fc.constantFrom('none', 'full', 'row', 'column', 'one', 'heads')
    const sizes = fc.record({
      heads: size(3),
      queries: fc.oneof(size(5), size(70)),
      keys: fc.oneof(size(9), size(300)),
      depth: size(20),
      width: size(20),
      // Which of the operands have one row, or one batch, for all.
      single: fc.subarray(['queries', 'keys', 'batch'] as const),
      kinds: fc.tuple(kinds, kinds),
      hides: fc.constantFrom(undefined, 0, 1),
      softcap: fc.constantFrom(0, 3),
      keysInColumns: fc.boolean(),
      where: fc.constantFrom(0 as const, 1 as const)
    })
    fc.assert(
      fc.property(sizes, ({ heads, queries, keys, depth, width, single, softcap, keysInColumns, hides, ...given }) => {
        fc.pre(heads * queries * keys * (depth + width) >= 1 << 12)
        const isOne = (name: (typeof single)[number]): boolean => single.includes(name)
        const dimsOf = {
          none: undefined,
          full: [2, heads, queries, keys],
          row: [2, 1, 1, keys],
          column: [queries, 1],
          one: [],
          heads: [heads, 1, keys]
        }
        const masks = given.kinds.map((kind, i) => {
          const dims = dimsOf[kind]
          return dims && (hides === i ? visible(dims, 5 + i) : mask(dims, 7 + i))
        })
        const has = (...kind: readonly string[]): boolean => given.kinds.some(own => kind.includes(own))
        const batch = isOne('batch') && has('full', 'row') ? 1 : 2
        const rows = isOne('queries') && has('full', 'column') ? 1 : queries
        const columns = isOne('keys') && has('full', 'row', 'heads') ? 1 : keys
        const operands = {
          query: noise([batch, heads, rows, depth], 1, 2),
          key: noise([batch, heads, ...(keysInColumns ? [depth, columns] : [columns, depth])], 2, 2),
          value: noise([2, heads, keys, width], 3),
          mask: masks[0],
          further: masks[1]
        }
        const hidden = { where: given.where, score: -2 }
        const own = { ...AS_IT_IS, causal: false, scale: 0.5, keysInColumns, hidden, group: 1, softcap, spreads: true }
        const run = (isAccelerated: boolean): Tensor =>
          runPlanned(scaledDotProductAttention, operands, own, [2, heads, queries, width], isAccelerated)
        expect(differenceOf(run(true), run(false))).toBeLessThan(3 * TOLERANCE)
      }),
      { numRuns: 150, seed: 17 }
    )
  })

  test('reads and writes heads before and behind rows, and reads parts of projections', () => {
    const names = ['query', 'key', 'value', 'result'] as const
    const size = (max: number) => fc.integer({ min: 1, max })
    const sizes = fc.record({
      batch: size(2),
      heads: size(3),
      queries: fc.oneof(size(5), size(70)),
      keys: size(90),
      depth: size(20),
      width: size(20),
      rowsFirst: fc.subarray([...names]),
      inParts: fc.subarray(names.slice(0, 3)),
      first: fc.integer({ min: 0, max: 9 }),
      gap: fc.integer({ min: 0, max: 5 })
    })
    fc.assert(
      fc.property(sizes, ({ batch, heads, queries, keys, depth, width, first, gap, ...given }) => {
        fc.pre(batch * heads * queries * keys * (depth + width) >= 1 << 13)
        const { inParts } = given
        const rowsFirst = given.rowsFirst.filter(name => !inParts.includes(name))
        const plain = {
          query: noise([batch, heads, queries, depth], 1),
          key: noise([batch, heads, keys, depth], 2),
          value: noise([batch, heads, keys, width], 3)
        }
        const parameters = { causal: false, scale: 0.5, keysInColumns: false, hidden: HIDDEN, group: 1 }
        const run = (operands: typeof plain, isPlaced: boolean, isAccelerated: boolean): Tensor => {
          const own = {
            ...parameters,
            ...AS_IT_IS,
            rowsFirst: isPlaced ? Object.fromEntries(rowsFirst.map(name => [name, true])) : {},
            parts: isPlaced ? Object.fromEntries(inParts.map(name => [name, partOf(plain[name as 'key'])])) : {}
          }
          const turns = isPlaced && rowsFirst.includes('result')
          const dims = turns ? [batch, queries, heads, width] : [batch, heads, queries, width]
          return runPlanned(scaledDotProductAttention, operands, own, dims, isAccelerated)
        }
        const partOf = ({ dims }: Tensor): Part => ({ heads, size: dims[3], first, spacing: dims[3] + gap })
        const placed = Object.fromEntries(
          Object.entries(plain).map(([name, tensor]) => [
            name,
            inParts.includes(name as 'key')
              ? projected(tensor, partOf(tensor))
              : rowsFirst.includes(name as 'key')
                ? turned(tensor)
                : tensor
          ])
        ) as typeof plain
        const result = run(plain, false, false)
        const expected = rowsFirst.includes('result') ? turned(result) : result
        for (const isAccelerated of [false, true])
          expect(differenceOf(run(placed, true, isAccelerated), expected)).toBeLessThan(TOLERANCE)
      }),
      { numRuns: 40, seed: 13 }
    )
  })
})

/** Heads in the rows of a projection that has other columns, too. */
function projected({ data, dims }: Tensor, { heads, size, first, spacing }: Part): Tensor<'float32'> {
  const [batch, , rows] = dims
  const columns = first + heads * spacing + 3
  const all = new Float32Array(batch * rows * columns).fill(NaN)
  data.forEach((value, i) => {
    const [row, head, entry] = [
      Math.floor(i / size) % rows,
      Math.floor(i / size / rows) % heads,
      i / size / rows / heads
    ]
    all[(Math.floor(entry) * rows + row) * columns + first + head * spacing + (i % size)] = Number(value)
  })
  return new Tensor('float32', all, [batch, rows, columns])
}

/** The second and the third axis in the other order. */
function turned(tensor: Tensor): Tensor<'float32'> {
  const [a, b, c, d] = tensor.dims
  const data = new Float32Array(tensor.data.length)
  for (let i = 0; i < data.length; i++) {
    const [first, second, third] = [Math.floor(i / (b * c * d)), Math.floor(i / (c * d)) % b, Math.floor(i / d) % c]
    data[((first * c + third) * b + second) * d + (i % d)] = Number(tensor.data[i])
  }
  return new Tensor('float32', data, [a, c, b, d])
}
