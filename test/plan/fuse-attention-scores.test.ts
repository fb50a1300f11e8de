import { describe, expect, test } from 'vitest'
import { floats, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { attentionModel, feedsOf, type Name, NUMBERS, SCORES, weighted } from './attention-model.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const initializers = [
  ...NUMBERS,
  floats(
    'distances',
    [3, 20, 30],
    Array.from({ length: 1800 }, (_, i) => Math.sin(i))
  ),
  floats(
    'slopes',
    [3, 1, 30],
    Array.from({ length: 90 }, (_, i) => -i / 40)
  )
]

const model = (inputs: readonly Name[], nodes: readonly object[]): ModelParts =>
  attentionModel(inputs, nodes, initializers)

const fused: readonly (readonly [string, readonly Name[], readonly object[], readonly string[]])[] = [
  [
    'MPNet: a bias by distance and a mask of a row',
    ['q', 'columns', 'v', 'row'],
    [
      SCORES,
      node('Div', ['s', 'four'], ['d']),
      node('Add', ['d', 'distances'], ['b']),
      node('Add', ['b', 'row'], ['m']),
      ...weighted('m')
    ],
    []
  ],
  [
    'MPT: slopes by distance, and Where that hides what is true',
    ['q', 'columns', 'v', 'row'],
    [
      SCORES,
      node('Mul', ['s', 'quarter'], ['d']),
      node('Add', ['d', 'slopes'], ['b']),
      node('Greater', ['row', 'zero'], ['hidden']),
      node('Where', ['hidden', 'lowest', 'b'], ['m']),
      ...weighted('m')
    ],
    ['Greater']
  ],
  [
    'GPT-Neo: Where, and a mask behind it',
    ['q', 'columns', 'v', 'row'],
    [
      SCORES,
      node('Greater', ['distances', 'zero'], ['seen']),
      node('Where', ['seen', 's', 'low'], ['c']),
      node('Add', ['c', 'row'], ['m']),
      ...weighted('m')
    ],
    ['Greater']
  ],
  [
    'DeBERTa: scores of positions added to those of words, and Where',
    ['q', 'columns', 'v', 'row', 'full'],
    [
      SCORES,
      node('Add', ['s', 'full'], ['b']),
      node('Greater', ['row', 'zero'], ['seen']),
      node('Where', ['seen', 'b', 'lowest'], ['m']),
      ...weighted('m')
    ],
    ['Greater']
  ],
  [
    'Gemma: scores that tanh caps',
    ['q', 'columns', 'v', 'row'],
    [
      SCORES,
      node('Mul', ['s', 'quarter'], ['d']),
      node('Div', ['d', 'four'], ['c']),
      node('Tanh', ['c'], ['t']),
      node('Mul', ['t', 'four'], ['capped']),
      node('Add', ['capped', 'row'], ['m']),
      ...weighted('m')
    ],
    []
  ],
  [
    'Gemma: scores that are divided twice before tanh caps them',
    ['q', 'columns', 'v', 'row'],
    [
      SCORES,
      node('Div', ['s', 'four'], ['d']),
      node('Div', ['d', 'half'], ['c']),
      node('Tanh', ['c'], ['t']),
      node('Mul', ['t', 'half'], ['capped']),
      node('Add', ['capped', 'row'], ['m']),
      ...weighted('m')
    ],
    []
  ],
  [
    'scores that are divided, and multiplied before tanh caps them',
    ['q', 'columns', 'v'],
    [
      SCORES,
      node('Div', ['s', 'half'], ['d']),
      node('Mul', ['quarter', 'd'], ['c']),
      node('Tanh', ['c'], ['t']),
      node('Mul', ['t', 'four'], ['capped']),
      ...weighted('capped')
    ],
    []
  ],
  [
    'half of what tanh gives',
    ['q', 'columns', 'v'],
    [
      SCORES,
      node('Mul', ['s', 'quarter'], ['d']),
      node('Tanh', ['d'], ['t']),
      node('Mul', ['half', 't'], ['capped']),
      ...weighted('capped')
    ],
    []
  ]
]

