import { describe, expect, test } from 'vitest'
import { floats, int64s, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const X = [2, 3]
const model = (nodes: readonly object[], changes: Partial<ModelParts> = {}): ModelParts => ({
  inputs: [port('x', 'float', X)],
  outputs: [port('y', 'float')],
  initializers: [floats('w', [3], [1, 2, 3])],
  nodes,
  ...changes
})
const FLOAT = 1
const DOUBLE = 11
const cast = (from: string, to: string, type = FLOAT): object => node('Cast', [from], [to], { to: type })

describe('calls that give their operand', () => {
  test.each([
    ['a Cast to the type of its operand', [cast('x', 'c'), node('Relu', ['c'], ['y'])]],
    [
      'one after the other',
      [cast('x', 'c'), cast('c', 'd'), node('Identity', ['d'], ['e']), node('Relu', ['e'], ['y'])]
    ],
    ['of which others read, too', [node('Abs', ['x'], ['a']), cast('a', 'c'), node('Sub', ['c', 'a'], ['y'])]],
    ['an Identity of a constant', [node('Identity', ['w'], ['v']), node('Add', ['x', 'v'], ['y'])]]
  ])('are gone in each precision: %s', async (_, nodes) => {
    for (const isExact of [false, true]) {
      const ops = opsOf(await planOf(model(nodes), { isExact }))
      expect(ops).not.toContain('Cast')
      expect(ops).not.toContain('Identity')
    }
    expect(await differenceBetween(model(nodes), { x: X })).toBe(0)
  })

  const flat = [node('Relu', ['x'], ['r']), node('Flatten', ['r'], ['f'], { axis: 2 })]
  const reshaped = (nodes: readonly object[]): ModelParts =>
    model(nodes, {
      inputs: [port('x', 'float', ['b', 2, 3])],
      initializers: [int64s('swapped', [3], [-1, 3, 2]), int64s('one', [1], [1])]
    })

  test.each([
    [
      'a Reshape to the dims of before, for which the file asks',
      [...flat, node('Shape', ['r'], ['s']), node('Reshape', ['f', 's'], ['z']), node('Abs', ['z'], ['y'])]
    ],
    [
      'a Squeeze of an axis that an Unsqueeze has put in',
      [
        node('Relu', ['x'], ['r']),
        node('Unsqueeze', ['r', 'one'], ['u']),
        node('Squeeze', ['u', 'one'], ['z']),
        node('Abs', ['z'], ['y'])
      ]
    ]
  ])('are gone, and so is what they undo: %s', async (_, nodes) => {
    for (const isExact of [false, true])
      expect(opsOf(await planOf(reshaped(nodes), { isExact }))).toEqual(['Relu', 'Abs'])
    expect(await differenceBetween(reshaped(nodes), { x: [4, 2, 3] })).toBe(0)
  })

  test('stay where they reshape to other dims', async () => {
    const nodes = [...flat, node('Reshape', ['f', 'swapped'], ['z']), node('Abs', ['z'], ['y'])]
    expect(opsOf(await planOf(reshaped(nodes)))).toContain('Reshape')
    expect(await differenceBetween(reshaped(nodes), { x: [4, 2, 3] })).toBe(0)
  })

  test('a CastLike to the type of its operand, too', async () => {
    const nodes = [node('CastLike', ['x', 'w'], ['c']), node('Relu', ['c'], ['y'])]
    expect(opsOf(await planOf(model(nodes)))).toEqual(['Relu'])
  })

  test('are said to be pruned', async () => {
    const { removed } = await planOf(model([cast('x', 'c'), node('Relu', ['c'], ['y'])]))
    expect(removed.map(({ node: { type }, why }) => [type, why])).toEqual([['Cast', 'pruned']])
  })

  test('stay where their result is an output, or wanted, and in a run that is watched', async () => {
    const nodes = [cast('x', 'c'), node('Relu', ['c'], ['y'])]
    expect(opsOf(await planOf(model(nodes), { wanted: ['c', 'y'] }))).toEqual(['Cast', 'Relu'])
    expect(opsOf(await planOf(model(nodes), { isObserved: true }))).toEqual(['Cast', 'Relu'])
    expect(opsOf(await planOf(model([node('Identity', ['x'], ['y'])])))).toEqual(['Identity'])
  })

  test('stay where a body reads their result', async () => {
    const branch = (op: string, output: string) => ({
      graph: { outputs: [port(output, 'float')], nodes: [node(op, ['c'], [output])] }
    })
    const nodes = [
      cast('x', 'c'),
      node('If', ['if'], ['y'], { then_branch: branch('Relu', 't'), else_branch: branch('Abs', 'e') })
    ]
    const inputs = [port('if', 'bool', []), port('x', 'float', X)]
    expect(opsOf(await planOf(model(nodes, { inputs })))).toEqual(['Cast', 'If'])
  })

  test('stay where they change the type', async () => {
    const nodes = [cast('x', 'c', DOUBLE), cast('c', 'd'), node('Relu', ['d'], ['y'])]
    expect(opsOf(await planOf(model(nodes)))).toEqual(['Cast', 'Cast', 'Relu'])
  })
})

test('CastLike to a type that is known is a Cast, which does not wait for the value that has the type', async () => {
  const nodes = [node('Abs', ['x'], ['a']), node('CastLike', ['i', 'a'], ['c']), node('Add', ['a', 'c'], ['y'])]
  const parts = model(nodes, { inputs: [port('x', 'float', X), port('i', 'int64', [3])] })
  const plan = await planOf(parts)
  expect(opsOf(plan)).toContain('Cast')
  expect(plan.steps.find(({ call }) => call.op.name === 'Cast')?.inputs).toHaveLength(1)
})
