import { describe, expect, test } from 'vitest'
import { floats, int64s, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { attentionModel, DIMS, feedsOf, type Name, NUMBERS, SCORES, weighted } from './attention-model.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const initializers = [
  ...NUMBERS,
  floats('infinity', [], [-Infinity]),
  // The first query sees no key, the third only a few.
  floats('shut', [20, 30], new Array(600).fill(0).fill(-Infinity, 0, 30).fill(-Infinity, 65, 90))
]
const model = (inputs: readonly Name[], nodes: readonly object[], changes: Partial<ModelParts> = {}): ModelParts => ({
  ...attentionModel(inputs, nodes, initializers),
  ...changes
})

/** Weights that are NaN, as all of a query that sees no key, become 0. */
const safelyWeighted = (scores: string): readonly object[] => [
  node('Softmax', [scores], ['w0'], { axis: -1 }),
  node('IsNaN', ['w0'], ['n']),
  node('Where', ['n', 'zero', 'w0'], ['w']),
  node('MatMul', ['w', 'v'], ['y'])
]

const fused: readonly (readonly [string, readonly Name[], readonly object[], readonly string[]])[] = [
  ['no scale and no mask', ['q', 'columns', 'v'], [SCORES, ...weighted('s')], []],
  [
    'BERT: divided, and a mask of a row',
    ['q', 'columns', 'v', 'row'],
    [SCORES, node('Div', ['s', 'four'], ['d']), node('Add', ['d', 'row'], ['m']), ...weighted('m')],
    []
  ],
  [
    'scaled, the mask first in the sum',
    ['q', 'columns', 'v', 'full'],
    [SCORES, node('Mul', ['quarter', 's'], ['d']), node('Add', ['full', 'd'], ['m']), ...weighted('m')],
    []
  ],
  [
    'T5: a mask of the dims of the scores',
    ['q', 'columns', 'v', 'full'],
    [SCORES, node('Add', ['s', 'full'], ['m']), ...weighted('m')],
    []
  ],
  [
    'keys that a Transpose swaps',
    ['q', 'rows', 'v'],
    [
      node('Transpose', ['rows'], ['k'], { perm: [0, 1, 3, 2] }),
      node('MatMul', ['q', 'k'], ['s']),
      node('Div', ['s', 'four'], ['d']),
      ...weighted('d')
    ],
    []
  ],
  [
    'PyTorch: queries and keys scaled by a root each',
    ['q', 'rows', 'v', 'row'],
    [
      node('Transpose', ['rows'], ['k'], { perm: [0, 1, 3, 2] }),
      node('Mul', ['q', 'half'], ['q2']),
      node('Mul', ['half', 'k'], ['k2']),
      node('MatMul', ['q2', 'k2'], ['s']),
      node('Add', ['s', 'row'], ['m']),
      ...weighted('m')
    ],
    []
  ],
  [
    'queries scaled alone',
    ['q', 'columns', 'v'],
    [node('Mul', ['q', 'quarter'], ['q2']), node('MatMul', ['q2', 'columns'], ['s']), ...weighted('s')],
    []
  ],
  [
    'weights that a Cast leaves as they are',
    ['q', 'columns', 'v'],
    [
      SCORES,
      node('Softmax', ['s'], ['w0'], { axis: -1 }),
      node('Cast', ['w0'], ['w'], { to: 1 }),
      node('MatMul', ['w', 'v'], ['y'])
    ],
    []
  ],
  [
    'GPT: Where with a low number',
    ['q', 'columns', 'v', 'row'],
    [
      SCORES,
      node('Div', ['s', 'four'], ['d']),
      node('Greater', ['row', 'zero'], ['seen']),
      node('Where', ['seen', 'd', 'low'], ['m']),
      ...weighted('m')
    ],
    ['Greater']
  ],
  [
    'masked_fill: Where that hides what is true',
    ['q', 'columns', 'v', 'full'],
    [
      SCORES,
      node('Greater', ['full', 'zero'], ['hidden']),
      node('Where', ['hidden', 'lowest', 's'], ['m']),
      ...weighted('m')
    ],
    ['Greater']
  ],
  [
    'safe softmax of PyTorch, a query that sees no key among others',
    ['q', 'columns', 'v'],
    [SCORES, node('Add', ['s', 'shut'], ['m']), ...safelyWeighted('m')],
    []
  ],
  [
    'safe softmax of PyTorch, a mask made of what is seen',
    ['q', 'columns', 'v', 'full'],
    [
      SCORES,
      node('Mul', ['s', 'quarter'], ['d']),
      node('Greater', ['full', 'zero'], ['seen']),
      node('Where', ['seen', 'zero', 'infinity'], ['bias']),
      node('Add', ['d', 'bias'], ['m']),
      ...safelyWeighted('m')
    ],
    ['Greater', 'Where']
  ]
]