describe('scores of attention', () => {
  test.each(fused)(
    '%s: in one call in fast precision, and the same numbers as apart',
    async (_, inputs, nodes, before) => {
      const parts = model(inputs, nodes)
      expect(opsOf(await planOf(parts))).toEqual([...before, 'ScaledDotProductAttention'])
      expect(await differenceBetween(parts, feedsOf(inputs), 2)).toBeLessThan(3e-6)
    }
  )

  test('have five axes where nothing is broadcast', async () => {
    const parts = (...batches: readonly (readonly number[])[]): ModelParts => ({
      inputs: [
        port('q', 'float', [...batches[0], 20, 16]),
        port('columns', 'float', [...batches[1], 16, 30]),
        port('v', 'float', [...batches[2], 30, 8])
      ],
      outputs: [port('y', 'float')],
      nodes: [SCORES, ...weighted('s')]
    })
    const same = parts([2, 3, 4], [2, 3, 4], [2, 3, 4])
    expect(opsOf(await planOf(same))).toEqual(['ScaledDotProductAttention'])
    const feeds = { q: [2, 3, 4, 20, 16], columns: [2, 3, 4, 16, 30], v: [2, 3, 4, 30, 8] }
    expect(await differenceBetween(same, feeds)).toBeLessThan(3e-6)
    expect(opsOf(await planOf(parts([2, 3, 4], [2, 1, 4], [2, 3, 4])))).not.toContain('ScaledDotProductAttention')
  })

  const spread: ModelParts = {
    inputs: [
      port('q', 'float', ['b', 3, 'n', 16]),
      port('columns', 'float', ['b', 3, 16, 'm']),
      port('v', 'float', ['c', 3, 'k', 8]),
      port('mask', 'float', ['d', 1, 'r', 's'])
    ],
    outputs: [port('y', 'float')],
    nodes: [SCORES, node('Add', ['s', 'mask'], ['m']), ...weighted('m')]
  }
  const spreads = (b: number, n: number, m: number, c: number, mask: readonly number[]) => ({
    q: [b, 3, n, 16],
    columns: [b, 3, 16, m],
    v: [c, 3, 30, 8],
    mask
  })

  test.each([
    ['of the dims of the scores', spreads(2, 20, 30, 2, [2, 1, 20, 30])],
    ['with more rows', spreads(2, 1, 30, 2, [2, 1, 20, 30])],
    ['with more keys', spreads(2, 20, 1, 2, [1, 1, 1, 30])],
    ['with more of both', spreads(1, 1, 1, 2, [1, 1, 20, 30])],
    ['with more batches', spreads(1, 20, 30, 1, [2, 1, 20, 1])]
  ])('have a mask of dims that nobody knows, such as one %s', async (_, dims) => {
    expect(opsOf(await planOf(spread))).toEqual(['ScaledDotProductAttention'])
    expect(await differenceBetween(spread, dims, 2)).toBeLessThan(3e-6)
  })

  test('are refused where there is another number of keys than of values', async () => {
    const dims = spreads(2, 20, 29, 2, [2, 1, 20, 1])
    await expect(differenceBetween(spread, dims)).rejects.toThrow(/29.*30/)
  })

  test.each<readonly [string, ModelParts]>([
    [
      'two masks that hide keys by other scores',
      model(
        ['q', 'columns', 'v', 'row', 'full'],
        [
          SCORES,
          node('Greater', ['row', 'zero'], ['seen']),
          node('Where', ['seen', 's', 'low'], ['c']),
          node('Greater', ['full', 'zero'], ['hidden']),
          node('Where', ['hidden', 'lowest', 'c'], ['m']),
          ...weighted('m')
        ]
      )
    ],
    [
      'scores that are capped at 0',
      model(
        ['q', 'columns', 'v'],
        [
          SCORES,
          node('Mul', ['s', 'quarter'], ['d']),
          node('Tanh', ['d'], ['t']),
          node('Mul', ['t', 'zero'], ['capped']),
          ...weighted('capped')
        ]
      )
    ]
  ])('are left apart: %s', async (_, parts) => {
    expect(opsOf(await planOf(parts))).not.toContain('ScaledDotProductAttention')
  })
})
