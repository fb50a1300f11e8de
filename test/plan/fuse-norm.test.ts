import { describe, expect, test } from 'vitest'
import { floats, int64s, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { noise } from '../wasm/compare.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const SCALARS = { zero: 0, two: 2, three: 3, one: 1, epsilon: 1e-5, minusHalf: -0.5, half: 0.5 }

interface Changes extends Partial<ModelParts> {
  readonly scalars?: Readonly<Record<string, number>>
}

const model = (nodes: readonly object[], { scalars = {}, ...changes }: Changes = {}): ModelParts => ({
  inputs: [port('x', 'float', ['n', 5, 64])],
  outputs: [port('y', 'float')],
  initializers: [
    ...Object.entries({ ...SCALARS, ...scalars }).map(([name, value]) => floats(name, [], [value])),
    floats('scale', [64], [...noise([64], 1).data]),
    floats('bias', [1, 64], [...noise([64], 2).data]),
    floats('matrix', [5, 64], [...noise([5, 64], 3).data]),
    floats('columns', [5, 1], [...noise([5, 1], 4).data])
  ],
  nodes,
  ...changes
})

const mean = (from: string, to: string, axes: readonly number[] = [-1], keepdims = 1): object =>
  node('ReduceMean', [from], [to], { axes, keepdims })

/** The variance of `c` and its root `r`, to which epsilon has been added. */
const root = (axes: readonly number[] = [-1]): readonly object[] => [
  node('Pow', ['c', 'two'], ['q']),
  mean('q', 'v', axes),
  node('Add', ['v', 'epsilon'], ['e']),
  node('Sqrt', ['e'], ['r'])
]
const centered = (axes: readonly number[] = [-1]): readonly object[] => [
  mean('x', 'm', axes),
  node('Sub', ['x', 'm'], ['c'])
]
const scaled = (scale = 'scale', bias = 'bias'): readonly object[] => [
  node('Mul', ['d', scale], ['s']),
  node('Add', [bias, 's'], ['y'])
]
/** The mean of squares less the square of the mean. */
const moments: readonly object[] = [
  node('Mul', ['x', 'x'], ['q']),
  mean('q', 'qm'),
  node('Mul', ['m', 'm'], ['mm']),
  node('Sub', ['qm', 'mm'], ['v'])
]
/** The scale divided by the root of the variance. */
const weights: readonly object[] = [...root(), node('Reciprocal', ['r'], ['i']), node('Mul', ['i', 'scale'], ['w'])]
const pool = (from: string, to: string): object => node('GlobalAveragePool', [from], [to])
const DIVIDED = node('Div', ['c', 'r'], ['d'])
const squares: readonly object[] = [mean('q', 'v'), node('Add', ['v', 'epsilon'], ['e'])]

const fused: readonly (readonly [string, ModelParts, readonly string[]])[] = [
  ['nine nodes', model([...centered(), ...root(), DIVIDED, ...scaled()]), ['LayerNormalization']],
  [
    'nine nodes over two axes',
    model([...centered([1, 2]), ...root([2, 1]), DIVIDED, ...scaled('matrix', 'matrix')]),
    ['LayerNormalization']
  ],
  [
    'a square by Mul, and the difference written twice',
    model([
      ...centered(),
      node('Sub', ['x', 'm'], ['c2']),
      node('Mul', ['c2', 'c2'], ['q']),
      ...squares,
      node('Sqrt', ['e'], ['r']),
      DIVIDED,
      ...scaled()
    ]),
    ['LayerNormalization']
  ],
  [
    'the variance of Flax, which is kept from going below 0',
    model([
      ...centered(),
      ...moments,
      node('Max', ['zero', 'v'], ['p']),
      node('Add', ['p', 'epsilon'], ['e']),
      node('Sqrt', ['e'], ['r']),
      DIVIDED,
      ...scaled()
    ]),
    ['LayerNormalization']
  ],
  [
    'the mean of squares less the square of the mean',
    model([
      ...centered(),
      ...moments,
      node('Add', ['v', 'epsilon'], ['e']),
      node('Sqrt', ['e'], ['r']),
      DIVIDED,
      ...scaled()
    ]),
    ['LayerNormalization']
  ],
  [
    'a variance without epsilon',
    model([
      ...centered(),
      node('Pow', ['c', 'two'], ['q']),
      mean('q', 'v'),
      node('Sqrt', ['v'], ['r']),
      DIVIDED,
      ...scaled()
    ]),
    ['LayerNormalization']
  ],
  [
    'means over the last of three axes as pools',
    model([
      pool('x', 'm'),
      node('Sub', ['x', 'm'], ['c']),
      node('Mul', ['c', 'c'], ['q']),
      pool('q', 'v'),
      ...squares.slice(1),
      node('Sqrt', ['e'], ['r']),
      DIVIDED,
      ...scaled()
    ]),
    ['LayerNormalization']
  ],
  [
    'a scale of the inverse, as Keras writes it',
    model([
      ...centered(),
      ...weights,
      node('Mul', ['x', 'w'], ['xw']),
      node('Neg', ['m'], ['n']),
      node('Mul', ['n', 'w'], ['nw']),
      node('Add', ['nw', 'bias'], ['b']),
      node('Add', ['xw', 'b'], ['y'])
    ]),
    ['LayerNormalization']
  ],
  [
    'a scale of the inverse, as TensorFlow writes it',
    model([
      ...centered(),
      ...weights,
      node('Mul', ['x', 'w'], ['xw']),
      node('Mul', ['m', 'w'], ['mw']),
      node('Sub', ['bias', 'mw'], ['b']),
      node('Add', ['xw', 'b'], ['y'])
    ]),
    ['LayerNormalization']
  ],
  [
    'a scale of the inverse before the product with the difference',
    model([...centered(), ...weights, node('Mul', ['c', 'w'], ['s']), node('Add', ['s', 'bias'], ['y'])]),
    ['LayerNormalization']
  ],
  [
    'RMS with a scale of the inverse',
    model([
      node('Mul', ['x', 'x'], ['q']),
      ...squares,
      node('Sqrt', ['e'], ['r']),
      node('Div', ['scale', 'r'], ['w']),
      node('Mul', ['x', 'w'], ['y'])
    ]),
    ['RMSNormalization']
  ],
  ['no bias', model([...centered(), ...root(), DIVIDED, node('Mul', ['scale', 'd'], ['y'])]), ['LayerNormalization']],
  [
    'neither scale nor bias',
    model([...centered(), ...root(), node('Div', ['c', 'r'], ['y'])]),
    ['MeanVarianceNormalization']
  ],
  [
    'a scale by rows',
    model([...centered(), ...root(), DIVIDED, node('Mul', ['d', 'columns'], ['y'])]),
    ['MeanVarianceNormalization', 'Mul']
  ],
  [
    'a bias by rows',
    model([...centered(), ...root(), DIVIDED, ...scaled('scale', 'columns')]),
    ['LayerNormalization', 'Add']
  ],
  [
    'RMS by Pow, Sqrt and a division of 1',
    model([
      node('Pow', ['x', 'two'], ['q']),
      ...squares,
      node('Sqrt', ['e'], ['r']),
      node('Div', ['one', 'r'], ['i']),
      node('Mul', ['x', 'i'], ['d']),
      node('Mul', ['scale', 'd'], ['y'])
    ]),
    ['RMSNormalization']
  ],
  [
    'integers as constants',
    model(
      [
        node('Pow', ['x', 'integer'], ['q']),
        node('ReduceMean', ['q', 'axes'], ['v']),
        node('Add', ['v', 'epsilon'], ['e']),
        node('Sqrt', ['e'], ['r']),
        node('Div', ['x', 'r'], ['d']),
        node('Mul', ['d', 'scale'], ['y'])
      ],
      {
        opset: 18,
        initializers: [
          int64s('integer', [], [2]),
          int64s('axes', [1], [-1]),
          floats('epsilon', [1], [1e-5]),
          floats('scale', [64], [...noise([64], 1).data])
        ]
      }
    ),
    ['RMSNormalization']
  ],
  [
    'RMS by Mul and Reciprocal',
    model([
      node('Mul', ['x', 'x'], ['q']),
      ...squares,
      node('Sqrt', ['e'], ['r']),
      node('Reciprocal', ['r'], ['i']),
      node('Mul', ['i', 'x'], ['d']),
      node('Mul', ['d', 'scale'], ['y'])
    ]),
    ['RMSNormalization']
  ],
  [
    'RMS by a power of -1/2',
    model([
      node('Pow', ['x', 'two'], ['q']),
      ...squares,
      node('Pow', ['e', 'minusHalf'], ['i']),
      node('Mul', ['x', 'i'], ['d']),
      node('Mul', ['d', 'scale'], ['y'])
    ]),
    ['RMSNormalization']
  ],
  [
    'RMS without a scale, as OpenVINO writes one of 1',
    model([
      node('Pow', ['x', 'two'], ['q']),
      ...squares,
      node('Sqrt', ['e'], ['r']),
      node('Div', ['one', 'r'], ['i']),
      node('Mul', ['x', 'i'], ['y'])
    ]),
    ['MeanVarianceNormalization']
  ],
  [
    'RMS with a scale by rows',
    model([
      node('Pow', ['x', 'two'], ['q']),
      ...squares,
      node('Sqrt', ['e'], ['r']),
      node('Div', ['x', 'r'], ['d']),
      node('Mul', ['d', 'columns'], ['y'])
    ]),
    ['MeanVarianceNormalization', 'Mul']
  ],
  [
    'RMS by a division',
    model([
      node('Pow', ['x', 'two'], ['q']),
      ...squares,
      node('Sqrt', ['e'], ['r']),
      node('Div', ['x', 'r'], ['d']),
      node('Mul', ['d', 'scale'], ['y'])
    ]),
    ['RMSNormalization']
  ]
]

const rms = (changes: Changes, from = 'q'): ModelParts =>
  model(
    [
      node('Pow', ['x', 'two'], ['q']),
      mean(from, 'v'),
      node('Add', ['v', 'epsilon'], ['e']),
      node('Sqrt', ['e'], ['r']),
      node('Div', ['x', 'r'], ['d']),
      node('Mul', ['d', 'scale'], ['y'])
    ],
    changes
  )

describe('normalizations written in several nodes', () => {
  test.each(fused)('%s: fused in fast precision, and the same numbers as apart', async (_, parts, ops) => {
    expect(opsOf(await planOf(parts))).toEqual(ops)
    const exact = opsOf(await planOf(parts, { isExact: true }))
    expect(new Set(exact)).toEqual(new Set(opsOf(await planOf(parts, { isObserved: true }))))
    expect(await differenceBetween(parts, { x: [7, 5, 64] })).toBeLessThan(2e-6)
  })

  test.each<readonly [string, ModelParts]>([
    ['a mean of the first axis', model([...centered([0]), ...root(), DIVIDED, ...scaled()])],
    ['means over other axes', model([...centered([1, 2]), ...root([2]), DIVIDED, ...scaled()])],
    [
      'the variance of something else',
      model([...centered(), node('Pow', ['x', 'two'], ['q']), ...root().slice(1), DIVIDED, ...scaled()])
    ],
    [
      'the square of something else than the mean',
      model([
        ...centered(),
        ...moments.slice(0, 2),
        node('Mul', ['qm', 'qm'], ['mm']),
        node('Sub', ['qm', 'mm'], ['v']),
        node('Add', ['v', 'epsilon'], ['e']),
        node('Sqrt', ['e'], ['r']),
        DIVIDED,
        ...scaled()
      ])
    ],
    [
      'a variance kept above another number than 0',
      model([
        ...centered(),
        ...moments,
        node('Max', ['v', 'half'], ['p']),
        node('Add', ['p', 'epsilon'], ['e']),
        node('Sqrt', ['e'], ['r']),
        DIVIDED,
        ...scaled()
      ])
    ],
    [
      'the mean of other weights than those of x',
      model([
        ...centered(),
        ...weights,
        node('Mul', ['r', 'scale'], ['rs']),
        node('Mul', ['x', 'w'], ['xw']),
        node('Mul', ['m', 'rs'], ['mw']),
        node('Sub', ['bias', 'mw'], ['b']),
        node('Add', ['xw', 'b'], ['y'])
      ])
    ],
    [
      'a reader of the mean',
      model([...centered(), ...root(), DIVIDED, node('Mul', ['d', 'scale'], ['s']), node('Add', ['m', 's'], ['y'])])
    ]
  ])('are left apart: %s', async (_, parts) => {
    expect(opsOf(await planOf(parts)).filter(op => op.startsWith('Layer') || op.startsWith('Mean'))).toEqual([])
    expect(await differenceBetween(parts, { x: [7, 5, 64] })).toBeLessThan(2e-6)
  })

  test.each<readonly [string, ModelParts]>([
    ['another power', rms({ scalars: { two: 2.5 } })],
    ['the mean of something else', rms({}, 'x')]
  ])('RMS is left apart: %s', async (_, parts) => {
    expect(opsOf(await planOf(parts)).filter(op => op.startsWith('RMS') || op.startsWith('Mean'))).toEqual([])
  })

  test.each<readonly [string, object]>([
    ['a quotient', node('Div', ['ones', 'r'], ['i'])],
    ['a power', node('Pow', ['e', 'power'], ['i'])]
  ])('are left apart where a constant gives %s more axes than x has', async (_, inverse) => {
    const parts = model([...centered(), ...root(), inverse, node('Mul', ['c', 'i'], ['y'])])
    const constants = [floats('ones', [1, 1, 1, 1], [1]), floats('power', [1, 1, 1, 1], [-0.5])]
    const wider = { ...parts, initializers: [...parts.initializers!, ...constants] }
    expect(opsOf(await planOf(wider))).not.toContain('MeanVarianceNormalization')
    expect(await differenceBetween(wider, { x: [7, 5, 64] })).toBeLessThan(2e-6)
  })

  test('are left apart where an inner value is wanted', async () => {
    const parts = fused[0][1]
    expect(opsOf(await planOf(parts, { wanted: ['y', 'v'] }))).toHaveLength(parts.nodes.length)
  })
})
