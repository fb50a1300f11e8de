import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { InferenceSession } from '../../src/index.ts'
import { constantRows } from '../../src/plan/constant-rows.ts'
import { floats, int64s, type ModelParts, node, onnxBytes, onnxModel, port } from '../fixtures/onnx.ts'
import { noise } from '../wasm/compare.ts'
import { graphOf, opsOf, planOf } from './plan.ts'

const STACK = [3, 40, 48]
const elements = noise(STACK, 1).data

/** The weights of three experts, by raw bytes, or as a list of numbers. */
const stacked = (isRaw: boolean): object =>
  isRaw
    ? { name: 'stack', dims: STACK, dataType: 1, rawData: new Uint8Array(elements.slice().buffer) }
    : floats('stack', STACK, [...elements])

/** A product with one matrix of a constant. */
const expert = (index: number, isRaw = true, changes: Partial<ModelParts> = {}): ModelParts => ({
  inputs: [port('x', 'float', [5, 48])],
  outputs: [port('y', 'float')],
  initializers: [stacked(isRaw), int64s('index', [], [index])],
  nodes: [node('Gather', ['stack', 'index'], ['w']), node('Gemm', ['x', 'w'], ['y'], { transB: 1 })],
  ...changes
})

/** What the nodes give, and what they give where somebody sees each. */
async function both(parts: ModelParts): Promise<unknown[]> {
  const session = new InferenceSession(await onnxModel(parts), { precision: 'exact' })
  const feeds = { x: noise([5, 48], 7) }
  const { y } = await session.run(feeds)
  const { y: seen } = await session.run(feeds, { onStep: () => undefined })
  session.dispose()
  return [y, seen].map(tensor => tensor.data)
}

describe('a row of a constant is a constant', () => {
  test.each([
    ['of raw bytes', 1, true],
    ['of a list of numbers', 2, false],
    ['counted from the end', -1, true],
    ['counted from the end of a list', -3, false]
  ])('%s', async (_, index, isRaw) => {
    const parts = expert(index, isRaw)
    expect(opsOf(await planOf(parts))).toEqual(['Gemm'])
    const [y, seen] = await both(parts)
    expect(y).toEqual(seen)
  })

  test('of which nothing else is read', async () => {
    const graph = await graphOf(expert(2))
    expect(constantRows.run(graph)).toBe(true)
    const row = graph.constantOf('w')
    expect(row).toMatchObject({ dims: [40, 48], byteLength: 4 * 40 * 48, raw: { length: 4 * 40 * 48 } })
    expect('read' in row! && row.read().data).toEqual(elements.subarray(2 * 40 * 48))
  })

  test('behind axes of 1, for an index that is a list', async () => {
    const parts = expert(0, true, {
      initializers: [
        { name: 'stack', dims: [1, ...STACK], dataType: 1, rawData: new Uint8Array(elements.slice().buffer) },
        ...[int64s('index', [1], [1]), int64s('axes', [2], [0, 1])]
      ],
      nodes: [
        node('Gather', ['stack', 'index'], ['r'], { axis: 1 }),
        node('Squeeze', ['r', 'axes'], ['w']),
        node('Gemm', ['x', 'w'], ['y'], { transB: 1 })
      ]
    })
    expect(opsOf(await planOf(parts))).not.toContain('Gather')
    const [y, seen] = await both(parts)
    expect(y).toEqual(seen)
  })
})

/** Nodes that read a stack of three matrices, or what lies between two of them. */
const taking = (nodes: readonly object[], dims: readonly number[], bounds?: readonly number[]): ModelParts =>
  expert(0, true, {
    opset: 18,
    inputs: [port('x', 'float', dims)],
    initializers: [
      ...[stacked(true), int64s('axes', [1], [0])],
      ...(bounds ?? [0, 1, 1]).map((bound, i) => int64s(['from', 'to', 'steps'][i], [1], [bound]))
    ],
    nodes
  })
const ROWS = ['p', 'q', 'r']
const split = node('Split', ['stack'], ROWS, { axis: 0, num_outputs: 3 })
const slice = node('Slice', ['stack', 'from', 'to', 'axes', 'steps'], ['s'])
const add = node('Add', ['x', 's'], ['y'])
const products = [
  split,
  ...ROWS.flatMap(row => [
    node('Squeeze', [row, 'axes'], [`${row} matrix`]),
    node('MatMul', ['x', `${row} matrix`], [`${row} y`])
  ]),
  node('Sum', ['p y', 'q y', 'r y'], ['y'])
]

