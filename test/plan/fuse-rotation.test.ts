import { describe, expect, test } from 'vitest'
import { rotation } from '../../src/op-kit/rotation.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { floats, int64s, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { runPlanned } from '../wasm/compare.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const X = [2, 4, 6, 16]
const DIMS = { x: X, cos: [6, 16], sin: [6, 16], halfCos: [2, 1, 6, 8], halfSin: [2, 1, 6, 8], other: [6, 16] }
type Name = keyof typeof DIMS
const ANGLES: readonly Name[] = ['cos', 'sin']

const model = (inputs: readonly Name[], nodes: readonly object[], changes: Partial<ModelParts> = {}): ModelParts => ({
  inputs: inputs.map(name => port(name, 'float', DIMS[name])),
  outputs: [port('y', 'float')],
  initializers: [
    ...[0, 1, 2, 3, 8, 16, -8].map(value => int64s(`i${value}`, [1], [value])),
    int64s('last', [1], [-1]),
    int64s('end', [1], [2 ** 53]),
    int64s('halfSizes', [2], [8, 8]),
    int64s('otherSizes', [2], [4, 12]),
    int64s('dims', [4], X),
    floats('minusOne', [], [-1])
  ],
  nodes,
  ...changes
})

const slice = (from: string, to: string, output: string, step = 'i1'): object =>
  node('Slice', ['x', from, to, 'last', step], [output])
const SLICES = [slice('i0', 'i8', 'low'), slice('i8', 'end', 'high')]
const SPLIT = node('Split', ['x', 'halfSizes'], ['low', 'high'], { axis: 3 })
const NEG = node('Neg', ['high'], ['n'])
const TURNED = node('Concat', ['n', 'low'], ['t'], { axis: -1 })
const sumOf = (turned: string, cos: Name, output: string): readonly object[] => [
  node('Mul', ['x', cos], [`${output}_a`]),
  node('Mul', [turned, 'sin'], [`${output}_b`]),
  node('Add', [`${output}_a`, `${output}_b`], [output])
]
const SUM = sumOf('t', 'cos', 'y')

const NEIGHBOURS = [
  slice('i0', 'end', 'even', 'i2'),
  slice('i1', 'end', 'odd', 'i2'),
  node('Neg', ['odd'], ['n']),
  node('Unsqueeze', ['n', 'last'], ['odds']),
  node('Unsqueeze', ['even', 'last'], ['evens']),
  node('Concat', ['odds', 'evens'], ['pairs'], { axis: -1 }),
  node('Reshape', ['pairs', 'dims'], ['t'])
]
const PRODUCTS = [
  node('Mul', ['low', 'halfCos'], ['lc']),
  node('Mul', ['high', 'halfSin'], ['hs']),
  node('Sub', ['lc', 'hs'], ['first']),
  node('Mul', ['high', 'halfCos'], ['hc']),
  node('Mul', ['low', 'halfSin'], ['ls']),
  node('Add', ['ls', 'hc'], ['second']),
  node('Concat', ['first', 'second'], ['y'], { axis: -1 })
]

const fused: readonly (readonly [string, readonly Name[], readonly object[], boolean])[] = [
  ['Llama: two Slices', ANGLES, [...SLICES, NEG, TURNED, ...SUM], false],
  ['slices from the end', ANGLES, [slice('i0', 'i-8', 'low'), slice('i-8', 'end', 'high'), NEG, TURNED, ...SUM], false],
  ['one Split', ANGLES, [SPLIT, NEG, TURNED, ...SUM], false],
  ['a product with -1', ANGLES, [...SLICES, node('Mul', ['high', 'minusOne'], ['n']), TURNED, ...SUM], false],
  [
    'factors and terms in another order',
    ANGLES,
    [
      ...[...SLICES, NEG, TURNED],
      ...[node('Mul', ['sin', 't'], ['b']), node('Mul', ['cos', 'x'], ['a']), node('Add', ['b', 'a'], ['y'])]
    ],
    false
  ],
  ['GPT-J: neighbours are pairs', ANGLES, [...NEIGHBOURS, ...SUM], true],
  ['products of the halves', ['halfCos', 'halfSin'], [...SLICES, ...PRODUCTS], false],
  ['products of the outputs of a Split', ['halfCos', 'halfSin'], [SPLIT, ...PRODUCTS], false]
]

const dimsOf = (inputs: readonly Name[]): Record<string, readonly number[]> =>
  Object.fromEntries(inputs.map(name => [name, DIMS[name]]))

