import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { iota, scalar, valuesOf } from '../values.ts'

const range = (start: Tensor, limit: Tensor, delta: Tensor): unknown[] => [
  ...runTensor(['onnx', 'Range', 11], [start, limit, delta]).data
]
const floats = (...values: number[]): [Tensor, Tensor, Tensor] =>
  values.map(value => new Tensor('float32', [value], [])) as [Tensor, Tensor, Tensor]
const longs = (...values: bigint[]): [Tensor, Tensor, Tensor] =>
  values.map(value => new Tensor('int64', [value], [])) as [Tensor, Tensor, Tensor]

describe('ONNX Range', () => {
  test('goes from start to before limit', () => {
    expect(range(scalar(3), scalar(9), scalar(3))).toEqual([3n, 6n])
    expect(range(scalar(10, 'int32'), scalar(4, 'int32'), scalar(-2, 'int32'))).toEqual([10, 8, 6])
    expect(range(scalar(2 ** 31 - 5, 'int32'), scalar(2 ** 31 - 1, 'int32'), scalar(3, 'int32'))).toEqual([
      2 ** 31 - 5,
      2 ** 31 - 2
    ])
    expect(range(scalar(5), scalar(5), scalar(1))).toEqual([])
    expect(range(scalar(0), scalar(5), scalar(-1))).toEqual([])
  })

  test('counts floats in double precision and rounds each element once', () => {
    expect(range(...floats(0, 1, 0.1))).toEqual([
      ...new Float32Array(Array.from({ length: 10 }, (_, i) => i * Math.fround(0.1)))
    ])
    expect(range(...floats(0, 0.6, 0.1))).toHaveLength(7)
    expect(range(...floats(0, 0.7, 0.1))).toHaveLength(7)
  })

  test('long ranges of 64-bit integers carry from their low into their high halves', () => {
    const bounds = fc.record({ start: fc.bigInt(-(2n ** 62n), 2n ** 62n), step: fc.bigInt(-(2n ** 50n), 2n ** 50n) })
    fc.assert(
      fc.property(bounds, fc.integer({ min: 1, max: 300 }), ({ start, step }, count) => {
        fc.pre(step !== 0n)
        const wanted = Array.from({ length: count }, (_, i) => start + BigInt(i) * step)
        expect(range(...longs(start, start + BigInt(count) * step, step))).toEqual(wanted)
      }),
      { numRuns: 60, seed: 3 }
    )
    expect(range(...longs(2n ** 32n - 2n, 2n ** 32n + 2n, 1n))).toEqual([-2n, -1n, 0n, 1n].map(n => 2n ** 32n + n))
  })

  test('integers of 64 bits stay exact', () => {
    const big = 2n ** 62n
    expect(range(...longs(big + 1n, big + 8n, 3n))).toEqual([big + 1n, big + 4n, big + 7n])
    expect(range(...longs(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 63n - 1n))).toEqual([-(2n ** 63n), -1n, 2n ** 63n - 2n])
  })

  test('long ranges go in blocks', () => {
    const out = range(scalar(7), scalar(7 + 3 * 40_000), scalar(3))
    expect([out.length, out[16_384], out[39_999]]).toEqual([40_000, 7n + 3n * 16_384n, 7n + 3n * 39_999n])
  })

  test('refuses a step of 0, infinite ends, lists and endless ranges', () => {
    expect(errorOf(() => range(scalar(0), scalar(1), scalar(0))).code).toBe('value-out-of-range')
    expect(errorOf(() => range(...floats(0, Infinity, 1))).code).toBe('value-out-of-range')
    expect(errorOf(() => range(scalar(0), scalar(1), iota([2], 'int64'))).code).toBe('rank-mismatch')
    expect(errorOf(() => range(...longs(0n, 2n ** 62n, 1n))).code).toBe('limit-exceeded')
    expect(errorOf(() => range(scalar(0), scalar(1), scalar(1, 'int32'))).code).toBe('type-mismatch')
  })

  test('version 27 computes float16 and bfloat16 in the stash type', () => {
    const [start, limit, delta] = [0, 0x7bff, 0x3c00].map(bits => new Tensor('float16', new Uint16Array([bits]), []))
    const out = runTensor(['onnx', 'Range', 27], [start, limit, delta])
    expect([out.type, out.dims]).toEqual(['float16', [65504]])
    expect(out.data[65503]).toBe(0x7bff)
    expect(
      errorOf(() => runTensor(['onnx', 'Range', 27], [start, limit, delta], { attributes: { stash_type: 10 } })).code
    ).toBe('unknown-attribute-value')
    expect(errorOf(() => range(start, limit, delta)).code).toBe('type-not-allowed')
  })
})