describe('rows of a constant that lie together are constants', () => {
  test.each<[string, ModelParts, number[]]>([
    ['which a Split makes', taking([split, node('Sum', ['x', ...ROWS], ['y'])], [1, 40, 48]), [1, 40, 48]],
    ['which a Squeeze makes matrices', taking(products, [5, 40]), [5, 40]],
    ['which a Slice takes', taking([slice, add], [2, 40, 48], [1, 9, 1]), [2, 40, 48]],
    ['which a Slice counts from the end', taking([slice, add], [1, 40, 48], [-2, -1, 1]), [1, 40, 48]],
    ['which a Slice takes from before the first', taking([slice, add], [2, 40, 48], [-9, 2, 1]), [2, 40, 48]]
  ])('%s', async (_, parts, dims) => {
    expect(opsOf(await planOf(parts)).filter(op => /Split|Slice|Squeeze/.test(op))).toEqual([])
    const session = new InferenceSession(await onnxModel(parts), { precision: 'exact' })
    const feeds = { x: noise(dims, 7) }
    const { y } = await session.run(feeds)
    const { y: seen } = await session.run(feeds, { onStep: () => undefined })
    session.dispose()
    expect(y.data).toEqual(seen.data)
  })

  test('of which nothing else is read', async () => {
    const graph = await graphOf(taking(products, [5, 40]))
    expect(constantRows.run(graph)).toBe(true)
    for (const [i, row] of ROWS.entries()) {
      const matrix = graph.constantOf(`${row} matrix`)
      expect(matrix).toMatchObject({ dims: [40, 48], raw: { length: 4 * 40 * 48 } })
      expect('read' in matrix! && matrix.read().data).toEqual(elements.subarray(i * 40 * 48, (i + 1) * 40 * 48))
    }
  })
})

test('rows that are put together in another order are one constant, not several', async () => {
  const nodes = [
    node('Slice', ['stack', 'from', 'to', 'axes'], ['first']),
    node('Slice', ['stack', 'to', 'end', 'axes'], ['others']),
    node('Concat', ['others', 'first'], ['w'], { axis: 0 }),
    node('MatMul', ['x', 'w'], ['y'])
  ]
  const parts = taking(nodes, [5, 40], [0, 1, 1])
  const all = { ...parts, initializers: [...parts.initializers!, int64s('end', [1], [3])] }
  expect(opsOf(await planOf(all))).toEqual(['MatMul'])
})

describe('rows are taken in each run', () => {
  test('where a Slice leaves some out between them', async () => {
    expect(opsOf(await planOf(taking([slice, add], [2, 40, 48], [0, 3, 2])))).toEqual(['Slice', 'Add'])
  })

  test('where many of them, which overlap, were larger than the constant', async () => {
    const bounds = [0, 1, 2].flatMap(i => [int64s(`${i}`, [1], [i]), int64s(`to ${i}`, [1], [3])])
    const slices = ['0', '1', '2'].map(i => node('Slice', ['stack', i, `to ${i}`, 'axes'], [`s${i}`]))
    const last = node('Slice', ['stack', 'from', 'to', 'axes'], ['s'])
    const rectified = ['s0', 's1', 's2', 's'].map(part => node('Relu', [part], [`${part} or 0`]))
    const joined = node('Concat', ['x', 's0 or 0', 's1 or 0', 's2 or 0', 's or 0'], ['y'], { axis: 0 })
    const parts = taking([...slices, last, ...rectified, joined], [1, 40, 48], [0, 2, 1])
    const all = { ...parts, initializers: [...parts.initializers!, ...bounds] }
    expect(opsOf(await planOf(all)).filter(op => op === 'Slice')).toHaveLength(1)
  })

  test('where they do not lie together', async () => {
    const parts = expert(1, true, {
      inputs: [port('x', 'float', [5, 40])],
      nodes: [node('Gather', ['stack', 'index'], ['w'], { axis: 2 }), node('Gemm', ['x', 'w'], ['y'], { transB: 1 })]
    })
    expect(opsOf(await planOf(parts))).toEqual(['Gather', 'Gemm'])
  })

  test('where the index is an input', async () => {
    const parts = expert(0)
    const asked = { ...parts, inputs: [...parts.inputs!, port('index', 'int64', [])], initializers: [stacked(true)] }
    expect(opsOf(await planOf(asked))).toEqual(['Gather', 'Gemm'])
  })

  test('where somebody sees them', async () => {
    expect(opsOf(await planOf(expert(1), { isObserved: true }))).toEqual(['Gather', 'Gemm'])
    const parts = expert(1, true, { outputs: [port('y', 'float'), port('w', 'float')] })
    expect(opsOf(await planOf(parts))).toEqual(['Gather', 'Gemm'])
  })
})

const folder = mkdtempSync(join(tmpdir(), 'nodewise-rows-'))
afterAll(() => rmSync(folder, { recursive: true }))

test.each([
  ['small', 48],
  ['large', 4800]
])('a %s row of a weights file that ends too early is refused', async (_, width) => {
  const dims = [3, 40, width]
  const entries = [
    { key: 'location', value: 'w.bin' },
    { key: 'length', value: `${3 * 40 * width * 4}` }
  ]
  const stack = { name: 'stack', dims, dataType: 1, dataLocation: 1, externalData: entries }
  const parts = expert(0, true, {
    inputs: [port('x', 'float', [5, width])],
    initializers: [stack, int64s('index', [], [0])]
  })
  // Two of three matrices, the one that is taken among them.
  writeFileSync(join(folder, 'w.bin'), new Uint8Array(2 * 40 * width * 4))
  writeFileSync(join(folder, 'model.onnx'), onnxBytes(parts))
  const session = await InferenceSession.create(join(folder, 'model.onnx'))
  const run = session.run({ x: noise([5, width], 7) })
  await expect(run).rejects.toMatchObject({ code: 'invalid-file', place: { value: 'stack' } })
  session.dispose()
})
