import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { type CallOptions, dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { scalar } from '../values.ts'

const kind = (type: string): Kind => ['onnx', type, 1, 'com.microsoft']
const u8 = (values: readonly number[], dims: readonly number[] = [values.length]): Tensor =>
  new Tensor('uint8', [...values], dims)
const i8 = (values: readonly number[], dims: readonly number[] = [values.length]): Tensor =>
  new Tensor('int8', [...values], dims)
const floats = (values: readonly number[], dims: readonly number[] = [values.length]): Tensor =>
  new Tensor('float32', [...values], dims)
const one = (value: number): Tensor => scalar(value, 'float32')
const A = u8([1, 2, 3, 4, 5, 6], [2, 3])
const B = i8([1, -2, 3, 4, 5, -6], [3, 2])

// Results are those of ONNX Runtime 1.32.

describe('MatMulIntegerToFloat', () => {
  const product = (...inputs: (Tensor | undefined)[]): Tensor => runTensor(kind('MatMulIntegerToFloat'), inputs)

  test('scales exact sums and adds a bias; columns may have scales and zero points', () => {
    const out = product(A, B, one(0.5), floats([1, 0.25]), scalar(1, 'uint8'), i8([1, -1]), floats([10, 20]))
    expect(out).toMatchObject({ type: 'float32', dims: [2, 2] })
    expectNear(out, [15, 19.375, 24, 19])
    expectNear(product(A, B, one(1), one(1)), [22, -12, 49, -24])
  })

  test('columns may have the scales of A', () => {
    expectNear(product(A, B, floats([1, 0.25]), one(0.5)), [11, -1.5, 24.5, -3])
    expectNear(product(A, B, floats([1, 0.25]), floats([2, 3])), [44, -9, 98, -18])
  })

  test('multiplies batches, each with scales of its own', () => {
    const batch = u8([...(A.data as Uint8Array), ...(A.data as Uint8Array)], [2, 2, 3])
    const other = i8([...(B.data as Int8Array), ...(B.data as Int8Array)], [2, 3, 2])
    expectNear(product(batch, other, one(1), floats([1, 2, 3, 4], [2, 1, 2])), [22, -24, 49, -48, 66, -48, 147, -96])
  })

  test('multiplies lists', () => {
    expectNear(product(A, i8([1, 2, 3]), one(1), one(1), undefined, undefined, floats([5])), [19, 37])
    expectNear(product(u8([1, 2, 3]), B, one(1), one(1), undefined, undefined, floats([5, 6])), [27, -6])
    expect(product(u8([1, 2]), u8([3, 4]), one(2), one(1))).toMatchObject({ dims: [], data: new Float32Array([22]) })
  })

  test('gives float16 for scales of float16', () => {
    const half = new Tensor('float16', new Uint16Array([0x3800]), [])
    const out = product(u8([3], [1, 1]), u8([5], [1, 1]), half, half)
    expect(out.type).toBe('float16')
    expect([...out.data]).toEqual([0x4380])
  })

  test('sums wrap in int32', () => {
    const long = u8(new Array<number>(40000).fill(255), [1, 40000])
    const out = product(long, u8([...(long.data as Uint8Array)], [40000, 1]), one(1), one(1))
    expectNear(out, [40000 * 65025 - 2 ** 32])
  })

  test('refuses what does not fit', () => {
    expect(errorOf(() => product(A, B, floats([1, 2, 3]), one(1))).code).toBe('dims-mismatch')
    expect(errorOf(() => product(A, B, one(1), floats([1, 2, 3]))).code).toBe('shape-mismatch')
    expect(errorOf(() => product(A, B, one(1), floats([1, 2, 3], [3, 1]))).code).toBe('shape-mismatch')
    expect(errorOf(() => product(A, i8([1, 2, 3]), one(1), floats([1, 2, 3]))).code).toBe('shape-mismatch')
    expect(errorOf(() => product(A, A, one(1), one(1))).code).toBe('shape-mismatch')
    const withBias = (bias: Tensor): unknown => product(A, B, one(1), one(1), undefined, undefined, bias)
    expect(errorOf(() => withBias(floats([1]))).code).toBe('dims-mismatch')
    expect(errorOf(() => withBias(floats([1, 2], [1, 2]))).code).toBe('rank-mismatch')
  })
})

describe('DynamicQuantizeMatMul', () => {
  const product = (...inputs: (Tensor | undefined)[]): Tensor => runTensor(kind('DynamicQuantizeMatMul'), inputs)

  test('quantizes the first factor over its range with 0', () => {
    const a = floats([-1, 0, 3, 4], [2, 2])
    const b = i8([1, -2, 3, 4], [2, 2])
    expectNear(product(a, b, floats([0.5, 2]), i8([1, 0]), floats([10, 20])), [10, 24, 14, 40])
    // Codes are 0, 51, 204, 255 by a scale of 5 / 255 and a zero point of 51.
    expectNear(product(floats([-1, 0.01, 3, 4], [2, 2]), b, one(1)), [-0.9411765, 2.0784314, 15, 10])
  })

  test('a factor without elements gives the bias', () => {
    expectNear(product(floats([], [1, 0]), i8([], [0, 2]), one(1), undefined, floats([3, 4])), [3, 4])
  })

  test('keeps symbols', () => {
    const facts = [fact('float32', ['n', 's', 3]), fact('uint8', [3, 'm']), fact('float32', ['m'])]
    const [result] = inferOp(kind('DynamicQuantizeMatMul'), facts)
    expect(result).toMatchObject({ type: 'float32' })
    expect(dimsOf(result)).toEqual(['n', 's', 'm'])
  })
})

describe('QGemm', () => {
  const weights = i8([1, 3, 5, -2, 4, -6], [2, 3])
  const run = (inputs: (Tensor | undefined)[], attributes: CallOptions['attributes'] = {}): Tensor =>
    runTensor(kind('QGemm'), inputs, { attributes })
  const a = [A, one(0.5), scalar(1, 'uint8')]
  const b = [weights, floats([1, 0.25]), i8([1, -1])]
  const c = new Tensor('int32', [10, -3])

  test('C counts in units of both scales; alpha scales it too', () => {
    const out = run([...a, ...b, c], { transB: 1, alpha: 2 })
    expect(out).toMatchObject({ type: 'float32', dims: [2, 2] })
    expectNear(out, [20, -2, 38, -2.75])
  })

  test('is quantized with a zero point of the result, and counts in its scale without one', () => {
    const out = run([...a, ...b, c, one(0.5), scalar(20, 'uint8')], { transB: 1, alpha: 2 })
    expect(out.type).toBe('uint8')
    expect([...out.data]).toEqual([60, 16, 96, 14])
    const plain = [A, one(1), scalar(0, 'uint8'), B, one(1), scalar(0, 'int8'), undefined]
    expect(run([...plain, one(0.5)])).toMatchObject({ type: 'float32', data: new Float32Array([44, -24, 98, -48]) })
    expect([...run([...plain, undefined, scalar(3, 'uint8')]).data]).toEqual([25, 0, 52, 0])
    expect(run([...plain, one(1), scalar(-3, 'int8')])).toMatchObject({
      type: 'int8',
      data: new Int8Array([19, -15, 46, -27])
    })
  })

  test('transposes the first factor', () => {
    const tall = u8([1, 2, 3, 4, 5, 6], [3, 2])
    const columns = i8([1, 3, 5, -2, 4, -6], [3, 2])
    expectNear(run([tall, ...a.slice(1), columns, ...b.slice(1)], { transA: 1 }), [10, -2.75, 13.5, -3])
  })

  test('C is broadcast to the product', () => {
    const plain = [A, one(1), scalar(0, 'uint8'), B, one(1), scalar(0, 'int8')]
    expectNear(run([...plain, scalar(7, 'int32')]), [29, -5, 56, -17])
    expectNear(run([...plain, new Tensor('int32', [7, 9], [2, 1])]), [29, -5, 58, -15])
    expect(errorOf(() => run([...plain, new Tensor('int32', [7, 9, 1])])).code).toBe('shape-mismatch')
  })

  test('refuses what does not fit', () => {
    const call = (changes: Partial<Record<number, Tensor>>): unknown =>
      run([A, one(1), scalar(0, 'uint8'), B, one(1), scalar(0, 'int8')].map((input, i) => changes[i] ?? input))
    expect(errorOf(() => call({ 0: u8([1, 2, 3]) })).code).toBe('rank-mismatch')
    expect(errorOf(() => call({ 0: u8([1, 2], [1, 2]) })).code).toBe('shape-mismatch')
    expect(errorOf(() => call({ 1: floats([1, 2]) })).code).toBe('dims-mismatch')
    expect(errorOf(() => call({ 4: floats([1, 2, 3]) })).code).toBe('dims-mismatch')
    expect(errorOf(() => call({ 5: i8([1, 2], [1, 2]) })).code).toBe('rank-mismatch')
  })

  test('keeps symbols', () => {
    const facts = [fact('uint8', ['n', 'k']), one(1), scalar(0, 'uint8'), fact('int8', ['m', 'k']), one(1)]
    const [result] = inferOp(kind('QGemm'), [...facts, scalar(0, 'int8')], { attributes: { transB: 1 } })
    expect(result).toMatchObject({ type: 'float32' })
    expect(dimsOf(result)).toEqual(['n', 'm'])
  })
})
