import { describe, expect, test } from 'vitest'
import { bind } from '../../../src/bind/bind.ts'
import { isUnbound } from '../../../src/bind/call.ts'
import { registryWith } from '../../../src/built-in.ts'
import { type Tensor as AnyTensor, check, InferenceSession } from '../../../src/index.ts'
import { load } from '../../../src/load.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import {
  floats,
  type GraphParts,
  int64s,
  type ModelParts,
  node,
  onnxBytes,
  onnxModel,
  port
} from '../../fixtures/onnx.ts'
import { DOMAIN, gradient } from './gradient-node.ts'

const run = async (parts: ModelParts, feeds: Readonly<Record<string, Tensor>>): Promise<Record<string, number[]>> => {
  const session = new InferenceSession(await onnxModel(parts))
  const results = await session.run<Record<string, AnyTensor>>(feeds)
  session.dispose()
  return Object.fromEntries(Object.entries(results).map(([name, { data }]) => [name, [...data].map(Number)]))
}

const vector = (...data: number[]): Tensor => new Tensor('float32', data)
const model = (
  nodes: readonly object[],
  inputs: readonly string[],
  outputs: readonly string[],
  rest: Partial<GraphParts> = {}
): ModelParts => ({
  ...rest,
  domains: [DOMAIN],
  inputs: inputs.map(name => port(name, 'float')),
  outputs: outputs.map(name => port(name, 'float')),
  nodes
})

