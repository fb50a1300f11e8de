import { describe, expect, test } from 'vitest'
import { floats, type GraphParts, int64s, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const X = [2, 3]
const branch = (
  nodes: readonly object[],
  output: string,
  changes: Partial<GraphParts> = {}
): { graph: GraphParts } => ({
  graph: { outputs: [port(output, 'float')], nodes, ...changes }
})
const choice = (
  condition: string,
  output: string,
  taken: { graph: GraphParts },
  other: { graph: GraphParts }
): object => node('If', [condition], [output], { then_branch: taken, else_branch: other })

/** A model that chooses by whether x has three columns, as it is declared to have. */
const model = (nodes: readonly object[], changes: Partial<ModelParts> = {}): ModelParts => ({
  inputs: [port('x', 'float', X)],
  outputs: [port('y', 'float')],
  initializers: [int64s('columns', [], [3]), int64s('axis', [], [1]), floats('w', [3], [1, -2, 3])],
  nodes: [
    node('Shape', ['x'], ['dims']),
    node('Gather', ['dims', 'axis'], ['width']),
    node('Equal', ['width', 'columns'], ['yes']),
    node('Not', ['yes'], ['no']),
    ...nodes
  ],
  ...changes
})
/** Adds a value from outside to x three times. */
const adding = (captured: string, to: string): object =>
  node('Loop', ['columns', '', 'x'], [to], {
    body: {
      graph: {
        inputs: [port('i', 'int64', []), port('go', 'bool', []), port('last', 'float', X)],
        outputs: [port('goes on', 'bool', []), port('next', 'float', X)],
        nodes: [node('Identity', ['go'], ['goes on']), node('Add', ['last', captured], ['next'])]
      }
    }
  })
const neg = (to: string): { graph: GraphParts } => branch([node('Neg', ['x'], [to])], to)
const through = (type: string, to: string): { graph: GraphParts } =>
  branch([node(type, ['x'], ['same']), node('Abs', ['same'], [to])], to)
const tanh = (to: string): { graph: GraphParts } => branch([node('Tanh', ['x'], [to])], to)

describe('a branch that is known to be taken', () => {
  test.each([
    ['the first', [choice('yes', 'c', neg('t'), tanh('e')), node('Relu', ['c'], ['y'])], ['Neg', 'Relu']],
    ['the second', [choice('no', 'c', neg('t'), tanh('e')), node('Relu', ['c'], ['y'])], ['Tanh', 'Relu']],
    ['whose output is one of the graph', [choice('yes', 'y', neg('t'), tanh('e'))], ['Neg']],
    [
      'that gives a value from outside',
      [node('Abs', ['x'], ['a']), choice('yes', 'c', branch([], 'a'), tanh('e')), node('Add', ['c', 'a'], ['y'])],
      ['Abs', 'Add']
    ],
    [
      'that gives one value twice',
      [
        node('If', ['yes'], ['c', 'd'], {
          then_branch: {
            graph: { outputs: [port('t', 'float'), port('t', 'float')], nodes: [node('Neg', ['x'], ['t'])] }
          },
          else_branch: {
            graph: { outputs: [port('e', 'float'), port('e', 'float')], nodes: [node('Tanh', ['x'], ['e'])] }
          }
        }),
        node('Mul', ['c', 'd'], ['y'])
      ],
      ['Neg', 'Mul']
    ],
    [
      'that gives what a body in it reads',
      [
        node('If', ['yes'], ['c', 'd'], {
          then_branch: {
            graph: {
              outputs: [port('captured', 'float'), port('t', 'float')],
              nodes: [node('Neg', ['x'], ['captured']), adding('captured', 't')]
            }
          },
          else_branch: { graph: { outputs: [port('x', 'float'), port('x', 'float')], nodes: [] } }
        }),
        node('Mul', ['c', 'd'], ['y'])
      ],
      ['Neg', 'Loop', 'Mul']
    ],
    [
      'with constants of its own',
      [
        choice(
          'yes',
          'c',
          branch([node('Mul', ['x', 'v'], ['t'])], 't', { initializers: [floats('v', [3], [2, 3, 4])] }),
          tanh('e')
        ),
        node('Relu', ['c'], ['y'])
      ],
      ['Mul', 'Relu']
    ],
    [
      'with a branch in it',
      [
        choice('yes', 'c', branch([choice('no', 't', neg('n'), tanh('m'))], 't'), tanh('e')),
        node('Relu', ['c'], ['y'])
      ],
      ['Tanh', 'Relu']
    ],
    [
      'with a loop in it that reads its values',
      [
        choice('yes', 'c', branch([node('Abs', ['x'], ['captured']), adding('captured', 't')], 't'), tanh('e')),
        node('Relu', ['c'], ['y'])
      ],
      ['Abs', 'Loop', 'Relu']
    ],
    [
      'whose values have the names of others',
      [
        choice('yes', 'a', through('Neg', 't'), tanh('e')),
        choice('yes', 'b', through('Tanh', 't'), neg('e')),
        node('Add', ['a', 'b'], ['y'])
      ],
      ['Neg', 'Abs', 'Tanh', 'Abs', 'Add']
    ],
    [
      'whose outputs have the names of those of the If, as Optimum merges decoders',
      [
        node('If', ['yes'], ['logits', 'present', 'cache'], {
          then_branch: {
            graph: {
              outputs: [port('logits', 'float'), port('cache', 'float'), port('present', 'float')],
              initializers: [floats('cache', [3], [2, 3, 4])],
              nodes: [node('Abs', ['x'], ['logits']), adding('logits', 'sum'), node('Neg', ['sum'], ['present'])]
            }
          },
          else_branch: {
            graph: { outputs: [port('x', 'float'), port('w', 'float'), port('x', 'float')], nodes: [] }
          }
        }),
        node('Sub', ['logits', 'present'], ['difference']),
        node('Mul', ['difference', 'cache'], ['y'])
      ],
      ['Abs', 'Loop', 'Neg', 'Sub', 'Mul']
    ]
  ])('has its nodes in the place of the If: %s', async (_, nodes, ops) => {
    for (const isExact of [false, true]) expect(opsOf(await planOf(model(nodes), { isExact }))).toEqual(ops)
    expect(opsOf(await planOf(model(nodes), { isObserved: true }))).toContain('If')
    expect(await differenceBetween(model(nodes), { x: X })).toBeLessThan(1e-6)
  })

  test('is fused with what follows it', async () => {
    const product = branch([node('MatMul', ['x', 'm'], ['t'])], 't', {
      initializers: [floats('m', [3, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9])]
    })
    const nodes = [choice('yes', 'c', product, tanh('e')), node('Add', ['c', 'w'], ['y'])]
    expect(opsOf(await planOf(model(nodes)))).toEqual(['FusedMatMul'])
    expect(await differenceBetween(model(nodes), { x: X })).toBeLessThan(1e-6)
  })
})

describe('an If stays', () => {
  test('where its condition is known only in a run', async () => {
    const inputs = [port('x', 'float', X), port('if', 'bool', [])]
    const nodes = [choice('if', 'c', neg('t'), tanh('e')), node('Relu', ['c'], ['y'])]
    expect(opsOf(await planOf(model(nodes, { inputs })))).toEqual(['If', 'Relu'])
  })

  test('where a loop in its branch reads a value that has the name of another one', async () => {
    const first = choice('yes', 'a', branch([node('Abs', ['x'], ['same'])], 'same'), tanh('e'))
    const captured = branch([node('Abs', ['a'], ['x']), adding('x', 't')], 't')
    const nodes = [first, choice('yes', 'b', captured, neg('e')), node('Add', ['a', 'b'], ['y'])]
    expect(opsOf(await planOf(model(nodes)))).toEqual(['Abs', 'If', 'Add'])
    expect(await differenceBetween(model(nodes), { x: X })).toBeLessThan(1e-6)
  })
})
