import { describe, expect, test } from 'vitest'
import type { DType } from '../../../src/tensor/dtype.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { floats, type GraphParts, type ModelParts, node, port } from '../../fixtures/onnx.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { rejection, runOnnx } from '../model.ts'
import { expectNear } from '../near.ts'

const KIND: Kind = ['onnx', 'FlexAttention', 1, 'ai.onnx.preview']
const list = (values: number[], dims: number[], type: DType = 'float32'): Tensor => new Tensor(type, values, dims)
const zeros = (...dims: number[]): Tensor => list(new Array<number>(dims.reduce((a, b) => a * b, 1)).fill(0), dims)
/** Queries of zeros see every key alike: results are means of the values seen. */
const values = list([2, 4, 6], [1, 1, 3, 1])
const feeds = { q: zeros(1, 1, 2, 1), k: zeros(1, 1, 3, 1), v: values }

const modifier = (nodes: readonly object[], parts: Partial<GraphParts> = {}): { readonly graph: GraphParts } => ({
  graph: { nodes, inputs: [port('s', 'float')], outputs: [port('t', 'float')], ...parts }
})
const model = (attributes: Record<string, ReturnType<typeof modifier>>): ModelParts => ({
  domains: ['ai.onnx.preview'],
  inputs: ['q', 'k', 'v'].map(name => port(name, 'float')),
  nodes: [node('FlexAttention', ['q', 'k', 'v'], ['y'], attributes, 'ai.onnx.preview')],
  outputs: [port('y', 'float')]
})

describe('FlexAttention', () => {
  test('without bodies it is attention in groups', () => {
    const shared = list([1, 2], [1, 2, 1, 1])
    expectNear(runTensor(KIND, [zeros(1, 4, 1, 1), zeros(1, 2, 1, 1), shared]), [1, 1, 2, 2])
    const weight = 1 / (1 + Math.exp(-2))
    const scaled = [list([2], [1, 1, 1, 1]), list([0, 1], [1, 1, 2, 1]), list([0, 1], [1, 1, 2, 1])]
    expectNear(runTensor(KIND, scaled), [weight])
    expectNear(runTensor(KIND, scaled, { attributes: { scale: 0 } }), [0.5])
    expectNear(runTensor(KIND, scaled, { attributes: { scale: -1 } }), [1 - weight])
  })

  test('one body changes the scores, another the weights', async () => {
    const mask = floats('m', [2, 3], [0, 0, -1e9, 0, -1e9, 0])
    const score = modifier([node('Add', ['s', 'm'], ['t'])], { initializers: [mask] })
    expect((await runOnnx(model({ score_mod: score }), feeds)).y).toEqual([[1, 1, 2, 1], 3, 4])
    const weigh = modifier([node('Mul', ['s', 'f'], ['t'])], { initializers: [floats('f', [3], [3, 0, 0])] })
    const both = await runOnnx(model({ score_mod: score, prob_mod: weigh }), feeds)
    expect(both.y).toEqual([[1, 1, 2, 1], 3, 3])
  })

  test('a body that hides all keys of a query gives NaN', async () => {
    const mask = floats('m', [2, 1], [-Infinity, 0])
    const score = modifier([node('Add', ['s', 'm'], ['t'])], { initializers: [mask] })
    expect((await runOnnx(model({ score_mod: score }), feeds)).y).toEqual([[1, 1, 2, 1], NaN, 4])
  })

  test('bodies must give what they get', async () => {
    const sum = modifier([node('ReduceSum', ['s'], ['t'])])
    expect((await rejection(runOnnx(model({ score_mod: sum }), feeds))).code).toBe('dims-mismatch')
    const cast = modifier([node('Cast', ['s'], ['t'], { to: 11 })], { outputs: [{ name: 't' }] })
    expect((await rejection(runOnnx(model({ prob_mod: cast }), feeds))).code).toBe('type-mismatch')
    const two = modifier([node('Add', ['s', 'r'], ['t'])], { inputs: [port('s', 'float'), port('r', 'float')] })
    expect((await rejection(runOnnx(model({ score_mod: two }), feeds))).code).toBe('invalid-graph')
  })

  test('operands must fit', () => {
    const code = (...given: Tensor[]): string => errorOf(() => runTensor(KIND, given)).code
    expect(code(zeros(1, 1, 1), values, values)).toBe('rank-mismatch')
    expect(code(zeros(1, 3, 1, 1), zeros(1, 2, 1, 1), zeros(1, 2, 1, 1))).toBe('dims-mismatch')
    expect(code(zeros(1, 1, 1, 2), values, values)).toBe('dims-mismatch')
    expect(code(zeros(1, 1, 1, 1), values, zeros(1, 1, 2, 1))).toBe('dims-mismatch')
    expect(
      errorOf(() => runTensor(KIND, [values, values, values], { attributes: { softmax_precision: 6 } })).code
    ).toBe('unknown-attribute-value')
  })

  test('shapes stay symbolic', () => {
    const facts = [
      fact('float16', ['b', 8, 's', 16]),
      fact('float16', ['b', 2, 't', 16]),
      fact('float16', ['b', 2, 't', 24])
    ]
    expect(inferOp(KIND, facts).map(dimsOf)).toEqual([['b', 8, 's', 24]])
  })
})
