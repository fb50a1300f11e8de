import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { isTensor, Tensor } from '../../../src/tensor/tensor.ts'
import { wasm } from '../../../src/wasm/wasm.ts'
import { type Kind, runOp } from '../../ops/harness.ts'
import { type AcceleratedOptions, differenceOf, expectEqual, noise, onHeap, runAccelerated } from '../compare.ts'

const HALVES = ['float16', 'bfloat16'] as const
type Half = (typeof HALVES)[number]

/** Half a unit of the largest output, and what float32 adds where the result is near a tie. */
const TOLERANCE = { float16: 2 ** -11 + 2 ** -16, bfloat16: 2 ** -8 + 2 ** -16 }

const narrow = (type: Half, tensor: Tensor): Tensor => convert(tensor, type)
const addressOf = (tensor: Tensor): number => (tensor.data as Float32Array).byteOffset

/** Holds a call of 16 bits against the reference of float32 for the same numbers. */
function expectNear(
  type: Half,
  kind: Kind,
  inputs: readonly (Tensor | undefined)[],
  options: AcceleratedOptions = {}
): void {
  const given = inputs.map(tensor => (tensor?.type === 'float32' ? narrow(type, tensor) : tensor))
  const wide = given.map(tensor => (tensor?.type === type ? convert(tensor, 'float32') : tensor))
  const expected = runOp(kind, wide, options)
  const types = runOp(kind, given, options).map(value => value?.type)
  runAccelerated(kind, given, options).forEach((found, i) => {
    const value = expected[i]
    if (options.unwanted?.includes(i)) return
    if (!isTensor(value) || !isTensor(found)) return expect.unreachable()
    expect(found.type).toBe(types[i])
    expect(found.dims).toEqual(value.dims)
    if (found.type === 'int64') expect(found.data).toEqual(value.data)
    else expect(differenceOf(convert(found, 'float32'), value)).toBeLessThanOrEqual(TOLERANCE[type])
  })
}

