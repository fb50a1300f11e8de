import { describe, expect, test } from 'vitest'
import { floats, int64s, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const [BATCH, HEADS, SIZE] = [2, 3, 8]
const WIDTH = HEADS * SIZE
const NAMES = ['q', 'k', 'v'] as const

/** A model that parts `x` into q, k and v by these nodes, heads before rows, and attends. */
const model = (x: readonly number[], nodes: readonly object[], changes: Partial<ModelParts> = {}): ModelParts => ({
  inputs: [port('x', 'float', x)],
  outputs: [port('y', 'float')],
  initializers: [
    ...[0, 1, -1].map((index, i) => int64s(`index${i}`, [], [index])),
    int64s('axis0', [1], [0]),
    int64s('ones', [3], [1, 1, 1]),
    int64s('thirds', [3], [WIDTH, WIDTH, WIDTH]),
    int64s('apart', [4], [0, 0, HEADS, SIZE]),
    floats('half', [], [0.5])
  ],
  nodes: [
    ...nodes,
    node('Transpose', ['k'], ['c'], { perm: [0, 1, 3, 2] }),
    node('MatMul', ['q', 'c'], ['s']),
    node('Mul', ['s', 'half'], ['m']),
    node('Softmax', ['m'], ['w'], { axis: -1 }),
    node('MatMul', ['w', 'v'], ['o']),
    node('Transpose', ['o'], ['y'], { perm: [0, 2, 1, 3] })
  ],
  ...changes
})

const turned = (from: string, to: string, perm: readonly number[] = [0, 2, 1, 3]): object =>
  node('Transpose', [from], [to], { perm: [...perm] })
const gathered = (from: string, axis: number, to = (name: string) => name): readonly object[] =>
  NAMES.map((name, i) => node('Gather', [from, `index${i}`], [to(name)], { axis }))
const parted = (sizes: string, axis = -1): readonly object[] => [
  node('Split', ['x', sizes], ['x0', 'x1', 'x2'], { axis }),
  ...NAMES.flatMap((name, i) => [node('Reshape', [`x${i}`, 'apart'], [`${name}1`]), turned(`${name}1`, name)])
]

const FORMS: Readonly<Record<string, readonly [dims: (rows: number) => number[], nodes: readonly object[]]>> = {
  'a Transpose and Gathers, as in ViT': [
    rows => [BATCH, rows, 3, HEADS, SIZE],
    [turned('x', 't', [2, 0, 3, 1, 4]), ...gathered('t', 0)]
  ],
  'a Transpose, a Split and Squeezes, as in timm': [
    rows => [BATCH, rows, 3, HEADS, SIZE],
    [
      turned('x', 't', [2, 0, 3, 1, 4]),
      node('Split', ['t', 'ones'], ['q1', 'k1', 'v1'], { axis: 0 }),
      ...NAMES.map(name => node('Squeeze', [`${name}1`, 'axis0'], [name]))
    ]
  ],
  'a Transpose of the parts of each head': [
    rows => [BATCH, rows, HEADS, 3, SIZE],
    [turned('x', 't', [3, 0, 2, 1, 4]), ...gathered('t', 0)]
  ],
  'Gathers and Transposes, as in Bloom': [
    rows => [BATCH, rows, HEADS, 3, SIZE],
    [...gathered('x', 3, name => `${name}1`), ...NAMES.map(name => turned(`${name}1`, name))]
  ],
  'a Split of rows, as in GPT-2': [rows => [BATCH, rows, 3 * WIDTH], parted('thirds')]
}

describe('attention reads parts of one projection where they lie', () => {
  // The rows decide whether the reference or the kernel in WebAssembly attends.
  test.each(Object.entries(FORMS))('%s', async (_, [dims, nodes]) => {
    for (const rows of [3, 40]) {
      const parts = model(dims(rows), nodes)
      const { steps } = await planOf(parts)
      expect(steps.map(({ call }) => call.op.name)).toEqual(['ScaledDotProductAttention'])
      expect(Object.keys(steps[0].call.known.parts as object).toSorted()).toEqual(['key', 'query', 'value'])
      expect(await differenceBetween(parts, { x: dims(rows) }, 2)).toBeLessThan(3e-6)
    }
  })

  test('and others read them, too', async () => {
    const [dims, nodes] = FORMS['a Transpose and Gathers, as in ViT']
    const parts = model(dims(3), nodes, { outputs: [port('y', 'float'), port('k', 'float')] })
    expect(opsOf(await planOf(parts))).toEqual(['Transpose', 'Gather', 'ScaledDotProductAttention'])
    expect(await differenceBetween(parts, { x: dims(3) }, 2)).toBeLessThan(3e-6)
  })

  test.each<readonly [string, number[], readonly object[]]>([
    ['another order of axes', [BATCH, 3, 3, HEADS, SIZE], [turned('x', 't', [1, 0, 3, 2, 4]), ...gathered('t', 0)]],
    ['parts along the rows of heads', [3, BATCH, HEADS, 3, SIZE], gathered('x', 0)],
    ['parts along rows', [BATCH, 3, WIDTH], parted('ones', 1)]
  ])('but not of %s', async (_, dims, nodes) => {
    const parts = model(dims, nodes)
    const plan = await planOf(parts)
    const attention = plan.steps.find(({ call }) => call.op.name === 'ScaledDotProductAttention')
    expect(attention?.call.known.parts ?? {}).toEqual({})
  })
})
