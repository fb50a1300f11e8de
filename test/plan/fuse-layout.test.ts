import { describe, expect, test } from 'vitest'
import { bind } from '../../src/bind/bind.ts'
import { registryWith } from '../../src/built-in.ts'
import { propagate } from '../../src/infer/propagate.ts'
import { planGraph } from '../../src/plan/plan.ts'
import { floats, int64s, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { layer, load, net } from '../openvino/ir.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

const [BATCH, HEADS, ROWS, KEYS, SIZE] = [2, 3, 20, 30, 16]
const FEEDS = { q: [BATCH, ROWS, HEADS, SIZE], k: [BATCH, KEYS, HEADS, SIZE], v: [BATCH, KEYS, HEADS, SIZE] }
const turned = (name: string, to: string, perm: readonly number[] = [0, 2, 1, 3]): object =>
  node('Transpose', [name], [to], { perm: [...perm] })
const softmax = (from: string, to: string): object => node('Softmax', [from], [to], { axis: -1 })

const model = (nodes: readonly object[], changes: Partial<ModelParts> = {}): ModelParts => ({
  inputs: Object.entries(FEEDS).map(([name, dims]) => port(name, 'float', dims)),
  outputs: [port('y', 'float')],
  initializers: [
    floats('mask', [1, 1, 1, KEYS], [...new Array<number>(KEYS).keys()]),
    floats('zero', [], [0]),
    floats('three', [1], [3]),
    int64s('mergedRows', [3], [BATCH * HEADS, ROWS, SIZE]),
    int64s('mergedKeys', [3], [BATCH * HEADS, KEYS, SIZE]),
    int64s('parted', [4], [BATCH, HEADS, ROWS, SIZE]),
    int64s('partedColumns', [4], [BATCH, HEADS, SIZE, KEYS]),
    int64s('swapped', [4], [HEADS, BATCH, ROWS, SIZE])
  ],
  nodes,
  ...changes
})

/** All four with heads before rows, keys in rows. */
const ALL = [
  ...[turned('q', 'qt'), turned('k', 'kt'), turned('v', 'vt'), turned('kt', 'kc', [0, 1, 3, 2])],
  ...[node('MatMul', ['qt', 'kc'], ['s']), softmax('s', 'w'), node('MatMul', ['w', 'vt'], ['o']), turned('o', 'y')]
]
/** Keys that one Transpose brings into columns, and a mask, as in BERT. */
const COLUMNS = [
  ...[turned('q', 'qt'), turned('k', 'kc', [0, 2, 3, 1]), turned('v', 'vt')],
  ...[node('MatMul', ['qt', 'kc'], ['s']), node('Add', ['s', 'mask'], ['m']), softmax('m', 'w')],
  ...[node('MatMul', ['w', 'vt'], ['o']), turned('o', 'y')]
]
/** Batches and heads as one axis, as in Whisper. */
const merged = (parted: string): readonly object[] => [
  ...[turned('q', 'qt'), turned('k', 'kt'), turned('v', 'vt')],
  ...[node('Reshape', ['qt', 'mergedRows'], ['q3']), node('Reshape', ['kt', 'mergedKeys'], ['k3'])],
  ...[node('Reshape', ['vt', 'mergedKeys'], ['v3']), turned('k3', 'kc', [0, 2, 1])],
  ...[node('MatMul', ['q3', 'kc'], ['s']), softmax('s', 'w'), node('MatMul', ['w', 'v3'], ['o'])],
  ...[node('Reshape', ['o', parted], ['p']), turned('p', 'y')]
]

describe('Transposes one after the other', () => {
  const of = (...orders: readonly (readonly number[])[]): ModelParts => ({
    inputs: [port('x', 'float', [2, 3, 4, 5])],
    outputs: [port('y', 'float')],
    nodes: orders.map((order, i) => turned(i === 0 ? 'x' : `t${i}`, i === orders.length - 1 ? 'y' : `t${i + 1}`, order))
  })

  test.each([
    ['are one', of([0, 2, 3, 1], [0, 1, 3, 2]), ['Transpose']],
    ['are one, also three', of([3, 0, 1, 2], [1, 0, 3, 2], [0, 1, 3, 2]), ['Transpose']],
    ['are none where axes come back', of([0, 2, 3, 1], [0, 3, 1, 2]), ['Identity']],
    [
      'are one each where both results are wanted',
      { ...of([0, 2, 3, 1], [1, 0, 2, 3]), outputs: [port('y', 'float'), port('t1', 'float')] },
      ['Transpose', 'Transpose']
    ],
    [
      'stay where one reverses all axes',
      { ...of([]), nodes: [turned('x', 't', [0, 2, 3, 1]), node('Transpose', ['t'], ['y'])] },
      ['Transpose', 'Transpose']
    ]
  ])('%s', async (_, parts, ops) => {
    expect(opsOf(await planOf(parts, { isExact: true }))).toEqual(ops)
    expect(await differenceBetween(parts, { x: [2, 3, 4, 5] })).toBe(0)
  })
})

/** Rows and columns swapped while batches and heads are one axis, as PyTorch's newer exporter swaps keys. */
const swappedMerged = (from: string, to: string, [merged, parted]: readonly [string, string]): readonly object[] => [
  ...[node('Reshape', [from, merged], ['m3']), turned('m3', 'c3', [0, 2, 1])],
  node('Reshape', ['c3', parted], [to])
]

describe('rows and columns that a Transpose swaps between Reshapes', () => {
  const of = (merged: readonly number[], parted: readonly number[], wanted = ['y']): ModelParts => ({
    inputs: [port('x', 'float', [2, 3, 4, 5])],
    outputs: wanted.map(name => port(name, 'float')),
    initializers: [int64s('merged', [merged.length], merged), int64s('parted', [parted.length], parted)],
    nodes: swappedMerged('x', 'y', ['merged', 'parted'])
  })

  test.each([
    ['are swapped without them', of([-1, 4, 5], [2, 3, 5, 4]), ['Transpose']],
    ['stay where batches are parted in another order', of([-1, 4, 5], [3, 2, 5, 4]), 3],
    ['stay where columns are merged', of([6, 5, 4], [2, 3, 4, 5]), 3],
    ['stay where others read what is swapped', of([-1, 4, 5], [2, 3, 5, 4], ['y', 'c3']), 3]
  ])('%s', async (_, parts, ops) => {
    const planned = opsOf(await planOf(parts, { isExact: true }))
    expect(typeof ops === 'number' ? planned.length : planned).toEqual(ops)
    expect(await differenceBetween(parts, { x: [2, 3, 4, 5] })).toBe(0)
  })

  test('are swapped without them where dims are known only by name', async () => {
    const parts: ModelParts = {
      inputs: [port('x', 'float', ['batch', 3, 'rows', 5])],
      outputs: [port('y', 'float')],
      initializers: [int64s('any', [1], [-1])],
      nodes: [
        node('Shape', ['x'], ['leading'], { end: 2 }),
        ...[node('Shape', ['x'], ['rows'], { start: 2, end: 3 }), node('Shape', ['x'], ['columns'], { start: 3 })],
        node('Concat', ['any', 'rows', 'columns'], ['merged'], { axis: 0 }),
        node('Concat', ['leading', 'columns', 'rows'], ['parted'], { axis: 0 }),
        ...swappedMerged('x', 'y', ['merged', 'parted'])
      ]
    }
    expect(opsOf(await planOf(parts))).toEqual(['Transpose'])
    expect(await differenceBetween(parts, { x: [2, 3, 4, 5] })).toBe(0)
  })
})

describe('heads behind rows', () => {
  test.each([
    ['keys in rows', ALL],
    ['keys in columns, and a mask', COLUMNS],
    [
      'keys whose columns are swapped as those of one batch',
      [...ALL.slice(0, 3), ...swappedMerged('kt', 'kc', ['mergedKeys', 'partedColumns']), ...ALL.slice(4)]
    ],
    ['queries that are scaled first', [node('Mul', ['q', 'three'], ['q2']), turned('q2', 'qt'), ...ALL.slice(1)]],
    ['batches and heads as one axis', merged('parted')]
  ])('are read and written where they lie by attention: %s', async (_, nodes) => {
    const { steps } = await planOf(model(nodes))
    expect(steps.map(({ call }) => call.op.name)).toEqual(['ScaledDotProductAttention'])
    expect(steps[0].call.known).toMatchObject({
      keysInColumns: false,
      rowsFirst: { query: true, key: true, value: true, result: true }
    })
    expect(steps[0].nodes).toHaveLength(nodes.length)
    expect(await differenceBetween(model(nodes), FEEDS, 2)).toBeLessThan(3e-6)
  })

  test('are read and written where they lie where a mask of one 0 stands for none, but no other', async () => {
    const masked = (mask: string): readonly object[] => {
      const nodes = merged('parted').map(part =>
        (part as { opType: string }).opType === 'Softmax' ? softmax('m', 'w') : part
      )
      return nodes.toSpliced(nodes.length - 4, 0, node('Add', ['s', mask], ['m']))
    }
    for (const [mask, count] of [
      ['zero', 1],
      ['three', 9]
    ] as const) {
      const parts = model(masked(mask))
      expect(opsOf(await planOf(parts))).toHaveLength(count)
      expect(await differenceBetween(parts, FEEDS, 2)).toBeLessThan(3e-6)
    }
  })

  test('keep the scale that OpenVINO gives beside a mask of one 0', async () => {
    const attention = { data: 'causal="false"', version: 'opset13' }
    const layers = [
      layer(0, 'Parameter', { data: 'shape="1,2,6,8" element_type="f32"', out: ['0:FP32[1,2,6,8]'], names: 'x' }),
      ...[0, 4].map((offset, i) =>
        layer(i + 1, 'Const', { data: `element_type="f32" shape="" offset="${offset}" size="4"`, out: ['0:FP32'] })
      ),
      layer(3, 'ScaledDotProductAttention', { ...attention, in: ['0', '1', '2', '3', '4'], out: ['5:FP32[1,2,6,8]'] }),
      layer(4, 'Result', { in: ['0'] })
    ]
    const constants = new Uint8Array(Float32Array.of(0, 0.5).buffer)
    const model = load(net(layers, ['0:0>3:0', '0:0>3:1', '0:0>3:2', '1:0>3:3', '2:0>3:4', '3:5>4:0']), constants)
    const result = propagate(bind(model, registryWith()))
    const [{ call }] = planGraph(
      result,
      result.bound.graph.outputs.map(({ value }) => value)
    ).steps
    expect([call.inputs, call.known.scale]).toEqual([
      expect.toSatisfy(inputs => inputs.slice(3).every((id: unknown) => id === undefined)),
      0.5
    ])
  })

  test('are read by rotary positions', async () => {
    const nodes = [
      ...[turned('q', 'x'), node('Split', ['x', 'halves'], ['low', 'high'], { axis: -1 })],
      ...[node('Neg', ['high'], ['n']), node('Concat', ['n', 'low'], ['t'], { axis: -1 })],
      ...[node('Mul', ['x', 'cos'], ['a']), node('Mul', ['t', 'sin'], ['b']), node('Add', ['a', 'b'], ['y'])]
    ]
    const feeds = { q: FEEDS.q, cos: [ROWS, SIZE], sin: [ROWS, SIZE] }
    const parts = model(nodes, {
      inputs: Object.entries(feeds).map(([name, dims]) => port(name, 'float', dims)),
      initializers: [int64s('halves', [2], [SIZE / 2, SIZE / 2])]
    })
    const { steps } = await planOf(parts)
    expect(steps.map(({ call }) => [call.op.name, call.known.rowsFirst])).toEqual([['Rotation', true]])
    expect(await differenceBetween(parts, feeds, 2)).toBeLessThan(1e-6)
  })

  test.each([
    ['a result that others read before it is turned', ALL, ['y', 'o'], ['ScaledDotProductAttention', 'Transpose']],
    ['keys that others read after they are turned', ALL, ['y', 'kt'], ['Transpose', 'ScaledDotProductAttention']],
    [
      'axes that are parted in another order',
      merged('swapped'),
      ['y'],
      [
        'Transpose',
        'Reshape',
        'Transpose',
        'Reshape',
        'Transpose',
        'Reshape',
        'ScaledDotProductAttention',
        'Reshape',
        'Transpose'
      ]
    ]
  ])('stay turned where that is seen: %s', async (_, nodes, outputs, ops) => {
    const parts = model(nodes, { outputs: outputs.map(name => port(name, 'float')) })
    expect(opsOf(await planOf(parts)).toSorted()).toEqual([...ops].toSorted())
    expect(await differenceBetween(parts, FEEDS, 2)).toBeLessThan(3e-6)
  })

  test('stay turned where they are columns of keys', async () => {
    const k = [BATCH, SIZE, HEADS, KEYS]
    const nodes = [turned('q', 'qt'), turned('k', 'kc'), turned('v', 'vt'), ...ALL.slice(4)]
    const inputs = Object.entries({ ...FEEDS, k }).map(([name, dims]) => port(name, 'float', dims))
    const parts = model(nodes, { inputs })
    expect(opsOf(await planOf(parts))).toEqual(['Transpose', 'ScaledDotProductAttention'])
    expect(await differenceBetween(parts, { ...FEEDS, k }, 2)).toBeLessThan(3e-6)
  })

  test('stay turned where another order of axes is meant', async () => {
    const inputs = [port('q', 'float', [ROWS, HEADS, BATCH, SIZE]), ...model([]).inputs!.slice(1)]
    const nodes = [turned('q', 'qt', [2, 1, 0, 3]), ...ALL.slice(1)]
    const parts = model(nodes, { inputs })
    expect(opsOf(await planOf(parts))).toEqual(['Transpose', 'ScaledDotProductAttention'])
    expect(await differenceBetween(parts, { ...FEEDS, q: [ROWS, HEADS, BATCH, SIZE] }, 2)).toBeLessThan(3e-6)
  })
})
