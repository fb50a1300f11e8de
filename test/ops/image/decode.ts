import { Tensor } from '../../../src/tensor/tensor.ts'
import { type ModelParts, node, port } from '../../fixtures/onnx.ts'
import { runOnnx } from '../model.ts'

/** A model of one ImageDecoder from `x` to `y`. */
export const decoder = (format: string): ModelParts => ({
  opset: 20,
  inputs: [port('x', 'uint8', ['n'])],
  outputs: [port('y', 'uint8')],
  nodes: [node('ImageDecoder', ['x'], ['y'], { pixel_format: format })]
})

/** What ImageDecoder makes of a file, whose bytes may be given as the characters of a text. */
export async function decoded(bytes: Uint8Array | string, format = 'RGB'): Promise<unknown> {
  const data = typeof bytes === 'string' ? Uint8Array.from(bytes, sign => sign.charCodeAt(0)) : bytes
  return (await runOnnx(decoder(format), { x: new Tensor('uint8', data) })).y
}