describe('rotary positions in nodes', () => {
  test.each(fused)(
    '%s: one call in fast precision, the same numbers as apart',
    async (_, angles, nodes, interleaved) => {
      const inputs: readonly Name[] = ['x', ...angles]
      const parts = model(inputs, nodes)
      const { steps } = await planOf(parts)
      expect(steps.map(({ call }) => call.op)).toEqual([rotation])
      expect(steps[0].call.known).toEqual({ interleaved, rowsFirst: false })
      expect(steps[0].nodes).toHaveLength(nodes.length)
      expect(opsOf(await planOf(parts, { isExact: true }))).toHaveLength(nodes.length)
      expect(await differenceBetween(parts, dimsOf(inputs))).toBeLessThan(1e-6)
    }
  )

  test.each([
    ['batches that are those of x or not', [1, 4, 6, 16], [2, 1, 6, 16]],
    ['rows for one of x', [2, 4, 1, 16], [1, 1, 6, 16]],
    ['an axis less', [2, 4, 6, 16], [4, 6, 16]]
  ])('angles have %s', async (_, x, angles) => {
    const nodes = [...SLICES, NEG, TURNED, ...SUM]
    const names = x.map((dim, i) => (i === 0 && dim === 1 ? 'batch' : dim))
    const inputs = [port('x', 'float', names), ...ANGLES.map(name => port(name, 'float', angles))]
    const parts = model(['x', ...ANGLES], nodes, { inputs })
    expect(opsOf(await planOf(parts))).toEqual(['Rotation'])
    expect(await differenceBetween(parts, { x, cos: angles, sin: angles })).toBeLessThan(1e-6)
  })

  test('are rotated by the angles of each element, and of each pair', () => {
    const x = new Tensor('float32', [1, 2, 3, 4], [1, 4])
    const cos = new Tensor('float32', [0.5, 0.25, 2, 4], [1, 4])
    const sin = new Tensor('float32', [1, 10, 100, 1000], [1, 4])
    const rotated = (interleaved: boolean, size: number): readonly number[] => {
      const [c, d] = [cos, sin].map(({ data }) => new Tensor('float32', data.slice(0, size), [1, size]))
      const angles = { cos: c, sin: d }
      return [
        ...runPlanned(rotation, { x, ...angles }, { interleaved, rowsFirst: false }, [1, 4], false).data
      ] as number[]
    }
    expect(rotated(false, 4)).toEqual([0.5 - 3, 0.5 - 40, 6 + 100, 16 + 2000])
    expect(rotated(false, 2)).toEqual([0.5 - 3, 0.5 - 40, 1.5 + 1, 1 + 20])
    expect(rotated(true, 4)).toEqual([0.5 - 2, 0.5 + 10, 6 - 400, 16 + 3000])
    expect(rotated(true, 2)).toEqual([0.5 - 2, 1 + 1, 0.75 - 40, 1 + 30])
  })

  test('of two angles share the halves of one value', async () => {
    const again = [node('Neg', ['high'], ['n2']), node('Concat', ['n2', 'low'], ['t2'], { axis: -1 })]
    const nodes = [...SLICES, NEG, TURNED, ...SUM, ...again, ...sumOf('t2', 'other', 'z')]
    const parts = model(['x', ...ANGLES, 'other'], nodes, { outputs: [port('y', 'float'), port('z', 'float')] })
    expect(opsOf(await planOf(parts))).toEqual(['Rotation', 'Rotation'])
    expect(await differenceBetween(parts, dimsOf(['x', ...ANGLES, 'other']))).toBeLessThan(1e-6)
  })

  const uneven = node('Split', ['x', 'otherSizes'], ['low', 'high'], { axis: 3 })
  test.each([
    [
      'halves that change places without a sign',
      [...SLICES, node('Concat', ['high', 'low'], ['t'], { axis: -1 }), ...SUM]
    ],
    [
      'the first half with the sign',
      [...SLICES, node('Neg', ['low'], ['n']), node('Concat', ['high', 'n'], ['t'], { axis: -1 }), ...SUM]
    ],
    ['parts of other sizes', [uneven, NEG, TURNED, ...SUM]],
    [
      'halves along another axis',
      [
        node('Split', ['x', 'two'], ['low', 'high'], { axis: 1 }),
        ...[NEG, node('Concat', ['n', 'low'], ['t'], { axis: 1 }), ...SUM]
      ]
    ],
    ['neighbours of halves', [slice('i0', 'i8', 'even'), slice('i8', 'end', 'odd'), ...NEIGHBOURS.slice(2), ...SUM]]
  ])('is left apart: %s', async (_, nodes) => {
    const parts = model(['x', ...ANGLES], nodes)
    const initializers = [...parts.initializers!, int64s('two', [2], [2, 2])]
    expect(opsOf(await planOf({ ...parts, initializers }))).not.toContain('Rotation')
  })

  test('is left apart where an inner value is wanted, or the run is watched', async () => {
    const parts = model(['x', ...ANGLES], [...SLICES, NEG, TURNED, ...SUM])
    for (const inner of ['low', 'n', 't', 'y_b'])
      expect(opsOf(await planOf(parts, { wanted: ['y', inner] }))).not.toContain('Rotation')
    expect(opsOf(await planOf(parts, { isObserved: true }))).not.toContain('Rotation')
  })
})
