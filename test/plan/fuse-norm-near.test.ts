import { describe, expect, test } from 'vitest'
import { floats, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { noise } from '../wasm/compare.ts'
import { Ir, planOfIr } from './ir-model.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const numbers = (name: string, dims: readonly number[], seed: number): object =>
  floats(name, dims, [...noise(dims, seed).data])

const model = (nodes: readonly object[], dims: readonly (number | string)[] = ['n', 5, 64]): ModelParts => ({
  inputs: [port('x', 'float', dims)],
  outputs: [port('y', 'float')],
  initializers: [
    ...Object.entries({ zero: 0, two: 2, quarter: 0.25, epsilon: 1e-5 }).map(([name, value]) =>
      floats(name, [], [value])
    ),
    numbers('scale', [64], 1),
    numbers('bias', [64], 2),
    numbers('matrix', [5, 64], 3),
    numbers('columns', [5, 1], 4),
    numbers('wider', [1, 1, 1, 64], 5),
    numbers('single', [1], 6)
  ],
  nodes
})

type Attributes = Parameters<typeof node>[3]
const LAST: Attributes = { axes: [-1] }

/** What comes before the inverse of the root: the difference `c` and the root `r` of the variance. */
const rootOf = (attributes: Attributes, epsilon = 'epsilon'): readonly object[] => [
  node('ReduceMean', ['x'], ['m'], attributes),
  node('Sub', ['x', 'm'], ['c']),
  node('Pow', ['c', 'two'], ['q']),
  node('ReduceMean', ['q'], ['v'], attributes),
  ...(epsilon === '' ? [] : [node('Add', ['v', epsilon], ['e'])]),
  node('Sqrt', [epsilon === '' ? 'v' : 'e'], ['r'])
]
const DIVIDED = node('Div', ['c', 'r'], ['d'])
const scaledBy = (scale: string, attributes = LAST): readonly object[] => [
  ...rootOf(attributes),
  DIVIDED,
  node('Mul', ['d', scale], ['y'])
]
const norm = (inputs: readonly string[], axis = -1): object =>
  node('LayerNormalization', ['x', ...inputs], ['s'], { axis })

describe('nodes that are nearly a normalization', () => {
  test.each<readonly [string, ModelParts, string, readonly number[]]>([
    [
      'means that drop their axis, of a square',
      model([...rootOf({ axes: [-1], keepdims: 0 }, ''), node('Div', ['c', 'r'], ['y'])], [4, 4]),
      'ReduceMean Sub Pow ReduceMean Sqrt Div',
      [4, 4]
    ],
    ['means over all axes', model(scaledBy('scale', {})), 'ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul', [7, 5, 64]],
    [
      'the largest of three numbers',
      model([
        ...rootOf(LAST).slice(0, 2),
        node('Mul', ['x', 'x'], ['q']),
        node('ReduceMean', ['q'], ['qm'], LAST),
        node('Mul', ['m', 'm'], ['mm']),
        node('Sub', ['qm', 'mm'], ['v']),
        node('Max', ['v', 'zero', 'quarter'], ['p']),
        node('Add', ['p', 'epsilon'], ['e']),
        node('Sqrt', ['e'], ['r']),
        node('Div', ['c', 'r'], ['y'])
      ]),
      'ReduceMean Sub Mul ReduceMean Mul Sub Max Add Sqrt Div',
      [7, 5, 64]
    ],
    ['a scale of a matrix', model(scaledBy('matrix')), 'MeanVarianceNormalization Mul', [7, 5, 64]],
    ['a scale of one element', model(scaledBy('single')), 'MeanVarianceNormalization Mul', [7, 5, 64]],
    ['a scale of more axes than x', model(scaledBy('wider')), 'MeanVarianceNormalization Mul', [7, 5, 64]],
    [
      'a scale of the last one of two axes that are alike',
      model(scaledBy('scale', { axes: [1, 2] }), ['n', 64, 64]),
      'MeanVarianceNormalization Mul',
      [2, 64, 64]
    ],
    [
      'a bias by rows beside a scale of the inverse',
      model([
        ...rootOf(LAST),
        node('Div', ['scale', 'r'], ['w']),
        node('Mul', ['x', 'w'], ['xw']),
        node('Mul', ['m', 'w'], ['mw']),
        node('Sub', ['columns', 'mw'], ['b']),
        node('Add', ['xw', 'b'], ['y'])
      ]),
      'ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul Mul Sub Add',
      [7, 5, 64]
    ],
    [
      'a second bias',
      model([norm(['scale', 'bias']), node('Add', ['s', 'bias'], ['y'])]),
      'LayerNormalization Add',
      [7, 5, 64]
    ]
  ])('are left apart: %s', async (_, parts, ops, dims) => {
    const fast = { ...parts, opset: 17 }
    expect(opsOf(await planOf(fast))).toEqual(ops.split(' '))
    expect(await differenceBetween(fast, { x: dims })).toBeLessThan(4e-6)
  })

  test('are left apart in float64, which no kernel of a normalization keeps', async () => {
    const parts = model(scaledBy('scale'))
    const doubles = (parts.initializers as { readonly floatData: readonly number[] }[]).map(
      ({ floatData, ...rest }) => ({ ...rest, dataType: 11, doubleData: floatData })
    )
    const wide = { ...parts, inputs: [port('x', 'double', ['n', 5, 64])], initializers: doubles }
    expect(opsOf(await planOf({ ...wide, outputs: [port('y', 'double')] }))).toContain('ReduceMean')
  })

  test('one over all axes takes the bias that follows', async () => {
    const parts = { ...model([norm(['matrix'], 0), node('Add', ['s', 'matrix'], ['y'])], [5, 64]), opset: 17 }
    expect(opsOf(await planOf(parts))).toEqual(['LayerNormalization'])
    expect(await differenceBetween(parts, { x: [5, 64] })).toBeLessThan(2e-6)
  })

  test.each<readonly [string, string, string, readonly string[]]>([
    ['one that scales', 'true', 'inside_sqrt', ['LayerNormalization']],
    ['one that only centers', 'false', 'inside_sqrt', ['MeanVarianceNormalization', 'Mul']],
    ['one with epsilon outside the root', 'true', 'outside_sqrt', ['MeanVarianceNormalization', 'Mul']]
  ])('MVN of IR before a scale: %s', (_, scales, mode, ops) => {
    const ir = new Ir()
    const axes = ir.constant('i64', [1], BigInt64Array.of(-1n))
    const data = `normalize_variance="${scales}" eps="0.01" eps_mode="${mode}"`
    const normalized = ir.add('MVN@opset6', [ir.input('f32', [2, 8]), axes], 'f32', [2, 8], data)
    const scale = ir.floats([1, 8], [...noise([8], 1).data])
    const plan = planOfIr(ir.model(ir.add('Multiply', [normalized, scale], 'f32', [2, 8])))
    expect(opsOf(plan).filter(op => op !== 'Constant')).toEqual(ops)
  })
})
