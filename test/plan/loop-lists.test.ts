import { describe, expect, test } from 'vitest'
import { InferenceSession } from '../../src/index.ts'
import { type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { noise } from '../wasm/compare.ts'
import { longs, scalar } from './bags.ts'
import { opsOf, planOf } from './plan.ts'

interface Changes {
  /** Nodes of the body that make `doubled` of `x` and `total`, the carried value, and `after` of `before`. */
  readonly body?: readonly object[]
  readonly join?: object
  readonly more?: readonly object[]
  readonly outputs?: readonly object[]
  readonly begin?: object
  readonly inputs?: readonly object[]
}

const sum = node('Add', ['total', 'x'], ['next'])
const doubled = node('Add', ['next', 'next'], ['doubled'])
const insert = node('SequenceInsert', ['before', 'doubled'], ['after'])

/** A loop that carries a sum and a list of what it was, doubled, as TorchScript writes it. */
const model = (changes: Changes = {}): ModelParts => ({
  inputs: [port('x', 'float', [2, 3]), port('trip', 'int64', []), port('go', 'bool', []), ...(changes.inputs ?? [])],
  outputs: changes.outputs ?? [port('y', 'float'), port('last', 'float')],
  initializers: [scalar('zero', 0), scalar('one', 1)],
  nodes: [
    changes.begin ?? node('SequenceEmpty', [], ['none']),
    node('Loop', ['trip', 'go', 'none', 'x'], ['all', 'last'], {
      body: {
        graph: {
          inputs: [port('i', 'int64', []), port('goes', 'bool', []), { name: 'before' }, port('total', 'float')],
          outputs: [port('goesOn', 'bool', []), { name: 'after' }, port('next', 'float')],
          nodes: [
            ...(changes.body ?? [sum, doubled, insert]),
            node('Not', ['goes'], ['stops']),
            node('Not', ['stops'], ['goesOn'])
          ]
        }
      }
    }),
    changes.join ?? node('ConcatFromSequence', ['all'], ['y'], { axis: 0 }),
    ...(changes.more ?? [])
  ]
})

async function run(parts: ModelParts, trip: number, isObserved: boolean): Promise<Record<string, unknown>> {
  const session = new InferenceSession(await onnxModel(parts))
  const feeds = { x: noise([2, 3], 1), trip: longs(trip).reshape([]), go: noise([], 1) }
  const go = { type: 'bool', dims: [], data: Uint8Array.of(1) }
  const results = await session.run({ ...feeds, go: go as never }, isObserved ? { onStep: () => undefined } : {})
  session.dispose()
  return Object.fromEntries(
    Object.entries(results).map(([name, value]) => [
      name,
      [(value as never as { dims: unknown }).dims, [...(value as never as { data: Float32Array }).data]]
    ])
  )
}

describe('a list to which a Loop adds', () => {
  test.each<[string, Changes]>([
    ['that is concatenated', {}],
    ['along another axis', { join: node('ConcatFromSequence', ['all'], ['y'], { axis: -1 }) }],
    ['that is stacked', { join: node('ConcatFromSequence', ['all'], ['y'], { axis: 1, new_axis: 1 }) }],
    [
      'of tensors whose dims differ',
      {
        body: [sum, node('Expand', ['next', 'dims'], ['doubled']), insert].with(
          1,
          node('Concat', ['next', 'next'], ['doubled'], { axis: 0 })
        )
      }
    ]
  ])('%s is an output of the loop', async (_, changes) => {
    const parts = model(changes)
    expect(opsOf(await planOf(parts))).toEqual(['SequenceEmpty', 'Loop'])
    expect(opsOf(await planOf(parts, { isExact: true }))).toEqual(['SequenceEmpty', 'Loop'])
    for (const trip of [1, 2, 7]) expect(await run(parts, trip, false)).toEqual(await run(parts, trip, true))
  })

  test('is none where no run adds to it: it cannot be put together', async () => {
    for (const isObserved of [false, true])
      await expect(run(model(), 0, isObserved)).rejects.toMatchObject({
        code: 'value-out-of-range',
        message: expect.stringContaining('the sequence is empty') as string
      })
  })

  test('is one of two', async () => {
    const parts = model()
    const loop = parts.nodes[1] as {
      input: string[]
      output: string[]
      attribute: { g: { input: object[]; output: object[]; node: object[] } }[]
    }
    const body = loop.attribute[0].g
    const two: ModelParts = {
      ...parts,
      outputs: [...parts.outputs, port('z', 'float')],
      nodes: [
        parts.nodes[0],
        {
          ...loop,
          input: [...loop.input, 'none'],
          output: [...loop.output, 'others'],
          attribute: [
            {
              ...loop.attribute[0],
              g: {
                ...body,
                input: [...body.input, { name: 'otherBefore' }],
                output: [...body.output, { name: 'otherAfter' }],
                node: [...body.node, node('SequenceInsert', ['otherBefore', 'next'], ['otherAfter'])]
              }
            }
          ]
        },
        parts.nodes[2],
        node('ConcatFromSequence', ['others'], ['z'], { axis: 0, new_axis: 1 })
      ]
    }
    expect(opsOf(await planOf(two))).toEqual(['SequenceEmpty', 'Loop'])
    expect(await run(two, 5, false)).toEqual(await run(two, 5, true))
  })

  test.each<[string, Changes]>([
    [
      'is read by another node, too',
      { more: [node('SequenceLength', ['all'], ['length'])], outputs: [port('y', 'float'), port('length', 'int64')] }
    ],
    ['is an output', { outputs: [port('y', 'float'), { name: 'all' }] }],
    ['does not begin empty', { begin: node('SequenceConstruct', ['x'], ['none']) }],
    [
      'is read in the body',
      {
        body: [
          node('SequenceLength', ['before'], ['count']),
          node('CastLike', ['count', 'x'], ['number']),
          node('Add', ['total', 'number'], ['next']),
          doubled,
          insert
        ]
      }
    ],
    [
      'is read in the body when it has grown',
      {
        body: [doubled, insert, node('SequenceAt', ['after', 'zero'], ['next'])].with(
          0,
          node('Add', ['total', 'x'], ['doubled'])
        )
      }
    ],
    [
      'grows at its beginning',
      { body: [sum, doubled, node('SequenceInsert', ['before', 'doubled', 'zero'], ['after'])] }
    ],
    ['grows by what is around the body', { body: [sum, node('SequenceInsert', ['before', 'x'], ['after'])] }],
    [
      'grows twice',
      {
        body: [
          sum,
          doubled,
          node('SequenceInsert', ['before', 'doubled'], ['some']),
          node('SequenceInsert', ['some', 'next'], ['after'])
        ]
      }
    ],
    [
      'has tensors of unknown rank',
      { body: [sum, node('Reshape', ['next', 'shape'], ['doubled']), insert], inputs: [port('shape', 'int64', ['k'])] }
    ],
    ['is read otherwise', { join: node('SequenceAt', ['all', 'zero'], ['y']) }]
  ])('stays one where it %s', async (_, changes) => {
    const plan = await planOf(model(changes))
    const [body] = plan.steps.flatMap(({ bodies }) => [...bodies.values()])
    expect(opsOf(body.plan())).toContain('SequenceInsert')
  })

  test('stays one where values are observed', async () => {
    expect(opsOf(await planOf(model(), { isObserved: true }))).toContain('ConcatFromSequence')
  })
})
