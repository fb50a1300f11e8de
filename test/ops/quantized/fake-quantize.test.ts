import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { scalar } from '../values.ts'

const QUANTIZE: Kind = ['openvino', 'FakeQuantize', 1]
const floats = (values: number[], dims = [values.length]): Tensor => new Tensor('float32', values, dims)
const limits = (...values: number[]): Tensor[] => values.map(value => scalar(value, 'float32'))

describe('FakeQuantize', () => {
  test('puts values on levels of the input range and moves them to the output range', () => {
    const out = runTensor(QUANTIZE, [floats([-1, 0, 0.3, 0.5, 0.9, 7]), ...limits(0, 1, 10, 20)], {
      attributes: { levels: 3 }
    })
    expectNear(out, [10, 10, 15, 15, 20, 20])
  })

  test('ties go to the even level', () => {
    expectNear(
      runTensor(QUANTIZE, [floats([0.5, 1.5, 2.5]), ...limits(0, 4, 0, 4)], { attributes: { levels: 5 } }),
      [0, 2, 2]
    )
  })

  test('equal input limits make two values', () => {
    expectNear(
      runTensor(QUANTIZE, [floats([0.4, 0.5, 0.6]), ...limits(0.5, 0.5, -1, 1)], { attributes: { levels: 2 } }),
      [-1, -1, 1]
    )
  })

  test('limits are broadcast to the data, never the other way', () => {
    const column = floats([1, 2], [2, 1])
    const inputs = [floats([1, 1, 1, 1], [2, 2]), ...limits(0), column, ...limits(0), column]
    const out = runTensor(QUANTIZE, inputs, { attributes: { levels: 3 } })
    expectNear(out, [1, 1, 1, 1])
    expect(
      errorOf(() =>
        runTensor(QUANTIZE, [floats([1]), floats([1, 2]), ...limits(1, 0, 1)], { attributes: { levels: 3 } })
      ).code
    ).toBe('shape-mismatch')
    const bounds = Array.from({ length: 4 }, () => fact('float32', [1, 3]))
    expect(dimsOf(inferOp(QUANTIZE, [fact('float32', ['n', 3]), ...bounds], { attributes: { levels: 2 } })[0])).toEqual(
      ['n', 3]
    )
  })

  test('limits may have axes of size 1 before those of the data, as in OpenVINO', () => {
    const data = Array.from({ length: 12 }, (_, i) => i - 4)
    const quantized = (dims: number[], limit: number[]): Tensor => {
      const [low, high] = [limit, limit.map(value => value + 4)]
      const bounds = [low, high, low, high].map(values => floats(values, dims))
      return runTensor(QUANTIZE, [floats(data, [2, 3, 2]), ...bounds], { attributes: { levels: 5 } })
    }
    const within = (value: number, low: number): number => Math.max(low, Math.min(low + 4, value))
    const out = quantized([1, 1, 1, 1], [0])
    expect(out.dims).toEqual([2, 3, 2])
    expectNear(
      out,
      data.map(value => within(value, 0))
    )
    expectNear(
      quantized([1, 1, 1, 3, 1], [-2, 0, 3]),
      data.map((value, i) => within(value, [-2, 0, 3][(i >> 1) % 3]))
    )
    expect(errorOf(() => quantized([2, 1, 1, 1], [0, 1])).code).toBe('shape-mismatch')
    const bounds = Array.from({ length: 4 }, () => fact('float32', ['k', 1, 3]))
    expect(dimsOf(inferOp(QUANTIZE, [fact('float32', ['n', 3]), ...bounds], { attributes: { levels: 2 } })[0])).toEqual(
      ['n', 3]
    )
    const mode = { auto_broadcast: 'pdpd', levels: 5 }
    const many = Array.from({ length: 4 }, () => floats([1], [1, 1]))
    expect(
      errorOf(() =>
        runTensor(QUANTIZE, [floats([1]), ...many], {
          attributes: { ...mode, 'auto_broadcast.auto_broadcast_axis': -1 }
        })
      ).code
    ).toBe('shape-mismatch')
  })

  test('needs two levels', () => {
    expect(
      errorOf(() => runTensor(QUANTIZE, [floats([1]), ...limits(0, 1, 0, 1)], { attributes: { levels: 1 } })).code
    ).toBe('unknown-attribute-value')
  })
})

describe('FakeConvert', () => {
  const convert = (x: number[], attributes: Record<string, string>, ...inputs: Tensor[]): Tensor =>
    runTensor(['openvino', 'FakeConvert', 13], [floats(x), ...inputs], { attributes })

  test('rounds to the 8-bit type, scaled and shifted', () => {
    expectNear(convert([1.06, 1.07, 1e6], { destination_type: 'f8e4m3' }, ...limits(1)), [1, 1.125, 448])
    expectNear(convert([1.1, 1.2], { destination_type: 'f8e5m2' }, ...limits(1)), [1, 1.25])
    expectNear(convert([2.1], { destination_type: 'f8e4m3' }, ...limits(2, 1)), [2.125])
  })
})
