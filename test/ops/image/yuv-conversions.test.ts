import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther } from '../converted.ts'
import { picks } from '../random.ts'

const bytes = (seed: number, dims: readonly number[]): Tensor =>
  new Tensor(
    'uint8',
    Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, i) => picks(seed + i, 256)),
    dims
  )

test.each(['NV12toRGB', 'NV12toBGR', 'I420toRGB', 'I420toBGR'])('%s in ONNX gives the same bytes', async type => {
  const planes = type.startsWith('NV12')
    ? [bytes(1, [2, 4, 6, 1]), bytes(2, [2, 2, 3, 2])]
    : [bytes(1, [2, 4, 6, 1]), bytes(2, [2, 2, 3, 1]), bytes(3, [2, 2, 3, 1])]
  for (const inputs of [[bytes(4, [2, 6, 6, 1])], planes])
    for (const isDynamic of [false, true])
      expect(await differenceInOther(['openvino', type, 8], inputs, { isDynamic })).toBe(0)
})

test.each(['RGBtoNV12', 'BGRtoNV12'])('%s in ONNX gives the same bytes, in one plane and in two', async type => {
  for (const [single_plane, outputs] of [
    [true, 1],
    [false, 2]
  ] as const)
    expect(
      await differenceInOther(['openvino', type, 17], [bytes(5, [2, 4, 6, 3])], {
        attributes: { single_plane },
        outputs
      })
    ).toBe(0)
})
