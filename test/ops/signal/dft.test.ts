import { describe, expect, test } from 'vitest'
import { toNumbers } from '../../../src/tensor/elements.ts'
import { encodeFloat } from '../../../src/tensor/floats.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { ints, scalar } from '../values.ts'

const f64 = (dims: number[], data: ArrayLike<number>): Tensor => new Tensor('float64', Float64Array.from(data), dims)
const some = (...dims: number[]): Tensor =>
  f64(
    dims,
    Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(i * i + 1))
  )

/**
 * Complex numbers of a `[rows, columns]` matrix, parts side by side, transformed along rows and columns by the
 * definition.
 */
function transform2(data: ArrayLike<number>, [rows, columns]: [number, number], sign: number): number[] {
  const result: number[] = []
  for (let p = 0; p < rows; p++) {
    for (let q = 0; q < columns; q++) {
      let re = 0
      let im = 0
      for (let i = 0; i < rows; i++) {
        for (let j = 0; j < columns; j++) {
          const angle = sign * 2 * Math.PI * ((p * i) / rows + (q * j) / columns)
          const [a, b] = [data[2 * (i * columns + j)], data[2 * (i * columns + j) + 1]]
          re += a * Math.cos(angle) - b * Math.sin(angle)
          im += a * Math.sin(angle) + b * Math.cos(angle)
        }
      }
      result.push(re, im)
    }
  }
  return result
}

/** By the definition along one axis of length `size`. */
const transform1 = (data: ArrayLike<number>, size: number, sign: number): number[] => transform2(data, [1, size], sign)
const complex = (reals: ArrayLike<number>): number[] => Array.from(reals).flatMap(value => [value, 0])

function close(actual: Tensor, expected: ArrayLike<number>): void {
  const numbers = toNumbers(actual)
  expect(numbers.length).toBe(expected.length)
  for (let i = 0; i < numbers.length; i++) expect(Math.abs(numbers[i] - expected[i])).toBeLessThan(1e-9)
}

describe('ONNX DFT', () => {
  const dft: Kind = ['onnx', 'DFT', 20]

  test('real and complex signals, forward and inverse', () => {
    const real = some(1, 6, 1)
    const spectrum = runTensor(dft, [real])
    expect(spectrum.dims).toEqual([1, 6, 2])
    close(spectrum, transform1(complex(real.data as Float64Array), 6, -1))
    const signal = some(1, 7, 2)
    close(
      runTensor(dft, [signal], { attributes: { inverse: 1 } }),
      transform1(signal.data as Float64Array, 7, 1).map(value => value / 7)
    )
  })

  test('version 17 takes the axis as an attribute that is 1 by default, version 20 as an input that is -2', () => {
    const signal = some(2, 3, 4, 2)
    const last = runTensor(dft, [signal]).data
    expect(runTensor(dft, [signal, undefined, scalar(2)]).data).toEqual(last)
    expect(runTensor(['onnx', 'DFT', 17], [signal], { attributes: { axis: 2 } }).data).toEqual(last)
    const middle = runTensor(['onnx', 'DFT', 17], [signal]).data
    expect(runTensor(dft, [signal, undefined, scalar(-3)]).data).toEqual(middle)
    expect(middle).not.toEqual(last)
    // Column 0 of the first matrix.
    const column = [0, 1, 2].flatMap(i => [...(signal.data as Float64Array).slice(i * 8, i * 8 + 2)])
    const expected = transform1(column, 3, -1)
    expect(
      [0, 1, 2]
        .flatMap(i => [...(middle as Float64Array).slice(i * 8, i * 8 + 2)])
        .every((value, i) => Math.abs(value - expected[i]) < 1e-12)
    ).toBe(true)
  })

  test('a length cuts the signal or fills it with zeros', () => {
    const real = some(1, 5, 1)
    const data = [...(real.data as Float64Array)]
    close(runTensor(dft, [real, scalar(3)]), transform1(complex(data.slice(0, 3)), 3, -1))
    close(runTensor(dft, [real, scalar(8)]), transform1(complex([...data, 0, 0, 0]), 8, -1))
  })

  test('onesided keeps half of a real transform, and its inverse gives the signal back', () => {
    for (const n of [6, 7]) {
      const real = some(1, n, 1)
      const half = runTensor(dft, [real], { attributes: { onesided: 1 } })
      expect(half.dims).toEqual([1, Math.floor(n / 2) + 1, 2])
      close(half, transform1(complex(real.data as Float64Array), n, -1).slice(0, half.data.length))
      const back = runTensor(dft, [half, scalar(n)], { attributes: { onesided: 1, inverse: 1 } })
      expect(back.dims).toEqual([1, n, 1])
      close(back, real.data as Float64Array)
    }
  })

  test('the inverse of a half is as long as an even signal where no length is given', () => {
    const half = runTensor(dft, [some(1, 6, 1)], { attributes: { onesided: 1 } })
    expect(runTensor(dft, [half], { attributes: { onesided: 1, inverse: 1 } }).dims).toEqual([1, 6, 1])
  })

  test('float16 is rounded once', () => {
    const half = new Tensor(
      'float16',
      Uint16Array.from([1, 0.5, -2, 3], value => encodeFloat('float16', value)),
      [1, 4, 1]
    )
    const exact = runTensor(dft, [f64([1, 4, 1], [1, 0.5, -2, 3])])
    expect([...(runTensor(dft, [half]).data as Uint16Array)]).toEqual(
      [...(exact.data as Float64Array)].map(value => encodeFloat('float16', value))
    )
  })

  test('wrong axes, lengths and parts are refused', () => {
    const signal = some(2, 3, 2)
    expect(errorOf(() => runTensor(dft, [signal, undefined, scalar(-1)])).code).toBe('axis-out-of-range')
    expect(errorOf(() => runTensor(dft, [signal, undefined, scalar(2)])).code).toBe('axis-out-of-range')
    expect(errorOf(() => runTensor(dft, [signal, scalar(0)])).code).toBe('value-out-of-range')
    expect(errorOf(() => runTensor(dft, [some(2, 3, 3)])).code).toBe('dims-mismatch')
    expect(errorOf(() => runTensor(dft, [signal], { attributes: { onesided: 1 } })).code).toBe('dims-mismatch')
    expect(errorOf(() => runTensor(dft, [some(2, 3, 1)], { attributes: { onesided: 1, inverse: 1 } })).code).toBe(
      'dims-mismatch'
    )
    expect(errorOf(() => runTensor(dft, [some(1, 1, 2)], { attributes: { onesided: 1, inverse: 1 } })).code).toBe(
      'value-out-of-range'
    )
    expect(errorOf(() => runTensor(dft, [signal, scalar(2 ** 40)])).code).toBe('limit-exceeded')
  })

  test('shapes follow names', () => {
    const infer = (x: (number | string)[], more: unknown[] = [], attributes = {}): unknown =>
      dimsOf(inferOp(dft, [fact('float32', x), ...more] as never, { attributes })[0])
    expect(infer(['n', 't', 1])).toEqual(['n', 't', 2])
    expect(infer(['n', 't', 1], [], { onesided: 1 })).toEqual(['n', 'floor(t/2)+1', 2])
    expect(infer(['n', 't', 2], [], { onesided: 1, inverse: 1 })).toEqual(['n', '2*t-2', 1])
    expect(infer(['n', 't', 1], [scalar(16)], { onesided: 1 })).toEqual(['n', 9, 2])
    expect(infer(['n', 't', 1], [undefined, fact('int64', [])])).toEqual(['n', 't', 2])
    expect(infer(['n', 't', 1], [undefined, fact('int64', [])], { onesided: 1 })).toEqual(['?', '?', 2])
    expect(infer(['n', 't', 1], [scalar(16), fact('int64', [])])).toEqual(['?', '?', 2])
  })
})

