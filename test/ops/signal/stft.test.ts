import { describe, expect, test } from 'vitest'
import { toNumbers } from '../../../src/tensor/elements.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { scalar } from '../values.ts'

const f64 = (dims: number[], data: ArrayLike<number>): Tensor => new Tensor('float64', Float64Array.from(data), dims)
const some = (...dims: number[]): Tensor =>
  f64(
    dims,
    Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(i * i + 1))
  )
const STFT: Kind = ['onnx', 'STFT', 17]
const IR: Kind = ['openvino', 'STFT', 15]

/** Number `bin` of the transform of a windowed frame of real samples. */
function byDefinition(
  samples: ArrayLike<number>,
  window: ArrayLike<number>,
  start: number,
  bin: number
): [number, number] {
  const sum: [number, number] = [0, 0]
  for (let i = 0; i < window.length; i++) {
    const angle = (-2 * Math.PI * i * bin) / window.length
    sum[0] += samples[start + i] * window[i] * Math.cos(angle)
    sum[1] += samples[start + i] * window[i] * Math.sin(angle)
  }
  return sum
}

function close(actual: Tensor, expected: ArrayLike<number>): void {
  const numbers = toNumbers(actual)
  expect(numbers.length).toBe(expected.length)
  for (let i = 0; i < numbers.length; i++) expect(Math.abs(numbers[i] - expected[i])).toBeLessThan(1e-9)
}

describe('ONNX STFT', () => {
  test('transforms windowed frames, half of each by default', () => {
    const signal = some(2, 10, 1)
    const window = some(4)
    const out = runTensor(STFT, [signal, scalar(3), window])
    expect(out.dims).toEqual([2, 3, 3, 2])
    const expected = [0, 1].flatMap(b =>
      [0, 3, 6].flatMap(start =>
        [0, 1, 2].flatMap(bin =>
          byDefinition(signal.data as Float64Array, window.data as Float64Array, b * 10 + start, bin)
        )
      )
    )
    close(out, expected)
    expect(runTensor(STFT, [signal, scalar(3), window], { attributes: { onesided: 0 } }).dims).toEqual([2, 3, 4, 2])
  })

  test('without a window the frame length counts, without both the signal is one frame', () => {
    const signal = some(1, 8, 1)
    close(
      runTensor(STFT, [signal, scalar(2), undefined, scalar(4)]),
      runTensor(STFT, [signal, scalar(2), f64([4], [1, 1, 1, 1])]).data as Float64Array
    )
    expect(runTensor(STFT, [signal, scalar(2)]).dims).toEqual([1, 1, 5, 2])
  })

  test('complex signals, and real ones without their last axis', () => {
    const signal = some(1, 6, 1)
    const wide = f64(
      [1, 6, 2],
      [...(signal.data as Float64Array)].flatMap(value => [value, 0])
    )
    const whole = { attributes: { onesided: 0 } }
    const real = runTensor(STFT, [signal, scalar(2), undefined, scalar(3)], whole).data
    expect(runTensor(STFT, [wide, scalar(2), undefined, scalar(3)], whole).data).toEqual(real)
    expect(runTensor(STFT, [some(1, 6), scalar(2), undefined, scalar(3)], whole).data).toEqual(real)
  })

  test('a window of another length, long frames and steps below 1 are refused', () => {
    const signal = some(1, 6, 1)
    expect(errorOf(() => runTensor(STFT, [signal, scalar(2), some(3), scalar(4)])).code).toBe('dims-mismatch')
    expect(errorOf(() => runTensor(STFT, [signal, scalar(2), undefined, scalar(7)])).code).toBe('value-out-of-range')
    expect(errorOf(() => runTensor(STFT, [signal, scalar(0), undefined, scalar(4)])).code).toBe('value-out-of-range')
    expect(errorOf(() => runTensor(STFT, [signal, scalar(2), undefined, scalar(0)])).code).toBe('value-out-of-range')
    expect(errorOf(() => runTensor(STFT, [some(1, 6, 3), scalar(2), undefined, scalar(4)])).code).toBe('dims-mismatch')
  })

  test('shapes follow names', () => {
    expect(dimsOf(inferOp(STFT, [fact('float32', ['n', 't', 1]), scalar(160), undefined, scalar(400)])[0])).toEqual([
      'n',
      'floor((t+80)/160)-2',
      201,
      2
    ])
    expect(dimsOf(inferOp(STFT, [fact('float32', ['n', 't', 1]), scalar(4), fact('float32', ['w'])])[0])).toEqual([
      'n',
      'floor((t-w)/4)+1',
      'floor(w/2)+1',
      2
    ])
  })
})

describe('OpenVINO STFT', () => {
  test('pads a short window on both sides and may put frames last', () => {
    const signal = some(9)
    const window = [0.5, 2]
    const rows = runTensor(IR, [signal, f64([2], window), scalar(5), scalar(2)], {
      attributes: { transpose_frames: false }
    })
    expect(rows.dims).toEqual([3, 3, 2])
    const padded = [0, ...window, 0, 0]
    const at = (start: number, bin: number): [number, number] =>
      byDefinition(signal.data as Float64Array, padded, start, bin)
    close(
      rows,
      [0, 2, 4].flatMap(start => [0, 1, 2].flatMap(bin => at(start, bin)))
    )
    close(
      runTensor(IR, [signal, f64([2], window), scalar(5), scalar(2)], { attributes: { transpose_frames: true } }),
      [0, 1, 2].flatMap(bin => [0, 2, 4].flatMap(start => at(start, bin)))
    )
  })

  test('a batch keeps its axis; a window longer than the frame is refused', () => {
    expect(
      runTensor(IR, [some(2, 9), some(4), scalar(4), scalar(1)], { attributes: { transpose_frames: true } }).dims
    ).toEqual([2, 3, 6, 2])
    expect(errorOf(() => runTensor(IR, [some(9), some(5), scalar(4), scalar(1)])).code).toBe('dims-mismatch')
    expect(errorOf(() => runTensor(IR, [some(1, 9, 1), some(4), scalar(4), scalar(1)])).code).toBe('rank-mismatch')
  })
})
