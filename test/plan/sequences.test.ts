import { describe, expect, test } from 'vitest'
import { floats, int64s, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { noise } from '../wasm/compare.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const X = [2, 7]
const model = (nodes: readonly object[], changes: Partial<ModelParts> = {}): ModelParts => ({
  opset: 18,
  inputs: [port('x', 'float', X)],
  outputs: [port('y', 'float')],
  initializers: [
    ...[int64s('sizes', [2], [3, 4]), int64s('three', [], [3]), int64s('first', [], [0]), int64s('last', [], [-1])],
    int64s('second', [], [1])
  ],
  nodes,
  ...changes
})
const split = (size?: string, attributes: Parameters<typeof node>[3] = { axis: 1 }): object =>
  node('SplitToSequence', size === undefined ? ['x'] : ['x', size], ['s'], attributes)
const part = (position: string, to: string): object => node('SequenceAt', ['s', position], [to])
const transposed = node('Transpose', ['b'], ['t'], { perm: [1, 0] })

describe('parts that are read off a sequence are those of one Split', () => {
  test.each<[string, object[]]>([
    [
      'of sizes that are listed',
      [split('sizes'), part('first', 'a'), part('last', 'b'), transposed, node('MatMul', ['t', 'a'], ['y'])]
    ],
    ['of one size, the last smaller', [split('three'), part('last', 'b'), node('Neg', ['b'], ['y'])]],
    ['of one index each', [split(), part('second', 'b'), node('Neg', ['b'], ['y'])]],
    ['that are outputs', [split('sizes'), part('first', 'y')]],
    [
      'along the first axis',
      [split(undefined, {}), part('first', 'a'), part('last', 'b'), node('Add', ['a', 'b'], ['y'])]
    ]
  ])('%s', async (_, nodes) => {
    for (const isExact of [false, true]) {
      const ops = opsOf(await planOf(model(nodes), { isExact }))
      expect(ops).toContain('Split')
      expect(ops.filter(op => op.includes('Sequence'))).toEqual([])
    }
    expect(await differenceBetween(model(nodes), { x: X })).toBeLessThan(1e-6)
  })

  test('of weights they are weights', async () => {
    const weights = floats('w', [7, 10], [...noise([7, 10], 3).data])
    const parts = model([])
    const given = model(
      [
        node('SplitToSequence', ['w', 'both'], ['s'], { axis: 1 }),
        ...[part('first', 'a'), part('last', 'b')],
        ...[
          node('MatMul', ['x', 'a'], ['p']),
          node('MatMul', ['x', 'b'], ['q']),
          node('Concat', ['p', 'q'], ['y'], { axis: 1 })
        ]
      ],
      { initializers: [...parts.initializers!, weights, int64s('both', [2], [4, 6])] }
    )
    expect(opsOf(await planOf(given))).not.toContain('Split')
    expect(await differenceBetween(given, { x: X })).toBeLessThan(1e-6)
  })
})

describe('a sequence stays', () => {
  const read = [part('first', 'a'), node('Neg', ['a'], ['y'])]
  test.each<[string, ModelParts]>([
    [
      'where something else reads it',
      model([split('sizes'), ...read, node('ConcatFromSequence', ['s'], ['n'], { axis: 1 })], {
        outputs: [port('y', 'float'), port('n', 'float')]
      })
    ],
    [
      'where a position is not known',
      model([split('sizes'), part('i', 'y')], { inputs: [port('x', 'float', X), port('i', 'int64', [])] })
    ],
    [
      'where a part is taken out of it',
      model([split('three'), node('SequenceErase', ['s', 'first'], ['n']), node('SequenceAt', ['n', 'first'], ['y'])])
    ],
    ['where a position is behind the last part', model([split('three'), part('three', 'y')])],
    ['where sizes are not', model([split('n'), ...read], { inputs: [port('x', 'float', X), port('n', 'int64', [2])] })],
    ['where the axis is not kept', model([split(undefined, { axis: 1, keepdims: 0 }), ...read])],
    [
      'where a part is read twice',
      model([split('sizes'), ...read.slice(0, 1), part('first', 'b'), node('Sub', ['a', 'b'], ['y'])])
    ]
  ])('%s', async (_, parts) => {
    expect(opsOf(await planOf(parts))).toContain('SplitToSequence')
  })

  test('in a run that is watched', async () => {
    expect(opsOf(await planOf(model([split('sizes'), ...read]), { isObserved: true }))).toContain('SequenceAt')
  })
})
