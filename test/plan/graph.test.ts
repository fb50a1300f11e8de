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

test('the list of calls is made anew after a change, and those given out stay as they were', async () => {
  const graph = await graphOf({
    inputs: [port('x', 'float', [3])],
    outputs: [port('y', 'float')],
    nodes: [node('Abs', ['x'], ['a']), node('Neg', ['x'], ['b']), node('Relu', ['a'], ['y'])]
  })
  const before = graph.calls
  expect(graph.calls).toBe(before)
  const [abs, neg, relu] = before
  graph.remove(neg)
  expect(graph.calls).toEqual([abs, relu])
  const other = { ...relu }
  graph.replace(relu, other)
  expect(graph.calls[1]).toBe(other)
  graph.spread(new Map([[other, [relu, neg]]]))
  expect(graph.calls).toEqual([abs, relu, neg])
  expect(graph.items).toEqual([abs, relu, neg])
  expect(before).toEqual([abs, neg, relu])
})

test('an operator counts as one that may be there from its first call on', async () => {
  const graph = await graphOf({
    inputs: [port('x', 'float', [3])],
    outputs: [port('y', 'float')],
    nodes: [node('Abs', ['x'], ['y'])]
  })
  expect([graph.mayHave('Abs'), graph.mayHave('Neg')]).toEqual([true, false])
  const [item] = graph.calls
  graph.replace(item, { ...item, call: { ...item.call, op: { ...item.call.op, name: 'Neg' } } })
  expect(graph.mayHave('Neg')).toBe(true)
})