describe.each(HALVES)('%s', type => {
  const isBrain = Number(type === 'bfloat16')

  test('is widened in WebAssembly as it is in TypeScript: every code, wherever a line ends', () => {
    const { widenHalves } = wasm()!.compute().exports
    const codes = new Tensor(
      type,
      Uint16Array.from({ length: 65536 }, (_, i) => i),
      [65536]
    )
    const source = onHeap(codes)
    const target = onHeap(new Tensor('float32', new Float32Array(65536), [65536]))
    for (const count of [65536, 65531]) {
      widenHalves(addressOf(source), addressOf(target), count, isBrain)
      expect(differenceOf(target, convert(codes, 'float32'))).toBe(0)
    }
  })

  test('is narrowed in WebAssembly as it is in TypeScript: ties, edges and noise of all magnitudes', () => {
    const { narrowHalves } = wasm()!.compute().exports
    const numbers: number[] = [Infinity, -Infinity, NaN, 65519.996, 65520, 65536, 3.4e38, 2 ** -24, 2 ** -25, 1e-45, -0]
    const magnitudes = noise([4000], 1).data
    const factors = noise([4000], 2).data
    for (let i = 0; i < 4000; i++) numbers.push(magnitudes[i] * 2 ** Math.round(factors[i] * 40))
    for (let i = 0; i < 4096; i++) numbers.push((1 + i / 2048) * 2 ** ((i % 34) - 20))
    const floats = new Tensor('float32', Float32Array.from(numbers), [numbers.length])
    const source = onHeap(floats)
    const target = onHeap(new Tensor(type, new Uint16Array(numbers.length), [numbers.length]))
    narrowHalves(addressOf(source), addressOf(target), numbers.length, isBrain)
    const expected = convert(floats, type)
    expect(differenceOf(convert(target, 'float32'), convert(expected, 'float32'))).toBe(0)
  })

  test('is converted to other floats of 16 bits by way of float32, and copied by the reference', () => {
    const x = narrow(type, noise([900], 1))
    const like = (other: 'float16' | 'bfloat16'): Tensor => new Tensor(other, new Uint16Array(1), [1])
    const other = isBrain ? 'float16' : 'bfloat16'
    expectEqual(['onnx', 'Cast', 13], [x], { attributes: { to: isBrain ? 10 : 16 } }, 0)
    expectEqual(['onnx', 'CastLike', 15], [x, like(other)], {}, 0)
    expect(() => runAccelerated(['onnx', 'CastLike', 15], [x, like(type)])).toThrow('no accelerated kernel')
  })

  describe.each(['heap', 'array'] as const)('calls of which run as float32 does, operands in an %s', region => {
    test('products, plain and packed', () => {
      for (const [m, n, k] of [
        [1, 70, 90],
        [9, 33, 130]
      ]) {
        const inputs = [noise([m, k], 1), noise([k, n], 2)]
        expectNear(type, ['onnx', 'MatMul', 13], inputs, { region })
        expectNear(type, ['onnx', 'MatMul', 13], inputs, { region, constants: { b: 1 } })
        const all = [...inputs, noise([n], 3)]
        expectNear(type, ['onnx', 'Gemm', 13], all, { region, constants: { b: 1, c: 2 } })
        expectNear(type, ['onnx', 'Gemm', 13], all, { region, constants: { c: 2 } })
      }
    })

    test.each([
      [[1, 16, 11, 13], [20, 16, 3, 3], 1],
      [[2, 6, 9, 9], [6, 1, 3, 3], 6],
      [[1, 6, 10, 10], [8, 3, 5, 5], 2]
    ])('convolutions of %j by %j, %i groups', (x, w, group) => {
      const inputs = [noise(x, 1), noise(w, 2), noise([w[0]], 3)]
      const attributes = { group }
      expectNear(type, ['onnx', 'Conv', 22], inputs, { region, attributes })
      expectNear(type, ['onnx', 'Conv', 22], inputs, { region, attributes, constants: { w: 1, b: 2 } })
    })

    test.each([
      ['Add', 14, 2],
      ['Mul', 14, 2],
      ['Relu', 14, 1],
      ['Sigmoid', 13, 1],
      ['Gelu', 20, 1],
      ['LogSoftmax', 13, 1],
      ['ReduceMean', 18, 1],
      ['Sqrt', 13, 1]
    ] as const)('%s', (name, version, count) => {
      const inputs = [noise([5, 600], 1, 3), noise([600], 2)].slice(0, count)
      expectNear(type, ['onnx', name, version], inputs, { region })
    })

    test('LayerNormalization of which nobody wants mean and deviation', () => {
      const inputs = [noise([6, 200], 1), noise([200], 2), noise([200], 3)]
      expectNear(type, ['onnx', 'LayerNormalization', 17], inputs, { region, constants: { scale: 1, bias: 2 } })
    })

    test('SkipLayerNormalization and the sum that it normalizes, with statistics and without', () => {
      const inputs = [noise([2, 3, 96], 1), noise([3, 96], 2), noise([96], 3), noise([96], 4), noise([96], 5)]
      const kind: Kind = ['onnx', 'SkipLayerNormalization', 1, 'com.microsoft']
      const options = { region, outputs: 4, constants: { scale: 2 } }
      expectNear(type, kind, inputs, options)
      expectNear(type, kind, inputs, { ...options, unwanted: [1, 2] })
      expectNear(type, kind, inputs, { ...options, unwanted: [1, 2, 3] })
    })

    test('MaxPool with indices', () => {
      expectNear(type, ['onnx', 'MaxPool', 22], [noise([1, 3, 20, 20], 1)], {
        region,
        outputs: 2,
        attributes: { kernel_shape: [3, 3], strides: [2, 2] }
      })
    })

    test('LSTM with the states of all steps and the last ones', () => {
      const inputs = [noise([6, 2, 9], 1), noise([1, 40, 9], 2, 0.3), noise([1, 40, 10], 3, 0.3)]
      const attributes = { hidden_size: 10 }
      expectNear(type, ['onnx', 'LSTM', 22], inputs, { region, outputs: 3, attributes, constants: { w: 1, r: 2 } })
    })

    test.each([
      ['keys that are present ones as they are', 0],
      ['keys behind those of the past', 7]
    ])('Attention, %s', (_, past) => {
      const heads = (rows: number, seed: number): Tensor => noise([2, 3, rows, 16], seed)
      const inputs = [heads(9, 1), heads(20, 2), heads(20, 3)]
      const cache = past > 0 ? [undefined, heads(past, 4), heads(past, 5)] : []
      expectNear(type, ['onnx', 'Attention', 23], [...inputs, ...cache], { region, outputs: 3 })
    })

    test.each([1, 9])('Attention of %i queries over a past, with masks and scores', queries => {
      const keys = 40 + queries
      const inputs = [noise([2, queries, 64], 1), noise([2, queries, 32], 2), noise([2, queries, 32], 3)]
      const cache = [noise([2, 2, 40, 16], 4), noise([2, 2, 40, 16], 5)]
      const visible = Uint8Array.from({ length: keys }, (_, i) => Number(i % 3 > 0))
      const masks = [undefined, noise([4, queries, keys], 6), new Tensor('bool', visible, [1, keys])]
      for (const mask of masks)
        for (const mode of [0, 2, 3])
          for (const unwanted of [[], [1, 2]]) {
            const attributes = { q_num_heads: 4, kv_num_heads: 2, is_causal: 1, qk_matmul_output_mode: mode }
            const options = { region, outputs: mode === 0 ? 3 : 4, attributes, unwanted }
            expectNear(type, ['onnx', 'Attention', 23], [...inputs, mask, ...cache], options)
          }
      const short = noise([queries, 30], 7)
      const attributes = { q_num_heads: 4, kv_num_heads: 2 }
      for (const outputs of [1, 3, 4])
        expectNear(type, ['onnx', 'Attention', 23], [...inputs, short, ...cache], { region, outputs, attributes })
    })

    test('MultiHeadAttention, but not where scores are a result, which have numbers of their type', () => {
      const rows = [2, 9, 24]
      const given = [noise(rows, 1), noise(rows, 2), noise(rows, 3)].map(tensor => narrow(type, tensor))
      const kind: Kind = ['onnx', 'MultiHeadAttention', 1, 'com.microsoft']
      const attributes = { num_heads: 3, unidirectional: 1 }
      expectNear(type, kind, given, { attributes, outputs: 3 })
      expect(() => runAccelerated(kind, given, { attributes, outputs: 4 })).toThrow('no accelerated kernel')
    })

    test.each([
      [20, 0],
      [1, 9],
      [3, 0]
    ])('GroupQueryAttention of %i queries over a cache with room for %i rows more', (fresh, room) => {
      const total = 5 + fresh
      const rows = room === 0 ? 5 : total + room
      const cache = [noise([2, 2, rows, 16], 4), noise([2, 2, rows, 16], 5)]
      const counts = [new Tensor('int32', [total - 1, total - 1], [2]), new Tensor('int32', [total], [1])]
      const heads = [noise([2, fresh, 64], 1), noise([2, fresh, 32], 2), noise([2, fresh, 32], 3)]
      const tables = [noise([40, 8], 6), noise([40, 8], 7)]
      const bias = noise([1, 4, fresh, total], 8)
      const attributes = { num_heads: 4, kv_num_heads: 2 }
      const kind = ['onnx', 'GroupQueryAttention', 1, 'com.microsoft'] as const
      for (const rotates of [0, 1])
        for (const further of [[], [undefined, bias]]) {
          const own = { ...attributes, do_rotary: rotates }
          expectNear(type, kind, [...heads, ...cache, ...counts, ...tables, ...further], {
            region,
            outputs: 3,
            attributes: own
          })
        }
    })

    test.each([
      [1, 0],
      [1, 9],
      [30, 0]
    ])('GroupQueryAttention of one operand, %i queries, with room for %i rows more', (fresh, room) => {
      const total = 40 + fresh
      const rows = room === 0 ? 40 : total + room
      const cache = [noise([2, 2, rows, 16], 4), noise([2, 2, rows, 16], 5)]
      const tables = [noise([90, 8], 6), noise([90, 8], 7)]
      const tokens = Array.from({ length: 2 * fresh }, (_, token) => BigInt(token < fresh ? token + 3 : 88 - token))
      const positions = new Tensor('int64', BigInt64Array.from(tokens), [2, fresh])
      const kind = ['onnx', 'GroupQueryAttention', 1, 'com.microsoft'] as const
      for (const last of [total - 1, total - 5])
        for (const [do_rotary, own] of [
          [0, undefined],
          [1, undefined],
          [1, positions]
        ] as const)
          for (const unwanted of [[], [1, 2]]) {
            const counts = [new Tensor('int32', [total - 1, last], [2]), new Tensor('int32', [total], [1])]
            const attributes = { num_heads: 4, kv_num_heads: 2, do_rotary, qk_output: last === total - 1 ? 1 : 0 }
            const given = [noise([2, fresh, 128], 1), undefined, undefined, ...cache, ...counts, ...tables, own]
            const options = { region, outputs: last === total - 1 ? 4 : 3, attributes, unwanted }
            expectNear(type, kind, given, options)
          }
    })

    test.each([
      [1, 7, 0],
      [20, 7, 0],
      [1, 0, 9],
      [3, 4, 9],
      [30, 12, 0]
    ])('GroupQueryAttention of %i queries in a window of %i keys, with sinks', (fresh, window, room) => {
      const total = 40 + fresh
      const rows = room === 0 ? 40 : total + room
      const cache = [noise([2, 2, rows, 16], 4), noise([2, 2, rows, 16], 5)]
      const heads = [noise([2, fresh, 64], 1), noise([2, fresh, 32], 2), noise([2, fresh, 32], 3)]
      const attributes = { num_heads: 4, kv_num_heads: 2, local_window_size: window === 0 ? -1 : window }
      const kind = ['onnx', 'GroupQueryAttention', 1, 'com.microsoft'] as const
      for (const last of [total - 1, total - 5])
        for (const sinks of [undefined, noise([4], 9, 3)])
          for (const bias of [undefined, noise([1, 4, fresh, total], 8)]) {
            const counts = [new Tensor('int32', [total - 1, last], [2]), new Tensor('int32', [total], [1])]
            const further = [...new Array<undefined>(3).fill(undefined), bias, sinks]
            const smooth = { ...attributes, smooth_softmax: sinks ? -1 : 1 }
            const options = { region, outputs: 3, attributes: smooth }
            expectNear(type, kind, [...heads, ...cache, ...counts, ...further], options)
          }
    })
  })
})