describe('OpenVINO', () => {
  test('DFT and IDFT go along several axes and undo each other', () => {
    const signal = some(3, 4, 2)
    const spectrum = runTensor(['openvino', 'DFT', 7], [signal, ints(0, 1)])
    close(spectrum, transform2(signal.data as Float64Array, [3, 4], -1))
    close(runTensor(['openvino', 'IDFT', 7], [spectrum, ints(1, 0)]), signal.data as Float64Array)
  })

  test('negative axes do not count the axis of the parts', () => {
    const signal = some(2, 3, 2)
    expect(runTensor(['openvino', 'DFT', 7], [signal, ints(-1)]).data).toEqual(
      runTensor(['openvino', 'DFT', 7], [signal, ints(1)]).data
    )
    expect(errorOf(() => runTensor(['openvino', 'DFT', 7], [signal, ints(2)])).code).toBe('axis-out-of-range')
    expect(errorOf(() => runTensor(['openvino', 'DFT', 7], [signal, ints(1, -1)])).code).toBe('value-out-of-range')
  })

  test('signal_size goes with the axes in their order, -1 keeps the size', () => {
    expect(runTensor(['openvino', 'DFT', 7], [some(2, 3, 4, 2), ints(2, 0, 1), ints(6, -1, 2)]).dims).toEqual([
      2, 2, 6, 2
    ])
    expect(errorOf(() => runTensor(['openvino', 'DFT', 7], [some(2, 3, 2), ints(0, 1), ints(2)])).code).toBe(
      'dims-mismatch'
    )
    expect(errorOf(() => runTensor(['openvino', 'DFT', 7], [some(2, 3, 2), ints(0), ints(-2)])).code).toBe(
      'value-out-of-range'
    )
  })

  test('RDFT halves the last axis that is named, IRDFT doubles it', () => {
    const real = some(3, 4)
    const all = transform2(complex(real.data as Float64Array), [3, 4], -1)
    const half = runTensor(['openvino', 'RDFT', 9], [real, ints(1, 0)])
    expect(half.dims).toEqual([2, 4, 2])
    close(half, all.slice(0, 16))
    close(runTensor(['openvino', 'IRDFT', 9], [half, ints(1, 0), ints(4, 3)]), real.data as Float64Array)
    expect(runTensor(['openvino', 'IRDFT', 9], [half, ints(1, 0)]).dims).toEqual([2, 4])
  })

  test('no axes leave complex numbers as they are and are refused for real ones', () => {
    const signal = some(2, 3, 2)
    expect(runTensor(['openvino', 'DFT', 7], [signal, ints()]).data).toEqual(signal.data)
    expect(errorOf(() => runTensor(['openvino', 'RDFT', 9], [signal, ints()])).code).toBe('dims-mismatch')
  })

  test('an empty batch gives an empty result', () => {
    expect(runTensor(['openvino', 'RDFT', 9], [some(0, 4), ints(1)]).dims).toEqual([0, 3, 2])
  })

  test('unknown axes leave the rank, unknown sizes the other dims', () => {
    expect(dimsOf(inferOp(['openvino', 'RDFT', 9], [fact('float32', ['n', 8]), fact('int64', [1])])[0])).toEqual([
      '?',
      '?',
      2
    ])
    expect(
      dimsOf(inferOp(['openvino', 'DFT', 7], [fact('float32', ['n', 8, 2]), ints(1), fact('int64', [1])])[0])
    ).toEqual(['n', '1..', 2])
    expect(inferOp(['openvino', 'IRDFT', 9], [fact('float32'), ints(0)])[0]).toEqual(fact('float32'))
  })
})
