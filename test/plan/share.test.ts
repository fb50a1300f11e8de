import { describe, expect, test } from 'vitest'
import { floats, int64s, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const model = (nodes: readonly object[], changes: Partial<ModelParts> = {}): ModelParts => ({
  inputs: [port('x', 'float', ['n', 3]), port('z', 'float', ['n', 3])],
  outputs: [port('y', 'float')],
  initializers: [int64s('zero', [], [0]), int64s('one', [], [1]), floats('w', [3], [1, 2, 3])],
  nodes,
  ...changes
})

/** Numbers up to the rows of a value, as a column of floats. */
const counted = (from: string, to: string): object[] => [
  node('Shape', [from], [`${to}_shape`]),
  node('Gather', [`${to}_shape`, 'zero'], [`${to}_rows`], { axis: 0 }),
  node('Range', ['zero', `${to}_rows`, 'one'], [`${to}_range`]),
  node('Unsqueeze', [`${to}_range`, 'one'], [`${to}_column`]),
  node('Cast', [`${to}_column`], [to], { to: 1 })
]
const COUNTED = ['Shape', 'Gather', 'Range', 'Unsqueeze', 'Cast']

describe('calls that give the same', () => {
  test('run once where operator, parameters and operands are the same, one after the other', async () => {
    const nodes = [
      ...[node('Abs', ['x'], ['a']), node('Abs', ['x'], ['b'])],
      ...[node('Softmax', ['a'], ['c'], { axis: 1 }), node('Softmax', ['b'], ['d'], { axis: 1 })],
      node('Mul', ['c', 'd'], ['y'])
    ]
    for (const isExact of [false, true])
      expect(opsOf(await planOf(model(nodes), { isExact }))).toEqual(['Abs', 'Softmax', 'Mul'])
    expect(await differenceBetween(model(nodes), { x: [2, 3], z: [2, 3] })).toBe(0)
  })

  test('run once where inference has one expression for what they give', async () => {
    const nodes = [
      ...[node('Abs', ['x'], ['a']), node('Neg', ['z'], ['b']), ...counted('a', 'c'), ...counted('b', 'd')],
      ...[node('Add', ['c', 'a'], ['e']), node('Add', ['d', 'b'], ['f']), node('Mul', ['e', 'f'], ['y'])]
    ]
    expect(opsOf(await planOf(model(nodes)))).toEqual(['Abs', 'Neg', ...COUNTED, 'Add', 'Add', 'Mul'])
    expect(await differenceBetween(model(nodes), { x: [2, 3], z: [2, 3] })).toBe(0)
  })

  test('run once where one that is gone would have been the same as well', async () => {
    const nodes = [
      ...[node('Abs', ['x'], ['a']), node('Neg', ['z'], ['b'])],
      ...[...counted('a', 'c'), ...counted('b', 'd'), ...counted('b', 'e')],
      ...[node('Sum', ['a', 'b', 'c', 'd', 'e'], ['y'])]
    ]
    expect(opsOf(await planOf(model(nodes)))).toEqual(['Abs', 'Neg', ...COUNTED, 'Sum'])
    expect(await differenceBetween(model(nodes), { x: [2, 3], z: [2, 3] })).toBe(0)
  })

  test('run once where they read constants of their own with the same few elements', async () => {
    const constants = [floats('two', [], [2]), floats('also2', [], [2]), floats('w2', [3], [1, 2, 3])]
    const initializers = [...constants, floats('w', [3], [1, 2, 3]), floats('low', [], [-0]), floats('high', [], [0])]
    const sharing = (a: string, b: string): ModelParts =>
      model([node('Mul', ['x', a], ['a']), node('Mul', ['x', b], ['b']), node('Add', ['a', 'b'], ['y'])], {
        initializers
      })
    expect(opsOf(await planOf(sharing('two', 'also2')))).toEqual(['Mul', 'Add'])
    expect(opsOf(await planOf(sharing('w', 'w2')))).toEqual(['Mul', 'Add'])
    expect(opsOf(await planOf(sharing('two', 'w')))).toEqual(['Mul', 'Mul', 'Add'])
    expect(opsOf(await planOf(sharing('low', 'high')))).toEqual(['Mul', 'Mul', 'Add'])
    expect(await differenceBetween(sharing('two', 'also2'), { x: [2, 3], z: [2, 3] })).toBe(0)
  })

  test('run each where inference has other expressions', async () => {
    const nodes = [...counted('x', 'c'), ...counted('z', 'd'), node('Concat', ['c', 'd'], ['y'], { axis: 0 })]
    const inputs = [port('x', 'float', ['n', 3]), port('z', 'float', ['m', 3])]
    expect(opsOf(await planOf(model(nodes, { inputs })))).toEqual([...COUNTED, ...COUNTED, 'Concat'])
  })

  test.each([
    ['other parameters', node('Softmax', ['x'], ['b'], { axis: 0 })],
    ['other operands', node('Softmax', ['z'], ['b'], { axis: 1 })],
    ['another operator', node('LogSoftmax', ['x'], ['b'], { axis: 1 })]
  ])('have the same parameters and operands: %s', async (_, other) => {
    const nodes = [node('Softmax', ['x'], ['a'], { axis: 1 }), other, node('Mul', ['a', 'b'], ['y'])]
    expect(opsOf(await planOf(model(nodes)))).toHaveLength(3)
  })

  test('run each where both are outputs, where somebody watches, where they are random, and for a body', async () => {
    const twice = [node('Abs', ['x'], ['a']), node('Abs', ['x'], ['y'])]
    expect(opsOf(await planOf(model(twice), { wanted: ['a', 'y'] }))).toEqual(['Abs', 'Abs'])
    const product = [node('Abs', ['x'], ['a']), node('Abs', ['x'], ['b']), node('Mul', ['a', 'b'], ['y'])]
    expect(opsOf(await planOf(model(product), { isObserved: true }))).toEqual(['Abs', 'Abs', 'Mul'])
    const random = ['a', 'b'].map(name => node('RandomNormalLike', ['x'], [name]))
    expect(opsOf(await planOf(model([...random, node('Sub', ['a', 'b'], ['y'])])))).toHaveLength(3)
    const branch = (op: string, output: string) => ({
      graph: { outputs: [port(output, 'float')], nodes: [node(op, ['b'], [output])] }
    })
    const choice = node('If', ['if'], ['c'], { then_branch: branch('Relu', 't'), else_branch: branch('Neg', 'e') })
    const inputs = [port('if', 'bool', []), port('x', 'float', ['n', 3])]
    const nodes = [node('Abs', ['x'], ['a']), node('Abs', ['x'], ['b']), choice, node('Mul', ['a', 'c'], ['y'])]
    expect(opsOf(await planOf(model(nodes, { inputs })))).toEqual(['Abs', 'Abs', 'If', 'Mul'])
  })

  test('share their result where the first of them is the output', async () => {
    const nodes = [node('Abs', ['x'], ['y']), node('Abs', ['x'], ['b']), node('Neg', ['b'], ['c'])]
    const { steps, slots } = await planOf(model(nodes), { wanted: ['y', 'c'] })
    expect(steps.map(({ call }) => call.op.name)).toEqual(['Abs', 'Neg'])
    expect(steps[1].inputs).toEqual([slots.get('y')])
  })
})
