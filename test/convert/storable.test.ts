import { expect, test } from 'vitest'
import { Tensor } from '../../src/tensor/tensor.ts'
import { differenceInOther, inOther, modelOfNode } from '../ops/converted.ts'

test.each(['uint1', 'uint2', 'uint3', 'uint6', 'nf4'] as const)(
  'constants of %s, which ONNX lacks, are stored in a type that holds their numbers',
  async type => {
    const codes = Array.from({ length: 6 }, (_, i) => (type === 'uint1' ? i % 2 : i % 4))
    const attributes = { destination_type: 'f32' }
    const inputs = [new Tensor(type, codes, [2, 3])]
    expect(await differenceInOther(['openvino', 'Convert', 1], inputs, { attributes, constants: [0] })).toBe(0)
  }
)

test('bfloat16, which no opset before 13 takes, is refused there', () => {
  const model = modelOfNode(['openvino', 'Relu', 1], [new Tensor('bfloat16', [1, 2], [2])])
  expect(() => inOther(model, 12)).toThrow('takes no bfloat16')
  expect(inOther(model, 13).graph.nodes.length).toBeGreaterThan(0)
})

test('dims of a Reshape that may be 0 are refused before opset 14, all others are said', async () => {
  const image = new Tensor(
    'uint8',
    new Uint8Array(24).map((_, i) => 10 * i),
    [1, 6, 4, 1]
  )
  expect(await differenceInOther(['openvino', 'NV12toRGB', 8], [image], { writtenOpset: 13 })).toBe(0)
  const inputs = [new Tensor('float32', [1, 2], [2]), new Tensor('int64', [1n]), new Tensor('int64', [0n])]
  expect(() => inOther(modelOfNode(['openvino', 'Gather', 8], inputs), 13)).toThrow(
    'may be 0, which no opset before 14'
  )
})
