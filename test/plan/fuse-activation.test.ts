import { describe, expect, test } from 'vitest'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { floats, int64s, type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const SCALARS = {
  half: 0.5,
  one: 1,
  two: 2,
  three: 3,
  root2: 1.4142135381698608,
  inverse: 0.7071067690849304,
  factor: 0.044714998453855515,
  root: 0.7978845834732056,
  slope: 1.7020000219345093,
  zero: 0,
  six: 6,
  sixth: 0.1666666716337204
}

/** A model of elementwise calls, in a language of its own: `[type, inputs, output]`. */
type Line = readonly [type: string, inputs: readonly string[], output: string]

const model = (lines: readonly Line[], scalars: Readonly<Record<string, number>> = {}): ModelParts => ({
  inputs: [port('x', 'float', [3, 'n'])],
  outputs: [port('y', 'float')],
  initializers: [
    ...Object.entries({ ...SCALARS, ...scalars }).map(([name, value]) => floats(name, [], [value])),
    floats('halves', [1, 1, 1], [scalars.half ?? 0.5])
  ],
  nodes: lines.map(([type, inputs, output]) => node(type, inputs, [output]))
})

const ERF: readonly Line[] = [
  ['Div', ['x', 'root2'], 'd'],
  ['Erf', ['d'], 'e'],
  ['Add', ['e', 'one'], 's']
]
const CUBE: readonly Line[] = [['Pow', ['x', 'three'], 'c']]
/** Gelu by tanh, from the cube `c` on. */
const TANH: readonly Line[] = [
  ['Mul', ['factor', 'c'], 'f'],
  ['Add', ['x', 'f'], 'p'],
  ['Mul', ['root', 'p'], 'i'],
  ['Tanh', ['i'], 't'],
  ['Add', ['t', 'one'], 's'],
  ['Mul', ['x', 'half'], 'h'],
  ['Mul', ['h', 's'], 'y']
]
/** tanh(log(1 + e^x)) */
const MISH: readonly Line[] = [
  ['Softplus', ['x'], 's'],
  ['Tanh', ['s'], 't']
]
/** x + 3 between 0 and 6. */
const BOUNDED: readonly Line[] = [
  ['Add', ['x', 'three'], 'a'],
  ['Clip', ['a', 'zero', 'six'], 'b']
]

const fused: readonly (readonly [string, readonly Line[], string])[] = [
  ['Gelu: (x * sum) * 1/2', [...ERF, ['Mul', ['x', 's'], 'm'], ['Mul', ['m', 'half'], 'y']], 'Gelu'],
  ['Gelu: (1/2 * x) * sum', [...ERF, ['Mul', ['half', 'x'], 'm'], ['Mul', ['s', 'm'], 'y']], 'Gelu'],
  ['Gelu: x * (sum * 1/2)', [...ERF, ['Mul', ['s', 'half'], 'm'], ['Mul', ['m', 'x'], 'y']], 'Gelu'],
  [
    'Gelu with a product before erf',
    [
      ['Mul', ['x', 'inverse'], 'd'],
      ['Erf', ['d'], 'e'],
      ['Add', ['one', 'e'], 's'],
      ['Mul', ['x', 's'], 'm'],
      ['Mul', ['m', 'half'], 'y']
    ],
    'Gelu'
  ],
  ['Gelu by tanh with Pow', [...CUBE, ...TANH], 'Gelu'],
  ['Gelu by tanh with x * x * x', [['Mul', ['x', 'x'], 'q'], ['Mul', ['q', 'x'], 'c'], ...TANH], 'Gelu'],
  [
    'Gelu by tanh of x (1 + 0.044715 x x)',
    [
      ['Mul', ['x', 'half'], 'h'],
      ['Mul', ['x', 'root'], 'r'],
      ['Mul', ['x', 'factor'], 'f'],
      ['Mul', ['f', 'x'], 'q'],
      ['Add', ['q', 'one'], 'v'],
      ['Mul', ['r', 'v'], 'i'],
      ['Tanh', ['i'], 't'],
      ['Add', ['t', 'one'], 's'],
      ['Mul', ['h', 's'], 'y']
    ],
    'Gelu'
  ],
  [
    'QuickGelu',
    [
      ['Mul', ['x', 'slope'], 'a'],
      ['Sigmoid', ['a'], 'b'],
      ['Mul', ['x', 'b'], 'y']
    ],
    'Swish'
  ],
  [
    'SiLU',
    [
      ['Sigmoid', ['x'], 'b'],
      ['Mul', ['b', 'x'], 'y']
    ],
    'Silu'
  ],
  ['Mish', [...MISH, ['Mul', ['t', 'x'], 'y']], 'Mish'],
  ['hard sigmoid by a quotient', [...BOUNDED, ['Div', ['b', 'six'], 'y']], 'HardSigmoid'],
  ['hard sigmoid by a product', [...BOUNDED, ['Mul', ['sixth', 'b'], 'y']], 'HardSigmoid'],
  ['HardSwish: x * (bounded / 6)', [...BOUNDED, ['Div', ['b', 'six'], 'h'], ['Mul', ['x', 'h'], 'y']], 'HardSwish'],
  ['HardSwish: (x * bounded) / 6', [...BOUNDED, ['Mul', ['b', 'x'], 'h'], ['Div', ['h', 'six'], 'y']], 'HardSwish'],
  ['HardSwish: (x * bounded) * 1/6', [...BOUNDED, ['Mul', ['x', 'b'], 'h'], ['Mul', ['h', 'sixth'], 'y']], 'HardSwish']
]

describe('activations written in several nodes', () => {
  test.each(fused)('%s is one call in fast precision, and gives the same numbers', async (_, lines, op) => {
    const parts = model(lines)
    const plan = await planOf(parts)
    expect(opsOf(plan)).toEqual([op])
    expect(plan.steps[0].nodes).toHaveLength(lines.length)
    expect(opsOf(await planOf(parts, { isExact: true }))).toEqual(lines.map(([type]) => type))
    expect(await differenceBetween(parts, { x: [3, 1000] }, 4)).toBeLessThan(2e-6)
  })

  const halved: readonly Line[] = [...ERF, ['Mul', ['x', 's'], 'm'], ['Mul', ['m', 'half'], 'y']]
  test.each<readonly [string, ModelParts]>([
    ['another factor', model(halved, { half: 0.51 })],
    ['another divisor', model(halved, { root2: 1.4143 })],
    ['a sum with another number', model(halved, { one: 1.1 })],
    ['a product with another value', model([...ERF, ['Mul', ['d', 's'], 'm'], ['Mul', ['m', 'half'], 'y']])],
    ['a constant of more axes', model([...ERF, ['Mul', ['x', 's'], 'm'], ['Mul', ['m', 'halves'], 'y']])],
    ['a reader of the sum', model([...halved.slice(0, -1), ['Mul', ['m', 'half'], 'o'], ['Add', ['o', 's'], 'y']])],
    ['another power', model([...CUBE, ...TANH], { three: 3.5 })],
    ['another factor of the cube', model([...CUBE, ...TANH], { factor: 0.0447 })],
    ['another bound', model([...BOUNDED, ['Div', ['b', 'six'], 'y']], { six: 5 })],
    ['another number before the bounds', model([...BOUNDED, ['Div', ['b', 'six'], 'y']], { three: 2 })],
    ['another divisor of what is bounded', model([...BOUNDED, ['Div', ['b', 'three'], 'y']])],
    ['a divisor of more axes', model([...BOUNDED, ['Div', ['b', 'halves'], 'y']], { half: 6 })],
    ['a product of Tanh and another value', model([...MISH, ['Mul', ['t', 's'], 'y']])]
  ])('is left apart: %s', async (_, parts) => {
    const ops = opsOf(await planOf(parts))
    for (const op of ['Gelu', 'HardSigmoid', 'HardSwish', 'Mish']) expect(ops).not.toContain(op)
    expect(ops.length).toBe(parts.nodes.length)
  })

  test('is left apart where an inner value is wanted, or the run is watched', async () => {
    const parts = model(halved)
    expect(opsOf(await planOf(parts, { wanted: ['y', 'e'] }))).not.toContain('Gelu')
    expect(opsOf(await planOf(parts, { isObserved: true }))).not.toContain('Gelu')
  })

  test('integers of 64 bits that are bounded and multiplied are no activation', async () => {
    const parts: ModelParts = {
      inputs: [port('x', 'int64', [4])],
      outputs: [port('y', 'int64')],
      initializers: [int64s('low', [], [0]), int64s('high', [], [6]), int64s('six', [], [6])],
      nodes: [node('Clip', ['x', 'low', 'high'], ['b']), node('Mul', ['b', 'six'], ['y'])]
    }
    expect(opsOf(await planOf(parts))).toEqual(['Clip', 'Mul'])
    const session = new InferenceSession(await onnxModel(parts))
    const { y } = await session.run({ x: new Tensor('int64', [-3, 0, 5, 9], [4]) })
    expect(y).toEqual(new Tensor('int64', [0, 0, 30, 36], [4]))
  })

  test('a product takes Gelu with its bias', async () => {
    const parts: ModelParts = {
      ...model([['MatMul', ['a', 'w'], 'z'], ['Add', ['z', 'b'], 'x'], ...halved]),
      inputs: [port('a', 'float', [4, 16])]
    }
    const initializers = [
      ...(parts.initializers ?? []),
      floats(
        'w',
        [16, 8],
        Array.from({ length: 128 }, (_, i) => Math.sin(i))
      ),
      floats(
        'b',
        [8],
        Array.from({ length: 8 }, (_, i) => i / 8)
      )
    ]
    expect(opsOf(await planOf({ ...parts, initializers }))).toEqual(['FusedMatMul'])
  })
})
