import { describe, expect, test } from 'vitest'
import type { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { scalar } from '../values.ts'

const DOUBLE = 11
const INT32 = 6
const rounded = (tensor: Tensor): number[] =>
  [...(tensor.data as Float64Array)].map(value => Math.round(value * 1e6) / 1e6 + 0)
const window = (type: string, size: number, periodic: number): number[] =>
  rounded(runTensor(['onnx', type, 17], [scalar(size)], { attributes: { periodic, output_datatype: DOUBLE } }))

describe('window functions', () => {
  test('a periodic window is a symmetric one without its last element', () => {
    for (const type of ['HannWindow', 'HammingWindow', 'BlackmanWindow']) {
      expect(window(type, 8, 1)).toEqual(window(type, 9, 0).slice(0, 8))
    }
  })

  test('have their own values', () => {
    expect(window('HannWindow', 4, 1)).toEqual([0, 0.5, 1, 0.5])
    expect(window('HammingWindow', 4, 1)).toEqual([0.086957, 0.543478, 1, 0.543478])
    expect(window('BlackmanWindow', 4, 1)).toEqual([0, 0.34, 1, 0.34])
  })

  test('are float32 unless asked, integers cut the fraction off', () => {
    expect(runTensor(['onnx', 'HannWindow', 17], [scalar(4)]).type).toBe('float32')
    const whole = runTensor(['onnx', 'BlackmanWindow', 17], [scalar(4)], { attributes: { output_datatype: INT32 } })
    expect([whole.type, [...(whole.data as Int32Array)]]).toEqual(['int32', [0, 0, 1, 0]])
  })

  test('of no elements are empty; a negative size and a type without numbers are refused', () => {
    expect(window('HannWindow', 0, 1)).toEqual([])
    expect(errorOf(() => window('HannWindow', -1, 1)).code).toBe('value-out-of-range')
    expect(
      errorOf(() => runTensor(['onnx', 'HannWindow', 17], [scalar(4)], { attributes: { output_datatype: 8 } })).code
    ).toBe('type-not-allowed')
  })

  test('their length is a dim of the graph', () => {
    expect(dimsOf(inferOp(['onnx', 'HannWindow', 17], [scalar(400)])[0])).toEqual([400])
    expect(dimsOf(inferOp(['onnx', 'HannWindow', 17], [fact('int64', [])])[0])).toEqual(['?'])
  })
})

describe('MelWeightMatrix', () => {
  const MEL: Kind = ['onnx', 'MelWeightMatrix', 17]
  const mel = (bands: number, length: number, rate: number, low: number, high: number): Tensor =>
    runTensor(MEL, [scalar(bands), scalar(length), scalar(rate), scalar(low, 'float32'), scalar(high, 'float32')], {
      attributes: { output_datatype: DOUBLE }
    })

  test('triangles rise to 1 and fall', () => {
    // Edges at numbers 0, 0, 1, 3, 5 of the spectrum.
    const matrix = mel(3, 16, 8192, 0, 4096)
    expect(matrix.dims).toEqual([9, 3])
    const column = (band: number): number[] =>
      Array.from({ length: 9 }, (_, i) => Math.round((matrix.data[i * 3 + band] as number) * 1000) / 1000)
    expect([0, 1, 2].map(column)).toEqual([
      [1, 0, 0, 0, 0, 0, 0, 0, 0],
      [0, 1, 0.5, 0, 0, 0, 0, 0, 0],
      [0, 0, 0.5, 1, 0.5, 0, 0, 0, 0]
    ])
  })

  test('bands beyond the spectrum are refused, and a sample rate below 1', () => {
    expect(errorOf(() => mel(8, 16, 8192, 0, 12000)).code).toBe('value-out-of-range')
    expect(errorOf(() => mel(8, 16, 0, 0, 4000)).code).toBe('value-out-of-range')
    expect(errorOf(() => mel(-1, 16, 8192, 0, 4000)).code).toBe('value-out-of-range')
  })

  test('no bands make an empty matrix', () => {
    expect(mel(0, 16, 8192, 0, 4000).dims).toEqual([9, 0])
  })
})
