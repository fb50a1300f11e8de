import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther } from '../converted.ts'
import { randomFloats } from '../random.ts'

const ints = (...values: number[]): Tensor => new Tensor('int64', values.map(BigInt), [values.length])
const scalar = (value: number): Tensor => new Tensor('int64', [BigInt(value)], [])

describe('Fourier transforms of IR in ONNX', () => {
  test.each([
    ['DFT', 7, [2, 4, 3, 2], ints(1, -1), undefined],
    ['DFT', 7, [2, 4, 3, 2], ints(0), ints(5)],
    ['IDFT', 7, [2, 4, 3, 2], ints(-2, 0), ints(-1, 1)],
    ['RDFT', 9, [2, 4, 3], ints(1, 2), undefined],
    ['RDFT', 9, [2, 4, 3], ints(-1, 0), ints(5, 2)],
    ['IRDFT', 9, [2, 4, 3, 2], ints(0, 2), undefined],
    ['IRDFT', 9, [2, 4, 3, 2], ints(1, -1), ints(3, 7)],
    ['IRDFT', 9, [2, 4, 3, 2], ints(2), ints(3)]
  ] as const)('%s-%i of %j', async (type, version, dims, axes, lengths) => {
    const inputs = [randomFloats(1, dims), axes, ...(lengths ? [lengths] : [])]
    expect(await differenceInOther(['openvino', type, version], inputs, { constants: [1, 2] })).toBeLessThan(1e-5)
  })

  test.each([
    [[2, 20], 7, true],
    [[2, 20], 8, false],
    [[20], 5, true]
  ])('STFT of a signal %j with a window of %i and frames of 8', async (dims, window, transpose_frames) => {
    const inputs = [randomFloats(1, dims), randomFloats(2, [window]), scalar(8), scalar(3)]
    expect(
      await differenceInOther(['openvino', 'STFT', 15], inputs, { attributes: { transpose_frames }, constants: [2, 3] })
    ).toBeLessThan(1e-5)
  })

  test.each([
    [[5, 6, 2], false, false, undefined],
    [[2, 5, 6, 2], true, true, undefined],
    [[2, 5, 6, 2], true, false, 30],
    [[5, 6, 2], false, true, 9]
  ])('ISTFT of %j, centered %s, normalized %s, of length %s', async (dims, center, normalized, length) => {
    const inputs = [randomFloats(1, dims), randomFloats(2, [6]), scalar(8), scalar(3)]
    expect(
      await differenceInOther(['openvino', 'ISTFT', 16], length === undefined ? inputs : [...inputs, scalar(length)], {
        attributes: { center, normalized },
        constants: [2, 3, 4]
      })
    ).toBeLessThan(1e-5)
  })
})

describe('Fourier transforms of ONNX in IR', () => {
  test.each([
    [[2, 6, 1], 0, 0],
    [[2, 6, 2], 0, 1],
    [[2, 6, 1], 1, 0],
    [[2, 4, 2], 1, 1]
  ])('DFT of %j, onesided %i, inverse %i', async (dims, onesided, inverse) => {
    for (const length of [undefined, scalar(5)])
      expect(
        await differenceInOther(['onnx', 'DFT', 20], [randomFloats(1, dims), length, scalar(1)], {
          attributes: { onesided, inverse },
          constants: [1, 2]
        })
      ).toBeLessThan(1e-5)
  })

  test.each([0, 1])('STFT, onesided %i', async onesided => {
    const [signal, window] = [randomFloats(1, [2, 20, 1]), randomFloats(2, [8])]
    for (const inputs of [
      [signal, scalar(3), window],
      [signal, scalar(3), window, scalar(8)],
      [signal, scalar(3), undefined, scalar(8)]
    ])
      expect(
        await differenceInOther(['onnx', 'STFT', 17], inputs, { attributes: { onesided }, constants: [1, 3] })
      ).toBeLessThan(1e-5)
  })
})
