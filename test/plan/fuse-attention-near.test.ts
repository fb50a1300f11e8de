import { describe, expect, test } from 'vitest'
import type { Model } from '../../src/graph/graph.ts'
import { InferenceSession } from '../../src/index.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { floats, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { differenceOf, noise } from '../wasm/compare.ts'
import { attentionModel, DIMS, NUMBERS, SCORES, weighted } from './attention-model.ts'
import { Ir, planOfIr } from './ir-model.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const MICROSOFT = 'com.microsoft'

describe('nodes that are nearly attention', () => {
  /** Queries whose rows are columns, by a product that turns its first factor. */
  const turned = (nodes: readonly object[]): ModelParts => ({
    inputs: [
      port('q', 'float', [2, 3, 16, 20]),
      ...(['columns', 'v', 'full'] as const).map(name => port(name, 'float', DIMS[name]))
    ],
    outputs: [port('y', 'float')],
    initializers: NUMBERS,
    nodes: [node('FusedMatMul', ['q', 'columns'], ['s'], { transA: 1 }, MICROSOFT), ...nodes],
    domains: [MICROSOFT]
  })
  const feeds = { columns: DIMS.columns, v: DIMS.v, full: DIMS.full }
  const halved = node('FusedMatMul', ['w', 'v'], ['y'], { alpha: { float: 0.5 } }, MICROSOFT)

  const movedValues = node('FusedMatMul', ['w', 'v'], ['y'], { transBatchB: 1 }, MICROSOFT)
  const movedWeights = node('FusedMatMul', ['w', 'v'], ['y'], { transBatchA: 1 }, MICROSOFT)

  const plain = (nodes: readonly object[]): ModelParts =>
    attentionModel(
      ['q', 'columns', 'v', 'full'],
      [SCORES, ...nodes],
      [...NUMBERS, floats('list', [30], [...noise([30], 7).data])]
    )
  const plainFeeds = { q: DIMS.q, ...feeds }

  test.each<readonly [string, ModelParts, Readonly<Record<string, readonly number[]>>]>([
    [
      'scores between 0 and a number',
      plain([node('Sigmoid', ['s'], ['t']), node('Mul', ['t', 'four'], ['c']), ...weighted('c')]),
      plainFeeds
    ],
    [
      'scores that are capped after a mask',
      plain([
        node('Add', ['s', 'full'], ['m']),
        node('Tanh', ['m'], ['t']),
        node('Mul', ['t', 'four'], ['c']),
        ...weighted('c')
      ]),
      plainFeeds
    ],
    [
      'masked scores that are kept above 0',
      plain([node('Add', ['s', 'full'], ['m']), node('Relu', ['m'], ['r']), ...weighted('r')]),
      plainFeeds
    ],
    [
      'two masks that are parts of the product',
      plain([node('Add', ['s', 'list'], ['m']), node('Add', ['m', 'full'], ['n']), ...weighted('n')]),
      plainFeeds
    ],
    [
      'values that the product scales',
      {
        ...attentionModel(['q', 'columns', 'v'], [SCORES, node('Softmax', ['s'], ['w'], { axis: -1 }), halved]),
        domains: [MICROSOFT]
      },
      { q: DIMS.q, columns: DIMS.columns, v: DIMS.v }
    ],
    [
      'values whose rows stand before their heads',
      {
        ...attentionModel(['q', 'columns'], [SCORES, node('Softmax', ['s'], ['w'], { axis: -1 }), movedValues]),
        inputs: [port('q', 'float', DIMS.q), port('columns', 'float', DIMS.columns), port('v', 'float', [30, 2, 3, 8])],
        domains: [MICROSOFT]
      },
      { q: DIMS.q, columns: DIMS.columns, v: [30, 2, 3, 8] }
    ],
    [
      'weights whose rows stand before their heads',
      {
        ...attentionModel(['q', 'columns'], [SCORES, node('Softmax', ['s'], ['w'], { axis: -1 }), movedWeights]),
        inputs: [
          port('q', 'float', DIMS.q),
          port('columns', 'float', DIMS.columns),
          port('v', 'float', [3, 20, 30, 8])
        ],
        domains: [MICROSOFT]
      },
      { q: DIMS.q, columns: DIMS.columns, v: [3, 20, 30, 8] }
    ],
    [
      'queries in columns, and a mask',
      turned([node('Add', ['s', 'full'], ['m']), ...weighted('m')]),
      { q: [2, 3, 16, 20], ...feeds }
    ],
    [
      'queries in columns, and capped scores',
      turned([node('Tanh', ['s'], ['t']), node('Mul', ['t', 'four'], ['c']), ...weighted('c')]),
      { q: [2, 3, 16, 20], ...feeds }
    ]
  ])('are left apart: %s', async (_, parts, dims) => {
    expect(opsOf(await planOf(parts))).not.toContain('ScaledDotProductAttention')
    expect(await differenceBetween(parts, dims, 2)).toBeLessThan(3e-6)
  })
})

