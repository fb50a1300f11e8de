import { describe, expect, test } from 'vitest'
import { floats, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { noise } from '../wasm/compare.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

/** More elements than inference computes beforehand. */
const [WORDS, SIZE] = [300, 64]
const DIMS = { x: [2, 3, SIZE] }

/** Products of `x` by a table and by what a Transpose makes of it. */
const model = (nodes: readonly object[], outputs = ['y']): ModelParts => ({
  inputs: [port('x', 'float', DIMS.x)],
  outputs: outputs.map(name => port(name, 'float')),
  initializers: [
    floats('table', [WORDS, SIZE], [...noise([WORDS, SIZE], 3).data]),
    floats('tables', [2, WORDS, SIZE], [...noise([2, WORDS, SIZE], 4).data]),
    floats('bias', [WORDS], [...noise([WORDS], 5).data])
  ],
  nodes
})
const turn = (from: string, to: string, perm: readonly number[]): object =>
  node('Transpose', [from], [to], { perm: [...perm] })
const TURN = turn('table', 't', [1, 0])

describe('weights that a Transpose turns', () => {
  test.each([
    ['for a product', [TURN, node('MatMul', ['x', 't'], ['y'])], ['MatMul']],
    [
      'for a product with a bias',
      [TURN, node('MatMul', ['x', 't'], ['s']), node('Add', ['s', 'bias'], ['y'])],
      ['FusedMatMul']
    ],
    [
      'for a product of rows that are looked up in them',
      [
        TURN,
        node('ArgMax', ['x'], ['i'], { axis: -1, keepdims: 0 }),
        ...[node('Gather', ['table', 'i'], ['g']), node('MatMul', ['g', 't'], ['y'])]
      ],
      ['ArgMax', 'Gather', 'MatMul']
    ],
    [
      'for two products, one of which reads the other',
      [
        ...[TURN, node('MatMul', ['x', 't'], ['s']), node('MatMul', ['s', 'table'], ['u'])],
        node('MatMul', ['u', 't'], ['y'])
      ],
      ['MatMul', 'MatMul', 'MatMul']
    ]
  ])('are not turned %s', async (_, nodes, ops) => {
    const plan = await planOf(model(nodes))
    expect(opsOf(plan)).toEqual(ops)
    expect(plan.steps.at(-1)!.call.known.transposeB).toBe(true)
    expect(await differenceBetween(model(nodes), DIMS)).toBeLessThan(3e-6)
  })

  test.each([
    ['several matrices', [turn('tables', 't', [0, 2, 1]), node('MatMul', ['x', 't'], ['y'])], ['y']],
    ['what is seen', [TURN, node('MatMul', ['x', 't'], ['y'])], ['y', 't']]
  ])('stay turned where they are %s', async (_, nodes, outputs) => {
    const parts = model(nodes, outputs)
    expect(opsOf(await planOf(parts))).toContain('Transpose')
    expect(await differenceBetween(parts, DIMS)).toBeLessThan(3e-6)
  })

  test('stay turned in exact precision', async () => {
    const parts = model([TURN, node('MatMul', ['x', 't'], ['y'])])
    expect(opsOf(await planOf(parts, { isExact: true }))).toEqual(['Transpose', 'MatMul'])
  })
})
