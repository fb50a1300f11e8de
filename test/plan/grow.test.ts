import { expect, test } from 'vitest'
import { floats, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { opsOf, planOf } from './plan.ts'

const DIMS = [1, 2, 's', 8]
const NODES = [
  node('Concat', ['past', 'new'], ['present'], { axis: 2 }),
  node('Transpose', ['present'], ['columns'], { perm: [0, 1, 3, 2] }),
  node('MatMul', ['q', 'columns'], ['s']),
  node('Softmax', ['s'], ['w'], { axis: -1 }),
  node('MatMul', ['w', 'present'], ['y'])
]
const model = (changes: Partial<ModelParts> = {}): ModelParts => ({
  inputs: [port('q', 'float', [1, 2, 't', 8]), port('past', 'float', DIMS), port('new', 'float', [1, 2, 't', 8])],
  outputs: [port('y', 'float'), port('present', 'float')],
  nodes: NODES,
  ...changes
})
const past = floats('past', [1, 2, 1, 8], new Array<number>(16).fill(1))

test.each<[string, ModelParts, string]>([
  ['an input is joined with more, and the result is attended to and wanted', model(), 'Append'],
  ['nobody wants the result', model({ outputs: [port('y', 'float')] }), 'Concat'],
  [
    'something else reads the result',
    model({
      nodes: [...NODES, node('Relu', ['present'], ['r'])],
      outputs: ['y', 'present', 'r'].map(name => port(name, 'float'))
    }),
    'Concat'
  ],
  [
    'what comes first is computed',
    model({
      nodes: [node('Relu', ['past'], ['p']), node('Concat', ['p', 'new'], ['present'], { axis: 2 }), ...NODES.slice(1)]
    }),
    'Concat'
  ],
  [
    'what comes first is a constant',
    model({ inputs: model().inputs!.filter((_, i) => i !== 1), initializers: [past] }),
    'Concat'
  ]
])('%s', async (_name, parts, expected) => {
  const names = opsOf(await planOf(parts))
  expect(names).toContain('ScaledDotProductAttention')
  expect(names.filter(name => name === 'Append' || name === 'Concat')).toEqual([expected])
})

test.each([
  ['a list', [2], 2, ['Reorder', 'Append']],
  ['a table of entries, which adds an axis', [1, 2], 3, ['Gather', 'Concat']]
])('entries of a cache are chosen by %s', async (_name, dims, axis, expected) => {
  const plan = await planOf({
    inputs: [port('past', 'float', [2, 3, 's', 8]), port('order', 'int64', dims)],
    outputs: [port('present', 'float')],
    nodes: [
      node('Gather', ['past', 'order'], ['chosen'], { axis: 0 }),
      node('Concat', ['chosen', 'chosen'], ['present'], { axis })
    ]
  })
  expect(opsOf(plan)).toEqual(expected)
})

test('who watches a run, and exact precision, see the node of the file', async () => {
  for (const options of [{ isObserved: true }, { isExact: true }])
    expect(opsOf(await planOf(model(), options))).toContain('Concat')
})

test('a body extends what it is given, not what it captures', async () => {
  const cache = (name: string): object => port(name, 'float', DIMS)
  const body = {
    inputs: [port('i', 'int64', []), port('c', 'bool', []), cache('before')],
    outputs: [port('on', 'bool'), port('present', 'float'), port('y', 'float')],
    nodes: [node('Identity', ['c'], ['on']), ...NODES]
  }
  const joining = async (past: string): Promise<string[]> => {
    const nodes = body.nodes.map((item, i) =>
      i === 1 ? node('Concat', [past, 'new'], ['present'], { axis: 2 }) : item
    )
    const loop = node('Loop', ['n', '', 'past'], ['last', 'all'], { body: { graph: { ...body, nodes } } })
    const inputs = [...model().inputs!, port('n', 'int64', [])]
    const outputs = ['last', 'all'].map(name => port(name, 'float'))
    const { steps } = await planOf(model({ inputs, outputs, nodes: [loop] }))
    return [...steps[0].bodies.values()].flatMap(({ plan }) => opsOf(plan()))
  }
  expect(await joining('before')).toContain('Append')
  expect(await joining('past')).not.toContain('Append')
})