describe('OpenVINO Range', () => {
  test('Range-1 keeps the type of its inputs', () => {
    expect(
      runTensor(['openvino', 'Range', 1], [scalar(0, 'uint8'), scalar(5, 'uint8'), scalar(2, 'uint8')])
    ).toMatchObject({ type: 'uint8', data: new Uint8Array([0, 2, 4]) })
    expect(errorOf(() => runTensor(['openvino', 'Range', 1], [scalar(0), scalar(5), scalar(2, 'int32')])).code).toBe(
      'type-mismatch'
    )
    expect(
      errorOf(() => runTensor(['openvino', 'Range', 1], [scalar(0, 'bool'), scalar(1, 'bool'), scalar(1, 'bool')])).code
    ).toBe('type-not-allowed')
  })

  test('Range-4 rounds toward zero for an integer output and mixes types', () => {
    const of = (type: string, ...inputs: Tensor[]): Tensor =>
      runTensor(['openvino', 'Range', 4], inputs, { attributes: { output_type: type } })
    expect([...of('i32', ...floats(-1.5, 2.5, 1)).data]).toEqual([-1, 0, 1])
    expect([...of('f32', scalar(1, 'int32'), scalar(6), floats(2)[0]).data]).toEqual([1, 3, 5])
    expect([...of('i64', ...floats(0.5, 3.9, 1)).data]).toEqual([0n, 1n, 2n])
    expect(errorOf(() => of('i32', ...floats(0, 5, 0.5))).code).toBe('value-out-of-range')
    expect(errorOf(() => of('boolean', ...floats(0, 5, 1))).code).toBe('unknown-attribute-value')
  })
})

describe('the shape rule of Range', () => {
  const n = inferOp(['onnx', 'Size', 13], [fact('float32', ['n'])])[0]
  const m = inferOp(['onnx', 'Size', 13], [fact('float32', ['m'])])[0]
  const of = (...inputs: Parameters<typeof inferOp>[1]): unknown => dimsOf(inferOp(['onnx', 'Range', 11], inputs)[0])

  test('a symbolic limit is the length', () => {
    expect(of(scalar(0), n, scalar(1))).toEqual(['n'])
    expect(of(scalar(-2), n, scalar(1))).toEqual(['n+2'])
    expect(of(n, inferOp(['onnx', 'Add', 14], [n, m])[0], scalar(1))).toEqual(['m'])
    expect(of(n, scalar(0), scalar(-1))).toEqual(['n'])
    expect(
      dimsOf(inferOp(['openvino', 'Range', 4], [scalar(0), n, floats(1)[0]], { attributes: { output_type: 'f32' } })[0])
    ).toEqual(['n'])
  })

  test('what is not known leaves the length open', () => {
    expect(of(scalar(0), fact('int64', []), scalar(1))).toEqual(['?'])
    expect(of(fact('float32', []), fact('float32'), fact('float32', []))).toEqual(['?'])
    expect(valuesOf(inferOp(['onnx', 'Range', 11], [scalar(0), scalar(3), scalar(1)])[0])).toEqual([0n, 1n, 2n])
  })
})

describe('Range of com.microsoft', () => {
  const kind = ['onnx', 'Range', 1, 'com.microsoft'] as const

  test('has a step of 1 where none is given, in every type', () => {
    expect([...runTensor(kind, [scalar(5, 'int16'), scalar(9, 'int16')]).data]).toEqual([5, 6, 7, 8])
    expect([...runTensor(kind, [scalar(0.5, 'float64'), scalar(2, 'float64')]).data]).toEqual([0.5, 1.5])
    expect([...runTensor(kind, [scalar(5), scalar(1)]).data]).toEqual([])
    expect([...runTensor(kind, [scalar(3), scalar(9), scalar(3)]).data]).toEqual([3n, 6n])
    expect(valuesOf(inferOp(kind, [scalar(3), scalar(5)])[0])).toEqual([3n, 4n])
  })

  test('refuses a step of 0, as the others refuse to be without a step', () => {
    expect(errorOf(() => runTensor(kind, [scalar(5), scalar(9), scalar(0)])).code).toBe('value-out-of-range')
    expect(errorOf(() => runTensor(['openvino', 'Range', 1], [scalar(5), scalar(9)])).code).toBe('wrong-input-count')
    expect(errorOf(() => runTensor(['onnx', 'Range', 11], [scalar(5), scalar(9)])).code).toBe('wrong-input-count')
  })
})
