import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { scalar } from '../values.ts'

const f64 = (dims: number[], data: ArrayLike<number>): Tensor => new Tensor('float64', Float64Array.from(data), dims)
const some = (...dims: number[]): Tensor =>
  f64(
    dims,
    Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(i * i + 1))
  )
const ISTFT: Kind = ['openvino', 'ISTFT', 16]

const transformed = (signal: Tensor, window: Tensor, size: number, step: number): Tensor =>
  runTensor(['openvino', 'STFT', 15], [signal, window, scalar(size), scalar(step)], {
    attributes: { transpose_frames: true }
  })

function close(actual: Tensor, expected: readonly number[]): void {
  expect(actual.data.length).toBe(expected.length)
  expected.forEach((value, i) => expect(Math.abs((actual.data[i] as number) - value), `[${i}]`).toBeLessThan(1e-9))
}

describe('ISTFT', () => {
  const signal = some(2, 22)
  const window = f64([6], [0.3, 0.7, 1, 0.9, 0.6, 0.2])
  const spectrum = transformed(signal, window, 7, 3)
  const samples = [...(signal.data as Float64Array)]
  const attributes = { center: false, normalized: false }

  test('gives a signal back from its transform; what no window reached is 0', () => {
    const out = runTensor(ISTFT, [spectrum, window, scalar(7), scalar(3)], { attributes })
    expect(out.dims).toEqual([2, 22])
    // The padded window ends with one zero.
    close(
      out,
      samples.map((value, i) => (i % 22 === 21 ? 0 : value))
    )
  })

  test('a single signal has no batch axis', () => {
    const one = f64(spectrum.dims.slice(1), (spectrum.data as Float64Array).slice(0, spectrum.data.length / 2))
    const out = runTensor(ISTFT, [one, window, scalar(7), scalar(3)], { attributes })
    expect(out.dims).toEqual([22])
  })

  test('center cuts half a frame off; the length is what the specification says', () => {
    const out = runTensor(ISTFT, [spectrum, window, scalar(7), scalar(3)], {
      attributes: { ...attributes, center: true }
    })
    expect(out.dims).toEqual([2, 15])
    close(out, [...samples.slice(3, 18), ...samples.slice(25, 40)])
  })

  test('signal_length cuts, or fills up with zeros', () => {
    const short = runTensor(ISTFT, [spectrum, window, scalar(7), scalar(3), scalar(4)], { attributes })
    close(short, [...samples.slice(0, 4), ...samples.slice(22, 26)])
    const long = runTensor(ISTFT, [spectrum, window, scalar(7), scalar(3), scalar(24)], { attributes })
    expect([...(long.data as Float64Array)].slice(21, 24)).toEqual([0, 0, 0])
    const centered = runTensor(ISTFT, [spectrum, window, scalar(7), scalar(3), scalar(17)], {
      attributes: { ...attributes, center: true }
    })
    close(centered, [...samples.slice(3, 20), ...samples.slice(25, 42)])
  })

  test('normalized multiplies by the root of the frame size', () => {
    const plain = runTensor(ISTFT, [spectrum, window, scalar(7), scalar(3)], { attributes })
    const scaled = runTensor(ISTFT, [spectrum, window, scalar(7), scalar(3)], {
      attributes: { ...attributes, normalized: true }
    })
    close(
      scaled,
      [...(plain.data as Float64Array)].map(value => value * Math.sqrt(7))
    )
  })

  test('data, window, step and length that do not fit are refused', () => {
    expect(errorOf(() => runTensor(ISTFT, [spectrum, window, scalar(8), scalar(3)], { attributes })).code).toBe(
      'dims-mismatch'
    )
    expect(errorOf(() => runTensor(ISTFT, [spectrum, some(8), scalar(7), scalar(3)], { attributes })).code).toBe(
      'dims-mismatch'
    )
    expect(errorOf(() => runTensor(ISTFT, [spectrum, window, scalar(7), scalar(0)], { attributes })).code).toBe(
      'value-out-of-range'
    )
    expect(
      errorOf(() => runTensor(ISTFT, [spectrum, window, scalar(7), scalar(3), scalar(-1)], { attributes })).code
    ).toBe('value-out-of-range')
    expect(errorOf(() => runTensor(ISTFT, [some(4, 2), window, scalar(7), scalar(3)], { attributes })).code).toBe(
      'rank-mismatch'
    )
  })

  test('shapes follow names', () => {
    const infer = (center: boolean): unknown =>
      dimsOf(
        inferOp(ISTFT, [fact('float32', ['n', 9, 't', 2]), fact('float32', [16]), scalar(16), scalar(4)], {
          attributes: { center, normalized: false }
        })[0]
      )
    expect(infer(false)).toEqual(['n', '4*t+12'])
    expect(infer(true)).toEqual(['n', '4*t-4'])
  })
})

test('a batch without signals gives none, whatever the frame size', () => {
  const empty = new Tensor('float64', new Float64Array(0), [0, 2 ** 39 + 1, 0, 2])
  expect(
    runTensor(ISTFT, [empty, some(4), scalar(2 ** 40), scalar(1)], { attributes: { center: false, normalized: false } })
      .dims
  ).toEqual([0, 0])
})
