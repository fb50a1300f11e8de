import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { InferenceSession, Tensor } from '../../../src/index.ts'
import { node, port } from '../../fixtures/onnx.ts'

interface Encoder {
  onnx: { ModelProto: { encode(message: object): { finish(): Uint8Array } } }
}
const { onnx } = createRequire(import.meta.url)('onnx-proto') as Encoder

/** `2 * transpose(s) b`, where s is `[[0, 7, 0], [0, 0, 8]]`. */
const product = (graph: object): Uint8Array =>
  onnx.ModelProto.encode({
    irVersion: 9,
    opsetImport: [
      { domain: '', version: 17 },
      { domain: 'com.microsoft', version: 1 }
    ],
    graph: {
      name: 'g',
      node: [node('SparseToDenseMatMul', ['s', 'b'], ['y'], { alpha: { float: 2 }, transA: 1 }, 'com.microsoft')],
      output: [port('y', 'float', [3, 1])],
      ...graph
    }
  }).finish()
const b = new Tensor('float32', [1, 2], [2, 1])

test('SparseToDenseMatMul multiplies a sparse initializer', async () => {
  const sparse = {
    values: { name: 's', dims: [2], dataType: 1, floatData: [7, 8] },
    indices: { dims: [2], dataType: 7, int64Data: [1, 5] },
    dims: [2, 3]
  }
  const session = await InferenceSession.create(
    product({ sparseInitializer: [sparse], input: [port('b', 'float', [2, 1])] })
  )
  const { y } = await session.run({ b })
  expect([y.dims, ...y.data]).toEqual([[3, 1], 0, 14, 32])
})

test('SparseToDenseMatMul takes a dense tensor for a sparse input', async () => {
  const s = {
    name: 's',
    type: { sparseTensorType: { elemType: 1, shape: { dim: [{ dimValue: 2 }, { dimValue: 3 }] } } }
  }
  const session = await InferenceSession.create(product({ input: [s, port('b', 'float', [2, 1])] }))
  const { y } = await session.run({ s: new Tensor('float32', [0, 7, 0, 0, 0, 8], [2, 3]), b })
  expect([...y.data]).toEqual([0, 14, 32])
})
