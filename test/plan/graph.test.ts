import { expect, test, vi } from 'vitest'
import { knownTensor, scalarOf } from '../../src/plan/graph.ts'
import { floats, node, port } from '../fixtures/onnx.ts'
import { noise } from '../wasm/compare.ts'
import { graphOf } from './plan.ts'

const noisy = (name: string, dims: readonly number[]): object => floats(name, dims, [...noise(dims, 1).data])

test('a constant of more elements than are asked for is not read', async () => {
  const graph = await graphOf({
    inputs: [port('x', 'float', [3, 4])],
    outputs: [port('y', 'float')],
    initializers: [noisy('w', [3, 4]), noisy('s', [1])],
    nodes: [node('Add', ['x', 'w'], ['a']), node('Mul', ['a', 's'], ['y'])]
  })
  const constant = graph.constantOf('w')!
  if (!('read' in constant)) throw new Error('no constant of a file')
  const read = vi.spyOn(constant, 'read')
  expect(scalarOf(graph, 'w')).toBeUndefined()
  expect(knownTensor(graph, 'w', 11)).toBeUndefined()
  expect(read).not.toHaveBeenCalled()
  expect(knownTensor(graph, 'w', 12)?.data).toEqual(noise([3, 4], 1).data)
  expect(read).toHaveBeenCalledOnce()
  expect(scalarOf(graph, 's')).toBe(noise([1], 1).data[0])
})
