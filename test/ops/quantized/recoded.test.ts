import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { scalar } from '../values.ts'

const kind = (type: string): Kind => ['onnx', type, 1, 'com.microsoft']
const u8 = (values: readonly number[], dims: readonly number[] = [values.length]): Tensor =>
  new Tensor('uint8', [...values], dims)
const i8 = (...values: number[]): Tensor => new Tensor('int8', values)
const scale = (value: number): Tensor => scalar(value, 'float32')
const zero = (value: number): Tensor => scalar(value, 'uint8')

// Results are those of ONNX Runtime 1.32.

describe('quantized activations', () => {
  test('QLinearLeakyRelu saturates', () => {
    const zeros = [0, -20].map(value => scalar(value, 'int8'))
    const out = runTensor(
      kind('QLinearLeakyRelu'),
      [i8(-128, -10, 0, 10, 127), scale(0.5), zeros[0], scale(0.25), zeros[1]],
      { attributes: { alpha: 0.5 } }
    )
    expect(out.type).toBe('int8')
    expect([...out.data]).toEqual([-128, -30, -20, 0, 127])
  })

  test('QLinearLeakyRelu has a slope of 0.01 by default', () => {
    const out = runTensor(kind('QLinearLeakyRelu'), [i8(-100, 3), scale(1), undefined, scale(0.5), undefined])
    expect([...out.data]).toEqual([-2, 6])
  })

  test('QLinearSigmoid', () => {
    const inputs = [u8([0, 100, 128, 160, 255]), scale(0.05), zero(128), scale(1 / 256)]
    expect([...runTensor(kind('QLinearSigmoid'), inputs).data]).toEqual([0, 51, 128, 213, 255])
  })

  test('keep the shape, and refuse lists of scales', () => {
    const facts = [fact('float32', []), fact('int8', []), fact('float32', []), fact('int8', [])]
    const [result] = inferOp(kind('QLinearSigmoid'), [fact('int8', ['n', '?']), ...facts])
    expect(result).toMatchObject({ type: 'int8' })
    expect(dimsOf(result)?.[0]).toBe('n')
    const call = (): unknown =>
      runTensor(kind('QLinearSigmoid'), [i8(1), new Tensor('float32', [1, 1]), undefined, scale(1)])
    expect(errorOf(call).code).toBe('dims-mismatch')
  })
})

describe('QLinearWhere', () => {
  const condition = new Tensor('bool', [1, 0, 1], [1, 3])
  const x = [u8([10, 20, 30]), scale(0.5), zero(10)]
  const y = [u8([200, 100], [2, 1]), scale(1), zero(100)]

  test('brings both sides into the quantization of the result', () => {
    const out = runTensor(kind('QLinearWhere'), [condition, ...x, ...y, scale(2), zero(5)])
    expect(out).toMatchObject({ type: 'uint8', dims: [2, 3] })
    expect([...out.data]).toEqual([5, 55, 10, 5, 5, 10])
  })

  test('refuses shapes that are not broadcast, and lists of scales', () => {
    const four = [u8([1, 2, 3, 4]), scale(1), zero(0)]
    expect(errorOf(() => runTensor(kind('QLinearWhere'), [condition, ...four, ...y, scale(2), zero(5)])).code).toBe(
      'shape-mismatch'
    )
    const two = [...x.slice(0, 2), u8([0, 0])]
    expect(errorOf(() => runTensor(kind('QLinearWhere'), [condition, ...two, ...y, scale(2), zero(5)])).code).toBe(
      'dims-mismatch'
    )
  })
})

describe('QLinearConcat', () => {
  const first = [u8([10, 20], [1, 2]), scale(0.5), zero(10)]
  const second = [u8([200, 100], [1, 2]), scale(1), zero(100)]
  const join = (axis: number, ...inputs: Tensor[]): Tensor =>
    runTensor(kind('QLinearConcat'), [scale(2), zero(5), ...inputs], { attributes: { axis } })

  test('brings each part into the quantization of the result', () => {
    const rows = join(-2, ...first, ...second)
    expect(rows).toMatchObject({ type: 'uint8', dims: [2, 2] })
    expect([...rows.data]).toEqual([5, 7, 55, 5])
    expect(join(1, ...first, ...second).dims).toEqual([1, 4])
    expect([...join(0, ...first).data]).toEqual([5, 7])
  })

  test('inputs come in threes', () => {
    expect(errorOf(() => join(0)).code).toBe('wrong-input-count')
    expect(errorOf(() => join(0, ...first, second[0])).code).toBe('wrong-input-count')
  })

  test('all codes have one type, all scales another', () => {
    expect(errorOf(() => join(0, i8(1, 2), scale(1), scalar(0, 'int8'))).code).toBe('type-mismatch')
    expect(errorOf(() => join(0, u8([1]), zero(1), zero(0))).code).toBe('type-mismatch')
    expect(errorOf(() => join(0, u8([1]), scale(1), scalar(0, 'int8'))).code).toBe('type-mismatch')
    expect(errorOf(() => join(0, u8([1]), new Tensor('float32', [1, 2]), zero(0))).code).toBe('dims-mismatch')
    expect(errorOf(() => join(0, ...first, u8([1]), scale(1), zero(0))).code).toBe('rank-mismatch')
    expect(errorOf(() => join(2, ...first)).code).toBe('axis-out-of-range')
  })

  test('adds up dims along the axis, symbols too', () => {
    const [result] = inferOp(
      kind('QLinearConcat'),
      [scale(1), zero(0), fact('uint8', ['n', 2]), scale(1), zero(0), fact('uint8', ['m', 2]), scale(1), zero(0)],
      { attributes: { axis: 0 } }
    )
    expect(dimsOf(result)).toEqual(['m+n', 2])
  })
})
