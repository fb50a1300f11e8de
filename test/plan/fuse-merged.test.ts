import { describe, expect, test } from 'vitest'
import { floats, int64s, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const [BATCH, HEADS, KEYS, SIZE] = [2, 3, 30, 16]
const feedsOf = (rows: number) => ({
  q: [BATCH, HEADS, rows, SIZE],
  k: [BATCH, HEADS, KEYS, SIZE],
  v: [BATCH, HEADS, KEYS, 8],
  mask: [BATCH, 1, rows, KEYS]
})

interface Form {
  /** Whether the weights are merged, instead of the scores. */
  readonly late?: boolean
  readonly scale?: 'Div' | 'Mul'
  /** Name of the dims that the scores get before the mask is added. */
  readonly apart?: string
  readonly columns?: boolean
}

/** Attention of merged heads, as BART and OPT have it. */
function model(rows: number, { late = false, scale, apart = 'apart', columns = false }: Form = {}): ModelParts {
  const scores = scale ? 'scaled' : 's'
  const { k, ...feeds } = feedsOf(rows)
  return {
    inputs: Object.entries({ ...feeds, k: columns ? [BATCH, HEADS, SIZE, KEYS] : k }).map(([name, dims]) =>
      port(name, 'float', dims)
    ),
    outputs: [port('y', 'float')],
    initializers: [
      int64s('merged', [3], [BATCH * HEADS, -1, SIZE]),
      int64s('mergedColumns', [3], [BATCH * HEADS, SIZE, KEYS]),
      int64s('mergedValues', [3], [BATCH * HEADS, -1, 8]),
      int64s('mergedScores', [3], [BATCH * HEADS, rows, KEYS]),
      int64s('apart', [4], [BATCH, HEADS, rows, KEYS]),
      int64s('otherwise', [4], [HEADS, BATCH, rows, KEYS]),
      int64s('parted', [4], [BATCH, HEADS, rows, 8]),
      floats('four', [], [4])
    ],
    nodes: [
      node('Reshape', ['q', 'merged'], ['q3']),
      node('Reshape', ['k', columns ? 'mergedColumns' : 'merged'], ['k3']),
      node('Reshape', ['v', 'mergedValues'], ['v3']),
      ...(columns ? [] : [node('Transpose', ['k3'], ['c'], { perm: [0, 2, 1] })]),
      node('MatMul', ['q3', columns ? 'k3' : 'c'], ['s']),
      ...(scale ? [node(scale, ['s', 'four'], ['scaled'])] : []),
      node('Reshape', [scores, apart], ['s4']),
      node('Add', ['s4', 'mask'], ['m4']),
      ...(late
        ? [node('Softmax', ['m4'], ['w4'], { axis: -1 }), node('Reshape', ['w4', 'mergedScores'], ['w'])]
        : [node('Reshape', ['m4', 'mergedScores'], ['m']), node('Softmax', ['m'], ['w'], { axis: -1 })]),
      node('MatMul', ['w', 'v3'], ['o']),
      node('Reshape', ['o', 'parted'], ['y'])
    ]
  }
}

describe('attention of merged batches and heads, whose scores alone have them apart', () => {
  test.each<readonly [string, Form]>([
    ['as BART and OPT have it', {}],
    ['divided scores', { scale: 'Div' }],
    ['scaled scores', { scale: 'Mul' }],
    ['merged after the softmax', { late: true }],
    ['keys in columns', { columns: true, late: true, scale: 'Div' }]
  ])('is one call: %s', async (_, form) => {
    for (const rows of [1, 20]) {
      const feeds = { ...feedsOf(rows), ...(form.columns && { k: [BATCH, HEADS, SIZE, KEYS] }) }
      expect(opsOf(await planOf(model(rows, form)))).toEqual(['ScaledDotProductAttention'])
      expect(await differenceBetween(model(rows, form), feeds)).toBeLessThan(3e-6)
    }
  })

  const whole = port('mask', 'float', [1, 1, 20, KEYS])
  test.each<readonly [string, ModelParts]>([
    [
      'scores that get other batches and heads',
      { ...model(20, { apart: 'otherwise' }), inputs: [...model(20).inputs!.filter(each => !isMask(each)), whole] }
    ],
    ['scores that are an output', { ...model(20), outputs: [port('y', 'float'), port('m4', 'float')] }]
  ])('is left apart: %s', async (_, parts) => {
    expect(opsOf(await planOf(parts))).toContain('Softmax')
  })
})

const isMask = (of: object): boolean => (of as { name: string }).name === 'mask'
