import { expect, test, vi } from 'vitest'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { slice } from '../../src/ops/layout/slice.ts'
import { floats, int64s, node, onnxBytes, port } from '../fixtures/onnx.ts'

/** A loop whose iteration `i` gives element `i` of a table. */
const model = onnxBytes({
  inputs: [port('n', 'int64', [])],
  outputs: [port('all', 'float')],
  nodes: [
    node('Loop', ['n', ''], ['all'], {
      body: {
        graph: {
          inputs: [port('i', 'int64', []), port('c', 'bool', [])],
          outputs: [port('more', 'bool', []), port('element', 'float', [1])],
          initializers: [
            int64s('zero', [1], [0]),
            int64s('one', [1], [1]),
            floats('table', [13], [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17])
          ],
          nodes: [
            node('Identity', ['c'], ['more']),
            node('Unsqueeze', ['i', 'zero'], ['start']),
            node('Add', ['start', 'one'], ['end']),
            node('Slice', ['table', 'start', 'end'], ['element'])
          ]
        }
      }
    })
  ]
})

test('a node of a body is prepared once for each of a dozen values that iterations give it in turn', async () => {
  const session = await InferenceSession.create(model)
  const elements = async (n: bigint): Promise<number[]> => {
    const { all } = await session.run({ n: new Tensor('int64', [n], []) })
    return [...(all as Tensor<'float32'>).data]
  }
  await elements(12n)
  const shape = vi.spyOn(slice, 'shape')
  expect(await elements(12n)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])
  expect(await elements(3n)).toEqual([5, 6, 7])
  expect(shape).not.toHaveBeenCalled()
  expect((await elements(13n)).at(-1)).toBe(17)
  expect(shape).toHaveBeenCalled()
  shape.mockRestore()
})