describe('Gradient', () => {
  test('of Celu, which takes float32 alone', async () => {
    const nodes = [node('Celu', ['x'], ['y'], { alpha: { float: 0.5 } }), gradient(['x'], 'y', ['dx'])]
    const { dx } = await run(model(nodes, ['x'], ['dx']), { x: vector(-1, 2) })
    expect(dx[0]).toBeCloseTo(Math.exp(-2), 6)
    expect(dx[1]).toBe(1)
  })

  test('passes no cast to whole numbers, which CastLike may be, too', async () => {
    for (const like of [int64s('like', [1], [0]), { name: 'like', dims: [1], dataType: 9, int32Data: [0] }]) {
      const nodes = [
        node('CastLike', ['x', 'like'], ['whole']),
        node('Cast', ['whole'], ['factor'], { to: 1 }),
        node('Mul', ['x', 'factor'], ['product']),
        node('ReduceSum', ['product'], ['y'], { keepdims: 0 }),
        gradient(['x'], 'y', ['dx'])
      ]
      const { dx, factor } = await run(model(nodes, ['x'], ['dx', 'factor'], { initializers: [like] }), {
        x: vector(2.5, -3.25, 0)
      })
      expect(dx).toEqual(factor)
    }
  })

  test('of Clip whose lower bound is above the upper one is that of the upper one', async () => {
    const nodes = [
      node('Clip', ['x', 'low', 'high'], ['clipped']),
      node('ReduceSum', ['clipped'], ['y'], { keepdims: 0 }),
      gradient(['x', 'low', 'high'], 'y', ['dx', 'dlow', 'dhigh'])
    ]
    const results = await run(model(nodes, ['x', 'low', 'high'], ['dx', 'dlow', 'dhigh']), {
      x: vector(-3, 0.5, 0, 4),
      low: new Tensor('float32', [2], []),
      high: new Tensor('float32', [-1], [])
    })
    expect(results).toEqual({ dx: [0, 0, 0, 0], dlow: [0], dhigh: [4] })
  })

  test('of PRelu whose slopes are those of channels, before opset 7', async () => {
    const nodes = [
      node('PRelu', ['x', 'slopes'], ['z']),
      node('ReduceSum', ['z'], ['y'], { keepdims: 0 }),
      gradient(['x', 'slopes'], 'y', ['dx', 'dslopes'])
    ]
    const results = await run(
      { ...model(nodes, ['x', 'slopes'], ['dx', 'dslopes']), opset: 6 },
      {
        x: new Tensor('float32', [-1, -2, 3, -4], [1, 2, 2]),
        slopes: vector(0.5, 0.25)
      }
    )
    expect(results).toEqual({ dx: [0.5, 0.5, 1, 0.25], dslopes: [-3, -4] })
  })

  test('of Split whose other parts are left out', async () => {
    const nodes = [
      node('Split', ['x', 'sizes'], ['', 'part', '']),
      node('ReduceSum', ['part'], ['y'], { keepdims: 0 }),
      gradient(['x'], 'y', ['dx'])
    ]
    const rest = { initializers: [int64s('sizes', [3], [1, 2, 1])] }
    expect(await run(model(nodes, ['x'], ['dx'], rest), { x: vector(1, 2, 3, 4) })).toEqual({ dx: [0, 1, 1, 0] })
  })

  test.each([
    ['TopK', ['x', 'k'], {}],
    ['Dropout', ['x'], {}],
    ['MaxPool', ['rows'], { kernel_shape: [2] }]
  ])('of what depends on the indices of %s, or on its mask, alone is zero', async (type, inputs, attributes) => {
    const nodes = [
      node('Reshape', ['x', 'dims'], ['rows']),
      node(type, inputs, ['first', 'at'], attributes),
      node('Cast', ['at'], ['place'], { to: 1 }),
      node('ReduceSum', ['place'], ['y'], { keepdims: 0 }),
      gradient(['x'], 'y', ['dx'])
    ]
    const rest = { initializers: [int64s('k', [1], [1]), int64s('dims', [3], [1, 1, -1])] }
    expect(await run(model(nodes, ['x'], ['dx'], rest), { x: vector(1, 3, 2) })).toEqual({ dx: [0, 0, 0] })
  })

  test.each([
    ['reflect', [1, 3, 1]],
    ['edge', [2, 1, 2]]
  ])('of Pad of mode %s of float32, which has a constant that is not used', async (mode, expected) => {
    const nodes = [
      node('Pad', ['x', 'pads', 'constant'], ['padded'], { mode }),
      node('ReduceSum', ['padded'], ['y'], { keepdims: 0 }),
      gradient(['x'], 'y', ['dx'])
    ]
    const rest = { initializers: [int64s('pads', [2], [1, 1]), floats('constant', [], [0])] }
    expect(await run(model(nodes, ['x'], ['dx'], rest), { x: vector(1, 2, 3) })).toEqual({ dx: expected })
  })

  test('is taken at the inputs, which may be other values than those that are named', async () => {
    const nodes = [
      node('Mul', ['x', 'z'], ['y']),
      node('Mul', ['y', 'x'], ['w']),
      gradient(['x'], 'w', ['dx'], ['z'], ['a', 'b'])
    ]
    const parts = model(nodes, ['x', 'z', 'a', 'b'], ['w', 'dx'])
    const results = await run(parts, { x: vector(1), z: vector(1), a: vector(3), b: vector(5) })
    expect(results).toEqual({ w: [1], dx: [30] })
  })

  test('tells variables apart to which one value is fed', async () => {
    const nodes = [
      node('Mul', ['x', 'x'], ['q']),
      node('Mul', ['q', 'z'], ['y']),
      gradient(['x', 'z'], 'y', ['dx', 'dz'], [], ['a', 'a'])
    ]
    const results = await run(model(nodes, ['x', 'z', 'a'], ['dx', 'dz']), { x: vector(0), z: vector(0), a: vector(3) })
    expect(results).toEqual({ dx: [18], dz: [9] })
  })

  test('by a value in between goes no further than that value', async () => {
    const nodes = [node('Exp', ['w'], ['h']), node('Mul', ['h', 'z'], ['y']), gradient(['h', 'z'], 'y', ['dh', 'dz'])]
    const { dh, dz } = await run(model(nodes, ['w', 'z'], ['dh', 'dz']), { w: vector(0), z: vector(7) })
    expect([dh, dz]).toEqual([[7], [1]])
  })

  test('of a value that does not depend on a variable is zero, and outputs may be left out', async () => {
    const nodes = [node('Floor', ['x'], ['f']), node('Mul', ['f', 'z'], ['y']), gradient(['x', 'z'], 'y', ['dx'])]
    expect(await run(model(nodes, ['x', 'z'], ['dx']), { x: vector(1.5, 2), z: vector(3, 4) })).toEqual({ dx: [0, 0] })
    const skipped = [node('Mul', ['x', 'z'], ['y']), gradient(['x', 'z'], 'y', ['', 'dz'])]
    expect(await run(model(skipped, ['x', 'z'], ['dz']), { x: vector(2), z: vector(3) })).toEqual({ dz: [2] })
  })

  test('may stand before the nodes that it differentiates, and in a function or a body', async () => {
    const first = [gradient(['x'], 'y', ['dx']), node('Mul', ['x', 'x'], ['y'])]
    expect(await run(model(first, ['x'], ['dx']), { x: vector(4) })).toEqual({ dx: [8] })
    const slope = {
      name: 'Slope',
      domain: 'own',
      input: ['a'],
      output: ['da'],
      node: [node('Mul', ['a', 'a'], ['s']), gradient(['a'], 's', ['da'])],
      opsetImport: [
        { domain: '', version: 17 },
        { domain: DOMAIN, version: 1 }
      ]
    }
    const calling = {
      ...model([node('Slope', ['x'], ['dx'], {}, 'own')], ['x'], ['dx']),
      functions: [slope],
      domains: [DOMAIN, 'own']
    }
    expect(await run(calling, { x: vector(5) })).toEqual({ dx: [10] })
    const branch = (factor: number): GraphParts => ({
      initializers: [floats('k', [], [factor])],
      nodes: [node('Mul', ['x', 'x'], ['s']), node('Mul', ['s', 'k'], ['t']), gradient(['x'], 't', ['r'], ['k'])],
      outputs: [port('r', 'float')]
    })
    const branches = { then_branch: { graph: branch(2) }, else_branch: { graph: branch(3) } }
    const parts = model([node('If', ['c'], ['dx'], branches)], ['x'], ['dx'], {})
    const withCondition = { ...parts, inputs: [port('c', 'bool', []), ...(parts.inputs ?? [])] }
    expect(await run(withCondition, { c: new Tensor('bool', [false], []), x: vector(2) })).toEqual({ dx: [12] })
  })

  test.each([
    [
      'an operator without a derivative',
      [node('Det', ['x'], ['y']), gradient(['x'], 'y', ['dx'])],
      'unsupported-op',
      'there is no derivative of Det "Det_y"'
    ],
    [
      'a name of nothing',
      [gradient(['x'], 'nothing', ['dx'])],
      'invalid-graph',
      '"nothing", which y names, is no value of this graph'
    ],
    [
      'itself',
      [node('Mul', ['x', 'dx'], ['y']), gradient(['x'], 'y', ['dx'])],
      'invalid-graph',
      'Gradient is needed to work out itself'
    ],
    [
      'too few inputs',
      [node('Neg', ['x'], ['y']), gradient(['x', 'x'], 'y', ['dx'], [], ['x'])],
      'wrong-input-count',
      '1 inputs are given; xs and zs name 2'
    ],
    [
      'too many outputs',
      [node('Neg', ['x'], ['y']), gradient(['x'], 'y', ['dx', 'more'])],
      'wrong-output-count',
      '2 outputs are listed; xs names 1'
    ]
  ])('refuses %s', async (_, nodes, code, message) => {
    const failure = { code, reason: expect.stringContaining(message) as unknown }
    const bound = bind(await onnxModel(model(nodes, ['x'], ['dx'])), registryWith())
    expect(bound.items.filter(isUnbound).map(({ error }) => error)).toContainEqual(expect.objectContaining(failure))
    await expect(run(model(nodes, ['x'], ['dx']), { x: vector(1) })).rejects.toMatchObject({ code })
  })

  test('is of floats alone', async () => {
    const parts = {
      ...model([node('Mul', ['x', 'x'], ['y']), gradient(['x'], 'y', ['dx'])], [], ['dx']),
      inputs: [port('x', 'int64', [2])]
    }
    expect(check(await onnxModel(parts)).findings).toContainEqual(expect.objectContaining({ code: 'type-not-allowed' }))
  })

  test('of ever higher order meets the limit of nodes before it takes memory', async () => {
    const orders = Array.from({ length: 30 }, (_, i) => [
      node('Pow', [`d${i}`, 'x'], [`y${i}`]),
      gradient(['x'], `y${i}`, [`d${i + 1}`])
    ])
    const parts = model([node('Identity', ['x'], ['d0']), ...orders.flat()], ['x'], ['d30'])
    const bound = bind(await load(onnxBytes(parts), { limits: { nodes: 50_000 } }), registryWith())
    expect(bound.items.filter(isUnbound).map(({ error }) => error.code)).toContain('limit-exceeded')
  })
})
