import { describe, expect, test } from 'vitest'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { floats, int64s, type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

/** Types by their numbers in a file. */
const TYPE_NUMBERS = { float: 1, int32: 6, int64: 7, float16: 10, double: 11, bfloat16: 16 } as const

interface Changes {
  readonly type?: keyof typeof TYPE_NUMBERS
  /** Nodes between the inputs of the body, `matrix` and `row`, and its outputs, `same` and `sums`. */
  readonly nodes?: readonly object[]
  readonly power?: number
  /** Dims of the power. */
  readonly powerDims?: readonly number[]
  readonly attributes?: { readonly scan_input_directions: number[] }
  readonly outputs?: readonly object[]
  readonly matrix?: readonly (number | string)[]
}

const ROWS = Array.from({ length: 20 }, (_, i) => Math.sin(i))
const same = node('Identity', ['matrix'], ['same'])
const sub = node('Sub', ['matrix', 'row'], ['difference'])
const sumOf = (of: string, attributes: { axes: number[]; keepdims: number }): object =>
  node('ReduceSumSquare', [of], ['sums'], attributes)

const sum = (of: string): object => node('ReduceSum', [of, 'axes'], ['sums'], { keepdims: 0 })
const raised = (of: string): object => node('Pow', [of, 'power'], ['raised'])
const abs = node('Abs', ['difference'], ['size'])

/** The squares of the distances of 5 rows to those of x, as scikit-learn's neighbours have them. */
const model = ({ type = 'float', ...changes }: Changes = {}): ModelParts => ({
  inputs: [port('x', 'float', changes.matrix ?? ['n', 4])],
  outputs: changes.outputs ?? [port('y', type)],
  initializers: [floats('rows', [5, 4], ROWS)],
  nodes: [
    ...['x', 'rows'].map(name => node('Cast', [name], [`${name} cast`], { to: TYPE_NUMBERS[type] })),
    node('Scan', ['x cast', 'rows cast'], ['unchanged', 'y'], {
      num_scan_inputs: 1,
      body: {
        graph: {
          inputs: [port('matrix', type), port('row', type)],
          outputs: [port('same', type), port('sums', type)],
          initializers: [int64s('axes', [1], [1]), floats('power', changes.powerDims ?? [1], [changes.power ?? 2])],
          nodes: changes.nodes ?? [same, sub, sumOf('difference', { axes: [1], keepdims: 0 })]
        }
      },
      ...changes.attributes
    })
  ]
})

describe('distances by a Scan', () => {
  test.each<[string, Changes]>([
    ['by the number of the axis', {}],
    ['from the end', { nodes: [same, sub, sumOf('difference', { axes: [-1], keepdims: 0 })] }],
    [
      'with the row first, and copies',
      {
        nodes: [
          same,
          node('Sub', ['row', 'matrix'], ['d']),
          node('Identity', ['d'], ['e']),
          sumOf('e', { axes: [1], keepdims: 0 })
        ]
      }
    ]
  ])('are one call, %s', async (_, changes) => {
    expect(opsOf(await planOf(model(changes)))).toEqual(['CDist'])
    expect(await differenceBetween(model(changes), { x: [7, 4] })).toBeLessThan(1e-6)
  })

  test('are one call where the axis is an input', async () => {
    const parts = model({
      nodes: [same, sub, node('ReduceSumSquare', ['difference', 'axes'], ['sums'], { keepdims: 0 })]
    })
    expect(opsOf(await planOf({ ...parts, opset: 18 }))).toEqual(['CDist'])
    expect(await differenceBetween({ ...parts, opset: 18 }, { x: [3, 4] })).toBeLessThan(1e-6)
  })

  test.each<[string, Changes]>([
    ['sizes', { nodes: [same, sub, abs, sum('size')] }],
    [
      'sizes, by their norm',
      { nodes: [same, sub, node('ReduceL1', ['difference'], ['sums'], { axes: [1], keepdims: 0 })] }
    ],
    ['squares', { nodes: [same, sub, raised('difference'), sum('raised')] }],
    ['cubes', { nodes: [same, sub, abs, raised('size'), sum('raised')], power: 3 }],
    ['powers', { nodes: [same, sub, abs, raised('size'), sum('raised')], power: 2.5 }]
  ])('are one call for sums of %s', async (_, changes) => {
    expect(opsOf(await planOf(model(changes)))).toEqual(['CDist'])
    for (const rows of [7, 70]) expect(await differenceBetween(model(changes), { x: [rows, 4] })).toBeLessThan(1e-5)
  })

  test.each<[string, Changes]>([
    ['odd powers', { nodes: [same, sub, raised('difference'), sum('raised')], power: 3 }],
    ['a power that adds an axis', { nodes: [same, sub, raised('difference'), sum('raised')], powerDims: [1, 1, 1] }],
    ['plain sums', { nodes: [same, sub, sum('difference')] }],
    ['sums over other axes', { nodes: [same, sub, sumOf('difference', { axes: [0], keepdims: 0 })] }],
    ['sums that keep the axis', { nodes: [same, sub, sumOf('difference', { axes: [1], keepdims: 1 })] }],
    ['sums of something else', { nodes: [same, sub, sumOf('matrix', { axes: [1], keepdims: 0 })] }],
    [
      'a matrix that changes',
      { nodes: [node('Neg', ['matrix'], ['same']), sub, sumOf('difference', { axes: [1], keepdims: 0 })] }
    ],
    ['rows in reverse', { attributes: { scan_input_directions: [1] } }],
    ['a matrix that is read', { outputs: [port('y', 'float'), port('unchanged', 'float')] }],
    ['rows of one element, which are repeated', { matrix: ['n', 1] }],
    ['rows of unknown size', { matrix: ['n', 'm'] }]
  ])('stay a Scan with %s', async (_, changes) => {
    expect(opsOf(await planOf(model(changes)))).toContain('Scan')
  })

  test('are one call in float64', async () => {
    expect(opsOf(await planOf(model({ type: 'double' })))).toEqual(['Cast', 'CDist'])
  })

  test.each(['int32', 'int64', 'float16', 'bfloat16'] as const)(
    'stay a Scan in %s, in which CDist does not compute',
    async type => {
      expect(opsOf(await planOf(model({ type })))).toContain('Scan')
      expect(await differenceBetween(model({ type }), { x: [3, 4] })).toBeLessThan(1e-3)
    }
  )

  test('stay a Scan with an infinite power, by which 1 stays 1', async () => {
    const power = Infinity
    const parts = model({ nodes: [same, sub, abs, raised('size'), sum('raised')], power })
    expect(opsOf(await planOf(parts))).toEqual(['Scan'])
  })

  test('stay a Scan over the rows of both, which gives one distance for each', async () => {
    const [x, z] = ['x', 'z'].map(name => port(name, 'float', [3, 2]))
    const nodes = [same, sub, sumOf('difference', { axes: [-1], keepdims: 0 })]
    const body = {
      inputs: [port('matrix', 'float'), port('row', 'float')],
      outputs: [port('same', 'float'), port('sums', 'float')],
      nodes
    }
    const session = new InferenceSession(
      await onnxModel({
        inputs: [x, z],
        outputs: [port('y', 'float')],
        nodes: [node('Scan', ['x', 'z'], ['unchanged', 'y'], { num_scan_inputs: 2, body: { graph: body } })]
      })
    )
    const { y } = await session.run({
      x: new Tensor('float32', [0, 1, 2, 3, 4, 5], [3, 2]),
      z: new Tensor('float32', [0, 1, 2, 0, 1, 1], [3, 2])
    })
    expect(y).toMatchObject({ dims: [3], data: new Float32Array([0, 9, 25]) })
  })

  test('stay a Scan in exact precision', async () => {
    expect(opsOf(await planOf(model(), { isExact: true }))).toEqual(['Scan'])
  })
})
