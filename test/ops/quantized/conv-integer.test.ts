import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const CONV: Kind = ['onnx', 'ConvInteger', 10]
const QLINEAR: Kind = ['onnx', 'QLinearConv', 10]
const bytes = (type: 'int8' | 'uint8', values: number[], dims: number[]): Tensor => new Tensor(type, values, dims)
const zero = (type: 'int8' | 'uint8', value: number): Tensor => new Tensor(type, [value], [])
const scale = (...values: number[]): Tensor => new Tensor('float32', values, values.length === 1 ? [] : undefined)
const x = bytes('uint8', [2, 3, 4], [1, 1, 3])
const w = bytes('int8', [1, 10], [1, 1, 2])

describe('ConvInteger', () => {
  test('sums in int32, zero points taken off first', () => {
    expect([...runTensor(CONV, [x, w]).data]).toEqual([32, 43])
    expect([...runTensor(CONV, [x, w, zero('uint8', 2), zero('int8', 1)]).data]).toEqual([9, 18])
  })

  test('padding counts as the zero point', () => {
    expect([...runTensor(CONV, [x, w, zero('uint8', 3)], { attributes: { pads: [1, 1] } }).data]).toEqual([
      -10, -1, 10, 1
    ])
  })

  test('weights may have a zero point for each channel', () => {
    const weights = bytes('uint8', [200, 250], [2, 1, 1])
    const out = runTensor(CONV, [x, weights, undefined, new Tensor('uint8', [199, 255])])
    expect(out.type).toBe('int32')
    expect([...out.data]).toEqual([2, 3, 4, -10, -15, -20])
  })

  test('refuses zero points that do not fit', () => {
    expect(errorOf(() => runTensor(CONV, [x, w, new Tensor('uint8', [1, 2])])).code).toBe('rank-mismatch')
    expect(errorOf(() => runTensor(CONV, [x, w, zero('uint8', 0), new Tensor('int8', [1, 2])])).code).toBe(
      'dims-mismatch'
    )
    expect(errorOf(() => runTensor(CONV, [x, w, zero('uint8', 0), new Tensor('int8', [1], [1, 1])])).code).toBe(
      'rank-mismatch'
    )
    expect(errorOf(() => runTensor(CONV, [x, w, zero('int8', 0)])).code).toBe('type-mismatch')
  })

  test('gives int32 whatever its inputs are', () => {
    const out = inferOp(CONV, [fact('uint8', ['n', 1, 'w']), fact('int8', [4, 1, 3])])[0]
    expect(out).toMatchObject({ type: 'int32' })
    expect(dimsOf(out)).toEqual(['n', 4, 'w-2'])
  })
})

describe('QLinearConv', () => {
  interface Changes {
    w?: Tensor
    wScale?: Tensor
    wZero?: Tensor
    yScale?: number
    yZero?: Tensor
    bias?: Tensor
  }
  const run = (changes: Changes = {}): Tensor =>
    runTensor(QLINEAR, [
      x,
      scale(1),
      zero('uint8', 0),
      changes.w ?? w,
      changes.wScale ?? scale(1),
      changes.wZero ?? zero('int8', 0),
      scale(changes.yScale ?? 1),
      changes.yZero ?? zero('uint8', 0),
      changes.bias
    ])

  test('scales, rounds half to even and adds the zero point', () => {
    expect([...run({ yScale: 2 }).data]).toEqual([16, 22])
    expect([...run({ yScale: 2, yZero: zero('uint8', 5) }).data]).toEqual([21, 27])
    expect([...run({ yScale: 64 }).data]).toEqual([0, 1])
  })

  test('cuts to the range of the result', () => {
    expect([...run({ wScale: scale(100) }).data]).toEqual([255, 255])
    const out = run({ wScale: scale(100), yZero: zero('int8', 0), w: bytes('int8', [-1, -10], [1, 1, 2]) })
    expect(out.type).toBe('int8')
    expect([...out.data]).toEqual([-128, -128])
  })

  test('channels may have scales and zero points of their own, and a bias', () => {
    const out = run({
      w: bytes('int8', [1, 1], [2, 1, 1]),
      wScale: scale(1, 10),
      wZero: new Tensor('int8', [0, -1]),
      bias: new Tensor('int32', [100, -2])
    })
    expect([...out.data]).toEqual([102, 103, 104, 20, 40, 60])
  })

  test('com.microsoft: data and result may have their channels last', () => {
    const last: Kind = ['onnx', 'QLinearConv', 1, 'com.microsoft']
    const image = bytes('uint8', [0, 60, 10, 70, 20, 80, 30, 90, 40, 100, 50, 110], [1, 2, 3, 2])
    const weights = bytes('int8', [1, 2, 3, 4, -1, -2, -3, -4], [2, 2, 2, 1])
    const rest = [new Tensor('int8', [0, 0]), scale(4), zero('uint8', 30), new Tensor('int32', [10, -100])]
    const inputs = [image, scale(0.5), zero('uint8', 20), weights, scale(0.1, 0.13), ...rest]
    const out = runTensor(last, inputs, { attributes: { channels_last: 1 } })
    expect(out.dims).toEqual([1, 1, 3, 2])
    expect([...out.data]).toEqual([35, 22, 36, 20, 38, 19])
    const [inferred] = inferOp(last, [fact('uint8', ['n', 'h', 3, 2]), ...inputs.slice(1)], {
      attributes: { channels_last: 1 }
    })
    expect(dimsOf(inferred)).toEqual(['n', 'h-1', 3, 2])
    expect(runTensor(last, inputs).dims).toEqual([1, 2, 2, 2])
  })

  test('refuses scales that do not fit', () => {
    expect(errorOf(() => run({ wScale: scale(1, 2) })).code).toBe('dims-mismatch')
    expect(errorOf(() => run({ bias: new Tensor('int32', [1, 2]) })).code).toBe('dims-mismatch')
  })
})
