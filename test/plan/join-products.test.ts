import { describe, expect, test } from 'vitest'
import { InferenceSession } from '../../src/index.ts'
import { floats, type ModelParts, node, onnxModel, port } from '../fixtures/onnx.ts'
import { differenceOf, noise } from '../wasm/compare.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const DEPTH = 128
/** Columns of each factor. */
const COLUMNS = { q: 128, k: 16, v: 136, odd: 12, narrow: 128, narrower: 136 }

/** Numbers that float16 has, too, in some of the factors. */
const factor = (name: keyof typeof COLUMNS, seed: number): object => {
  const dims = [DEPTH, COLUMNS[name]]
  const values = [...noise(dims, seed).data]
  return floats(name, dims, name.startsWith('narrow') ? values.map(value => Math.round(value * 64) / 64) : values)
}

const model = (
  nodes: readonly object[],
  outputs: readonly string[],
  changes: Partial<ModelParts> = {}
): ModelParts => ({
  inputs: [port('x', 'float', ['batch', 'rows', DEPTH])],
  outputs: outputs.map(name => port(name, 'float')),
  initializers: (Object.keys(COLUMNS) as (keyof typeof COLUMNS)[]).map(factor),
  nodes,
  ...changes
})

/** Products of x by some of the factors. */
const products = (...names: readonly (keyof typeof COLUMNS)[]): ModelParts =>
  model(
    names.map((name, i) => node('MatMul', ['x', name], [`y${i}`])),
    names.map((_, i) => `y${i}`)
  )

describe('products of one value by constants', () => {
  test.each([
    ['three', products('q', 'k', 'v')],
    ['two', products('k', 'q')],
    ['of numbers of 16 bits', products('narrow', 'narrower')],
    ['some of 16 bits', products('narrow', 'v')]
  ])('are one call: %s', async (_, parts) => {
    const { steps } = await planOf(parts)
    expect(steps.map(({ call }) => call.op.name)).toEqual(['JoinedMatMul'])
    expect(steps[0].nodes).toHaveLength(parts.nodes.length)
    for (const dims of [
      [1, 1, DEPTH],
      [1, 3, DEPTH],
      [2, 5, DEPTH]
    ])
      expect(await differenceBetween(parts, { x: dims })).toBeLessThan(2e-5)
  })

  test('are computed where memory does not suffice for panels', async () => {
    const parts = products('q', 'k', 'v')
    const x = noise([1, 1, DEPTH], 3)
    const bytes = 4 * DEPTH * (COLUMNS.q + COLUMNS.k + COLUMNS.v)
    const results = []
    for (const maxMemory of [2 ** 30, bytes + 2 ** 14]) {
      const session = new InferenceSession(await onnxModel(parts), { maxMemory })
      results.push(await session.run({ x }))
      session.dispose()
    }
    for (const name of ['y0', 'y1', 'y2']) expect(differenceOf(results[0][name], results[1][name])).toBeLessThan(1e-5)
  })

  test('stay apart in threes, where columns are no whole panels, and where factors or operands differ', async () => {
    expect(opsOf(await planOf(products('q', 'k', 'v', 'narrow')))).toEqual(['JoinedMatMul', 'MatMul'])
    expect(opsOf(await planOf(products('q', 'odd')))).toEqual(['MatMul', 'MatMul'])
    const turned = [node('Neg', ['x'], ['z']), node('MatMul', ['x', 'q'], ['a']), node('MatMul', ['z', 'k'], ['b'])]
    expect(opsOf(await planOf(model(turned, ['a', 'b'])))).toEqual(['Neg', 'MatMul', 'MatMul'])
    const inputs = [port('x', 'float', [1, 1, DEPTH]), port('w', 'float', [DEPTH, 8])]
    const given = [node('MatMul', ['x', 'w'], ['a']), node('MatMul', ['x', 'q'], ['b'])]
    expect(opsOf(await planOf(model(given, ['a', 'b'], { inputs })))).toEqual(['MatMul', 'MatMul'])
  })

  test('are the nodes of the file in exact precision and where somebody watches', async () => {
    for (const options of [{ isExact: true }, { isObserved: true }])
      expect(opsOf(await planOf(products('q', 'k'), options))).toEqual(['MatMul', 'MatMul'])
  })
})
