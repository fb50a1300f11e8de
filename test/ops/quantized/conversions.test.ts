import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther, inOther, modelOfNode, typesOf } from '../converted.ts'
import { randomFloats } from '../random.ts'

const floats = (values: number[], dims: number[] = []): Tensor => new Tensor('float32', values, dims)
const x = floats(
  Array.from({ length: 24 }, (_, i) => (i - 11) * 0.3737),
  [2, 3, 4]
)

/** The limits in, and those out. */
const same = (low: Tensor, high: Tensor): Tensor[] => [low, high, low, high]

test.each([
  ['levels that are codes of uint8', 256, same(floats([-1]), floats([1.55]))],
  ['levels that are codes of int8', 256, same(floats([-2.56]), floats([2.54]))],
  ['codes along an axis', 256, same(floats([-1, -2, 0], [3, 1]), floats([1.55, 0.55, 2.55], [3, 1]))],
  ['fewer levels', 17, same(floats([-1.5]), floats([2]))],
  ['other limits of the output', 256, [floats([-1]), floats([1.55]), floats([0]), floats([1])]],
  ['limits that are the wrong way round', 16, [floats([2]), floats([-1]), floats([-1]), floats([2])]],
  ['limits of more axes than the data', 7, same(floats([-1, -2, -3], [1, 1, 3, 1]), floats([1], [1, 1, 1, 1]))],
  ['limits of every element', 5, same(randomFloats(1, [2, 3, 4]), floats([3]))]
])('FakeQuantize in ONNX: %s', async (_, levels, limits) => {
  const options = { attributes: { levels, auto_broadcast: 'numpy' }, constants: [1, 2, 3, 4] }
  expect(await differenceInOther(['openvino', 'FakeQuantize', 1], [x, ...limits], options)).toBeLessThan(1e-5)
})

test('FakeQuantize is QuantizeLinear and DequantizeLinear where its levels are codes', () => {
  const options = { attributes: { levels: 256, auto_broadcast: 'numpy' }, constants: [1, 2, 3, 4] }
  for (const dims of [[], [1, 1, 1, 1]]) {
    const limits = same(floats([-1], dims), floats([1.55], dims))
    const model = modelOfNode(['openvino', 'FakeQuantize', 1], [x, ...limits], options)
    expect(typesOf(inOther(model))).toEqual(['QuantizeLinear', 'DequantizeLinear'])
  }
})

test.each(['f8e4m3', 'f8e5m2'])('FakeConvert to %s in ONNX', async destination_type => {
  for (const inputs of [
    [x, floats([3])],
    [x, floats([3, 100, 1e6], [3, 1]), floats([0.25])]
  ])
    expect(
      await differenceInOther(['openvino', 'FakeConvert', 13], inputs, { attributes: { destination_type } })
    ).toBeLessThan(1e-6)
})

test('QGemm without a zero point of its result is float in IR too', async () => {
  const one = (type: 'float32' | 'int8', value: number): Tensor => new Tensor(type, [value], [])
  const codes = (dims: number[]): Tensor =>
    new Tensor(
      'int8',
      Int8Array.from(randomFloats(dims[0], dims).data as Float32Array, value => value * 20),
      dims
    )
  const a = [codes([3, 5]), one('float32', 0.1), one('int8', 3)]
  const b = [codes([5, 4]), one('float32', 0.2), one('int8', -2)]
  const kind = ['onnx', 'QGemm', 1, 'com.microsoft'] as const
  for (const scale of [undefined, one('float32', 0.25)])
    expect(await differenceInOther(kind, [...a, ...b, undefined, scale])).toBeLessThan(1e-4)
})
