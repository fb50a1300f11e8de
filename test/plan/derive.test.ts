import { describe, expect, test } from 'vitest'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { floats, type GraphParts, int64s, type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { differenceOf, noise } from '../wasm/compare.ts'

const constant = (name: string, dims: readonly number[], seed: number, scale = 1, from = 0): object =>
  floats(
    name,
    dims,
    Array.from(noise(dims, seed, scale).data, value => from + value)
  )
const X = [5, 60]
const weights = [constant('w', [60, 80], 1), int64s('zero', [], [0])]
const branch = (nodes: readonly object[]): { graph: GraphParts } => ({
  graph: { nodes, outputs: [port('y', 'float')] }
})

/** The largest difference between what a model gives for integers in turn, and where somebody sees each node. */
async function differenceInTurn(parts: Omit<ModelParts, 'outputs'>, integers: readonly number[]): Promise<number> {
  const session = new InferenceSession(await onnxModel({ opset: 15, ...parts, outputs: [port('y', 'float')] }))
  let most = 0
  for (const integer of integers) {
    const feeds = { x: noise(X, 9), which: new Tensor('int64', [BigInt(integer)], []) }
    const { y } = await session.run(feeds)
    const { y: seen } = await session.run(feeds, { onStep: () => undefined })
    most = Math.max(most, differenceOf(y, seen))
  }
  session.dispose()
  return most
}

const inputs = [port('x', 'float', X), port('which', 'int64', [])]

/**
 * The first branch where an integer is zero, the second where not, each in the place of the If in a plan of its own.
 * @returns the largest difference to what the branches give where somebody sees each node
 */
const differenceOfBranches = (
  initializers: readonly object[],
  first: readonly object[],
  second: readonly object[]
): Promise<number> =>
  differenceInTurn(
    {
      inputs,
      initializers: [...weights, ...initializers],
      nodes: [
        node('Equal', ['which', 'zero'], ['is zero']),
        node('If', ['is zero'], ['y'], { then_branch: branch(first), else_branch: branch(second) })
      ]
    },
    [0, 1, 0, 1]
  )

describe('branches that make values of one name of the same weights give each its own', () => {
  test('normalized by other statistics', async () => {
    const statistics = (of: string, seed: number): object[] => [
      ...['scale', 'shift', 'mean'].map((name, i) => constant(`${name} ${of}`, [80], seed + i)),
      constant(`variance ${of}`, [80], seed + 3, 0.25, 1)
    ]
    const normalized = (of: string): object[] => [
      node('MatMul', ['x', 'w'], ['product']),
      node('BatchNormalization', ['product', `scale ${of}`, `shift ${of}`, `mean ${of}`, `variance ${of}`], ['y'])
    ]
    const given = [...statistics('a', 20), ...statistics('b', 30)]
    expect(await differenceOfBranches(given, normalized('a'), normalized('b'))).toBeLessThan(1e-5)
  })

  test('normalized to another bias', async () => {
    const statistics = [
      ...['scale', 'shift', 'mean'].map((name, i) => constant(name, [80], 20 + i)),
      constant('variance', [80], 23, 0.25, 1),
      ...[constant('bias a', [80], 24), constant('bias b', [80], 25)]
    ]
    const normalized = (bias: string): object[] => [
      node('Gemm', ['x', 'w', bias], ['product']),
      node('BatchNormalization', ['product', 'scale', 'shift', 'mean', 'variance'], ['y'])
    ]
    expect(await differenceOfBranches(statistics, normalized('bias a'), normalized('bias b'))).toBeLessThan(1e-5)
  })

  test('computed by other nodes', async () => {
    const product = (type: string): object[] => [
      node(type, ['w', 'factors'], ['made']),
      node('MatMul', ['x', 'made'], ['y'])
    ]
    expect(await differenceOfBranches([constant('factors', [80], 20)], product('Mul'), product('Add'))).toBeLessThan(
      1e-5
    )
  })

  test('computed of other constants', async () => {
    const product = (factors: string): object[] => [
      node('Mul', ['w', factors], ['made']),
      node('MatMul', ['x', 'made'], ['y'])
    ]
    const given = [constant('a', [80], 20), constant('b', [80], 21)]
    expect(await differenceOfBranches(given, product('a'), product('b'))).toBeLessThan(1e-5)
  })
})

/** Runs where an integer below 20 tells which row is taken of a table. */
const differenceOfRows = (initializers: readonly object[], nodes: readonly object[]): Promise<number> =>
  differenceInTurn(
    {
      inputs,
      initializers: [...weights, ...initializers, int64s('twenty', [], [20]), int64s('front', [1], [0])],
      nodes: [
        node('Unsqueeze', ['which', 'front'], ['index']),
        node('Gather', ['table', 'index'], ['row']),
        ...nodes,
        node('Less', ['which', 'twenty'], ['is row']),
        node('If', ['is row'], ['y'], {
          then_branch: { graph: { nodes: [], outputs: [port('made', 'float')] } },
          else_branch: { graph: { nodes: [], outputs: [port('x', 'float')] } }
        })
      ]
    },
    [5, 7, 3, 5]
  )

describe('a row of a table that an input of the run decides', () => {
  test('is part of the weights of that run alone', async () => {
    const table = constant('table', [20, 80], 20)
    const nodes = [node('Add', ['w', 'row'], ['sums']), node('MatMul', ['x', 'sums'], ['made'])]
    expect(await differenceOfRows([table], nodes)).toBeLessThan(1e-5)
  })

  test('normalizes that run alone', async () => {
    const statistics = [
      ...['shift', 'mean'].map((name, i) => constant(name, [80], 20 + i)),
      constant('variance', [80], 23, 0.25, 1)
    ]
    const nodes = [
      node('Squeeze', ['row', 'front'], ['scale']),
      node('MatMul', ['x', 'w'], ['product']),
      node('BatchNormalization', ['product', 'scale', 'shift', 'mean', 'variance'], ['made'])
    ]
    expect(await differenceOfRows([constant('table', [20, 80], 24), ...statistics], nodes)).toBeLessThan(1e-5)
  })
})
