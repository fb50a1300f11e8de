import { describe, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import fc from '../../fixtures/random-cases.ts'
import { bits, expectEqual, noise } from '../compare.ts'

/** Float sums in another order, and exp by a polynomial. */
const TOLERANCE = 2e-6

const GROUPED = ['onnx', 'GroupQueryAttention', 1, 'com.microsoft'] as const

const mask = (dims: readonly number[], seed: number): Tensor => {
  const values = noise(dims, seed, 4).data.map(value => (value > 2 ? -Infinity : value))
  return new Tensor('float32', values, dims)
}

/** Positions of the fresh rows, from the fourth on, or any of the table. */
function positions(batch: number, fresh: number, total: number, areAny: boolean): Tensor {
  const rows = Array.from({ length: batch * fresh }, (_, token) =>
    areAny && fresh < total ? (token * 7) % (total + 4) : total - fresh + 4 + (token % fresh)
  )
  return new Tensor('int64', BigInt64Array.from(rows, BigInt), [batch, fresh])
}

const positive = (dims: readonly number[], seed: number): Tensor =>
  new Tensor(
    'float32',
    noise(dims, seed).data.map(value => 0.05 + 0.04 * value),
    dims
  )

/** Codes of any value but NaN. */
function codes(type: 'int8' | 'uint8' | 'float8e4m3fn', dims: readonly number[], seed: number): Tensor {
  const tensor = bits(type, dims, seed)
  return new Tensor(
    type,
    (tensor.data as Uint8Array).map(code => code & (type === 'float8e4m3fn' ? 0xbf : 0xff)),
    dims
  )
}

describe.each(['heap', 'array'] as const)('GroupQueryAttention in WebAssembly, operands in an %s', region => {
  test('of grouped heads over a cache equals the reference', () => {
    const size = (max: number) => fc.integer({ min: 1, max })
    const sizes = fc.record({
      batch: size(3),
      shared: size(3),
      group: size(3),
      fresh: fc.oneof(fc.constant(1), size(40)),
      past: fc.integer({ min: 0, max: 90 }),
      room: fc.integer({ min: 0, max: 9 }),
      pairs: size(20),
      causal: fc.boolean(),
      rotates: fc.boolean(),
      packed: fc.boolean(),
      isEven: fc.boolean(),
      window: fc.oneof(fc.constant(0), size(50)),
      sinks: fc.constantFrom('none', 'none', 'given', 'smooth'),
      bias: fc.constantFrom('none', 'none', 'shared', 'own'),
      positions: fc.constantFrom('none', 'none', 'following', 'any'),
      shown: fc.constantFrom(0, 0, 1, 2),
      unwanted: fc.constantFrom([], [], [1], [2], [1, 2], [3])
    })
    fc.assert(
      fc.property(sizes, ({ batch, shared, group, fresh, past, room, pairs, rotates, packed, isEven, ...given }) => {
        const [heads, depth, total] = [shared * group, 2 * pairs, past + fresh]
        const rows = room === 0 ? past : total + room
        const cache = (seed: number): Tensor => noise([batch, shared, rows, depth], seed)
        const lengths = Array.from({ length: batch }, (_, i) => total - 1 - (isEven ? 0 : Math.min(i, past)))
        const width = packed ? heads + 2 * shared : heads
        const inputs = [
          noise([batch, fresh, width * depth], 1, 2),
          packed ? undefined : noise([batch, fresh, shared * depth], 2, 2),
          packed ? undefined : noise([batch, fresh, shared * depth], 3),
          rows > 0 ? cache(4) : undefined,
          rows > 0 ? cache(5) : undefined,
          new Tensor('int32', lengths, [batch]),
          new Tensor('int32', [total], []),
          rotates ? noise([total + 4, pairs], 6) : undefined,
          rotates ? noise([total + 4, pairs], 7) : undefined,
          given.positions === 'none' ? undefined : positions(batch, fresh, total, given.positions === 'any'),
          given.bias === 'none'
            ? undefined
            : mask(given.bias === 'own' ? [batch, heads, fresh, total] : [1, 1, fresh, total], 9),
          given.sinks === 'given' ? noise([heads], 8, 3) : undefined
        ]
        const attributes = {
          num_heads: heads,
          kv_num_heads: shared,
          causal: Number(given.causal),
          do_rotary: Number(rotates),
          local_window_size: given.causal && given.window > 0 ? given.window : -1,
          smooth_softmax: given.sinks === 'smooth' ? 1 : -1,
          qk_output: given.shown
        }
        const options = { region, attributes, outputs: given.shown > 0 ? 4 : 3, unwanted: given.unwanted }
        expectEqual(GROUPED, inputs, options, TOLERANCE)
      }),
      { numRuns: 300, seed: 7 }
    )
  })

  test.each([
    ['int8', 8, 1],
    ['int8', 8, 12],
    ['float8e4m3fn', 8, 3],
    ['uint8', 4, 5]
  ] as const)(
    'of grouped heads over a cache of codes of %s, %i bits, equals the reference: %i queries',
    (type, bits, fresh) => {
      const [batch, shared, heads, depth, past] = [2, 3, 6, 8, 50]
      for (const scales of ['PER_TENSOR', 'PER_CHANNEL'])
        for (const room of [0, 9])
          for (const lengths of [
            [past, past],
            [past, past - 7]
          ]) {
            const total = past + fresh
            const rows = room === 0 ? past : total + room
            const scale = (seed: number): Tensor =>
              scales === 'PER_TENSOR' ? new Tensor('float32', [0.03], [1]) : positive([1, shared, 1, depth], seed)
            const inputs = [
              noise([batch, fresh, heads * depth], 1, 2),
              ...[2, 3].map(seed => noise([batch, fresh, shared * depth], seed, 2)),
              ...[4, 5].map(seed => codes(type, [batch, shared, rows, (depth * bits) / 8], seed)),
              new Tensor(
                'int32',
                lengths.map(length => length + fresh - 1),
                [batch]
              ),
              new Tensor('int32', [total], []),
              ...new Array<undefined>(3).fill(undefined),
              mask([1, 1, fresh, total], 6),
              undefined,
              scale(7),
              scale(8)
            ]
            const attributes = {
              ...{ num_heads: heads, kv_num_heads: shared },
              ...{ kv_cache_bit_width: bits, k_quant_type: scales, v_quant_type: scales }
            }
            expectEqual(GROUPED, inputs, { region, attributes, outputs: 3 }, TOLERANCE)
          }
    }
  )

  test.each([
    [300, 0, 7],
    [300, 0, 128],
    [300, 0, 200],
    [260, 90, 100],
    [1, 400, 30],
    [20, 30, 2 ** 32 + 4],
    [20, 30, 2 ** 40]
  ])('of %i queries after %i keys in a window equals the reference, padding too', (fresh, past, window) => {
    const [shared, depth, total] = [2, 8, past + fresh]
    for (const lengths of [[total - 1], [total - 1, past + Math.ceil(fresh / 3) - 1]]) {
      const batch = lengths.length
      const inputs = [
        noise([batch, fresh, 2 * shared * depth], 1, 2),
        noise([batch, fresh, shared * depth], 2, 2),
        noise([batch, fresh, shared * depth], 3),
        ...[4, 5].map(seed => (past > 0 ? noise([batch, shared, total, depth], seed) : undefined)),
        new Tensor('int32', past > 0 ? lengths.map(() => total - 1) : lengths, [batch]),
        new Tensor('int32', [total], [])
      ]
      const attributes = { num_heads: 2 * shared, kv_num_heads: shared, local_window_size: window }
      expectEqual(GROUPED, inputs, { region, attributes, outputs: 3 }, TOLERANCE)
    }
  })
})