describe('attention written in several nodes', () => {
  test.each(fused)('%s: fused in fast precision, and the same numbers as apart', async (_, inputs, nodes, before) => {
    const parts = model(inputs, nodes)
    expect(opsOf(await planOf(parts))).toEqual([...before, 'ScaledDotProductAttention'])
    expect(opsOf(await planOf(parts, { isExact: true }))).not.toContain('ScaledDotProductAttention')
    expect(await differenceBetween(parts, feedsOf(inputs), 2)).toBeLessThan(3e-6)
  })

  /** Heads that are repeated side by side, as `repeat_kv` does; those of `axis` 1 are repeated as a whole. */
  const repeated = (name: string, axis: number): readonly object[] => [
    node('Unsqueeze', [name, `axis${axis}`], [`${name}1`]),
    node('Expand', [`${name}1`, `many${axis}`], [`${name}2`]),
    node('Reshape', [`${name}2`, 'merged'], [`${name}3`])
  ]
  const grouped = (axis: number, changes: Partial<ModelParts> = {}): ModelParts => ({
    inputs: [
      port('q', 'float', [2, 6, 20, 16]),
      port('k', 'float', [2, 3, 30, 16]),
      port('v', 'float', [2, 3, 30, 16])
    ],
    outputs: [port('y', 'float')],
    initializers: [
      int64s('axis2', [1], [2]),
      int64s('axis1', [1], [1]),
      int64s('many2', [5], [2, 3, 2, 30, 16]),
      int64s('many1', [5], [2, 2, 3, 30, 16]),
      int64s('merged', [4], [2, 6, 30, 16])
    ],
    nodes: [
      ...repeated('k', axis),
      ...repeated('v', axis),
      node('Transpose', ['k3'], ['kt'], { perm: [0, 1, 3, 2] }),
      node('MatMul', ['q', 'kt'], ['s']),
      node('Softmax', ['s'], ['w'], { axis: -1 }),
      node('MatMul', ['w', 'v3'], ['y'])
    ],
    ...changes
  })
  const groupedFeeds = { q: [2, 6, 20, 16], k: [2, 3, 30, 16], v: [2, 3, 30, 16] }

  test('keys and values that heads share are read as they are before they are repeated', async () => {
    expect(opsOf(await planOf(grouped(2)))).toEqual(['ScaledDotProductAttention'])
    expect(await differenceBetween(grouped(2), groupedFeeds, 2)).toBeLessThan(3e-6)
    const one = grouped(2, { outputs: [port('y', 'float'), port('k3', 'float')] })
    expect(opsOf(await planOf(one))).toContain('Expand')
  })

  /** The same where the number of rows that each Expand is told is an input. */
  const told = (k: string, v: string): ModelParts =>
    grouped(2, {
      inputs: [
        port('q', 'float', [2, 6, 20, 16]),
        port('k', 'float', [2, 3, k, 16]),
        port('v', 'float', [2, 3, v, 16]),
        port('rows', 'float', ['rows'])
      ],
      initializers: [
        int64s('axis2', [1], [2]),
        int64s('before', [3], [2, 3, 2]),
        int64s('after', [1], [16]),
        int64s('merged', [4], [2, 6, -1, 16])
      ],
      nodes: [
        node('Shape', ['rows'], ['count']),
        node('Concat', ['before', 'count', 'after'], ['many2'], { axis: 0 }),
        ...grouped(2).nodes
      ]
    })

  test.each([
    [30, 30, 30],
    [30, 1, 30],
    [1, 30, 30],
    [1, 1, 30]
  ])('of %i keys and %i values that are repeated as an input says, too', async (k, v, rows) => {
    const parts = told('k', 'v')
    expect(opsOf(await planOf(parts))).toEqual(['ScaledDotProductAttention'])
    const dims = { q: [2, 6, 20, 16], k: [2, 3, k, 16], v: [2, 3, v, 16], rows: [rows] }
    expect(await differenceBetween(parts, dims, 2)).toBeLessThan(3e-6)
  })

  test('heads that are repeated in another order stay repeated', async () => {
    expect(opsOf(await planOf(grouped(1)))).toContain('Expand')
    expect(await differenceBetween(grouped(1), groupedFeeds, 2)).toBeLessThan(3e-6)
  })

  test('a Transpose that others read, too, stays', async () => {
    const nodes = [
      node('Transpose', ['rows'], ['k'], { perm: [0, 1, 3, 2] }),
      node('MatMul', ['q', 'k'], ['s']),
      ...weighted('s'),
      node('Relu', ['k'], ['z'])
    ]
    const parts = model(['q', 'rows', 'v'], nodes, { outputs: [port('y', 'float'), port('z', 'float')] })
    expect(opsOf(await planOf(parts)).sort()).toEqual(['Relu', 'ScaledDotProductAttention', 'Transpose'])
    expect(await differenceBetween(parts, feedsOf(['q', 'rows', 'v']))).toBeLessThan(3e-6)
  })

  test('keys and values stay repeated as a whole where there are as many heads as repetitions', async () => {
    const feeds = { q: [2, 4, 20, 16], k: [2, 2, 30, 16], v: [2, 2, 30, 16] }
    const parts = grouped(1, {
      inputs: Object.entries(feeds).map(([name, dims]) => port(name, 'float', dims)),
      initializers: [
        ...[int64s('axis1', [1], [1]), int64s('many1', [5], [2, 2, 2, 30, 16]), int64s('merged', [4], [2, 4, 30, 16])]
      ]
    })
    expect(opsOf(await planOf(parts))).toContain('Expand')
    expect(await differenceBetween(parts, feeds, 2)).toBeLessThan(3e-6)
  })

  const square: readonly object[] = [
    node('MatMul', ['q', 'q2'], ['s']),
    node('Softmax', ['s'], ['w'], { axis: -2 }),
    node('MatMul', ['w', 'v'], ['y'])
  ]
  test.each<readonly [string, ModelParts]>([
    [
      'softmax along another axis',
      model(['v'], square, {
        inputs: [port('q', 'float', [2, 3, 30, 16]), port('q2', 'float', [2, 3, 16, 30]), port('v', 'float', DIMS.v)]
      })
    ],
    [
      'a reader of the weights',
      model(['q', 'columns', 'v'], [SCORES, ...weighted('s'), node('Relu', ['w'], ['z'])], {
        outputs: [port('y', 'float'), port('z', 'float')]
      })
    ],
    [
      'NaN weights that become another number than 0',
      model(
        ['q', 'columns', 'v'],
        [SCORES, ...safelyWeighted('s')].map((part, i) => (i === 3 ? node('Where', ['n', 'half', 'w0'], ['w']) : part))
      )
    ],
    [
      'NaN of something else that become 0',
      model(
        ['q', 'columns', 'v', 'full'],
        [SCORES, ...safelyWeighted('s')].map((part, i) => (i === 2 ? node('IsNaN', ['full'], ['n']) : part))
      )
    ],
    [
      'a mask with more axes',
      model(['q', 'columns', 'v'], [SCORES, node('Add', ['s', 'wide'], ['m']), ...weighted('m')], {
        initializers: [floats('wide', [1, 1, 1, 1, 1], [1])]
      })
    ],
    [
      'weights that are the second factor',
      model(
        ['q'],
        [
          node('MatMul', ['q', 'k'], ['s']),
          node('Softmax', ['s'], ['w'], { axis: -1 }),
          node('MatMul', ['u', 'w'], ['y'])
        ],
        {
          inputs: [port('q', 'float', DIMS.q), port('k', 'float', [2, 3, 16, 30]), port('u', 'float', [2, 3, 5, 20])]
        }
      )
    ]
  ])('is left apart: %s', async (_, parts) => {
    expect(opsOf(await planOf(parts))).not.toContain('ScaledDotProductAttention')
  })
})