test('a mask of one 0 before another one leaves that', async () => {
  const nodes = [SCORES, node('Add', ['s', 'zero'], ['m']), node('Add', ['m', 'full'], ['n']), ...weighted('n')]
  const parts = attentionModel(['q', 'columns', 'v', 'full'], nodes)
  const { steps } = await planOf(parts)
  expect(steps.map(({ call }) => call.op.name)).toEqual(['ScaledDotProductAttention'])
  expect(steps[0].call.inputs).toContain('full')
  const feeds = { q: DIMS.q, columns: DIMS.columns, v: DIMS.v, full: DIMS.full }
  expect(await differenceBetween(parts, feeds, 2)).toBeLessThan(3e-6)
})

const HEADS = [1, 2, 6, 8]
const ATTENTION = 'ScaledDotProductAttention@opset13'

/** The largest difference between runs of an IR in fast and in exact precision. */
async function differenceOfIr(model: Model, feeds: Readonly<Record<string, Tensor>>): Promise<number> {
  const results: Tensor[] = []
  for (const precision of ['fast', 'exact'] as const) {
    const session = new InferenceSession(model, { precision })
    results.push(Object.values(await session.run(feeds))[0])
    session.dispose()
  }
  expect(results[0].dims).toEqual(results[1].dims)
  return differenceOf(results[0], results[1])
}

describe('what attention of IR reads', () => {
  test('stays scaled apart where only a run knows the scale of the scores', async () => {
    const ir = new Ir()
    const [x, k, scale] = [ir.input('f32', HEADS), ir.input('f32', HEADS, 'k'), ir.input('f32', [], 'scale')]
    const scaled = ir.add('Multiply', [x, ir.floats([], [0.5])], 'f32', HEADS)
    const inputs = [scaled, k, k, ir.floats([], [0]), scale]
    const model = ir.model(ir.add(ATTENTION, inputs, 'f32', HEADS, 'causal="false"'))
    expect(opsOf(planOfIr(model))).toEqual(['Mul', 'ScaledDotProductAttention'])
    const feeds = { x: noise(HEADS, 1, 2), k: noise(HEADS, 2, 2), scale: new Tensor('float32', [0.25], []) }
    expect(await differenceOfIr(model, feeds)).toBeLessThan(3e-6)
  })

  test('stays scaled apart where the number gives it an axis', async () => {
    const ir = new Ir()
    const [x, k] = [ir.input('f32', HEADS.slice(1)), ir.input('f32', HEADS, 'k')]
    const scaled = ir.add('Multiply', [x, ir.floats([1, 1, 1, 1], [0.5])], 'f32', HEADS)
    const model = ir.model(ir.add(ATTENTION, [scaled, k, k], 'f32', HEADS, 'causal="false"'))
    expect(opsOf(planOfIr(model))).toEqual(['Mul', 'ScaledDotProductAttention'])
    const feeds = { x: noise(HEADS.slice(1), 1, 2), k: noise(HEADS, 2, 2) }
    expect(await differenceOfIr(model, feeds)).toBeLessThan(3e-6)
  })

  test.each<readonly [string, (ir: Ir) => string, readonly number[]]>([
    ['gives the result an axis', ir => ir.floats([1, 1, 1, 1], [0]), HEADS.slice(1)],
    ['says that nothing is seen', ir => ir.constant('boolean', [], Uint8Array.of(0)), HEADS]
  ])('keeps a mask of one 0 that %s', (_, maskOf, dims) => {
    const ir = new Ir()
    const x = ir.input('f32', dims)
    const inputs = [x, x, x, maskOf(ir), ir.floats([], [0.5])]
    const [{ call }] = planOfIr(ir.model(ir.add(ATTENTION, inputs, 'f32', HEADS, 'causal="false"'))).steps
    expect(call.inputs[3]).toBeDefined()
  })

  test('stays turned where keys in rows come of the order that brings them into columns', async () => {
    const ir = new Ir()
    const [x, k] = [ir.input('f32', HEADS), ir.input('f32', [1, 8, 2, 6], 'k')]
    const keys = ir.move('Transpose', k, HEADS, [0, 2, 3, 1])
    const model = ir.model(ir.add(ATTENTION, [x, keys, x], 'f32', HEADS, 'causal="false"'))
    expect(opsOf(planOfIr(model))).toEqual(['Transpose', 'ScaledDotProductAttention'])
    const feeds = { x: noise(HEADS, 1, 2), k: noise([1, 8, 2, 6], 2, 2) }
    expect(await differenceOfIr(model, feeds)).toBeLessThan(3e-6)
  })
})
