import { describe, expect, test } from 'vitest'
import { floats, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { bools } from '../ops/model.ts'
import { noise } from '../wasm/compare.ts'
import { list, longs, outputOf, someRows, table, WIDTH } from './bags.ts'
import { opsOf, planOf } from './plan.ts'

const reduced = (name: string, attributes = {}): object =>
  node(name, ['rows'], ['reduced'], { axes: [0], keepdims: 0, ...attributes })

/** The body of the loop by what its nodes make, in their order. */
const BODY = {
  from: [node('Gather', ['offsets', 'i'], ['from'])],
  to: [node('Gather', ['ends', 'i'], ['to'])],
  start: [node('Unsqueeze', ['from', 'zero'], ['start'])],
  end: [node('Unsqueeze', ['to', 'zero'], ['end'])],
  bag: [node('Slice', ['indices', 'start', 'end', 'zero'], ['bag'])],
  rows: [node('Gather', ['table', 'bag'], ['rows'])],
  reduced: [node('ReduceSum', ['rows', 'zero'], ['reduced'], { keepdims: 0 })],
  goesOn: [node('Cast', ['yes'], ['goesOn'], { to: 9 })]
}

interface Changes {
  readonly opset?: number
  /** Parts of the body in place of those of these names. */
  readonly body?: Partial<Record<keyof typeof BODY, readonly object[]>>
  /** Inputs of the loop. */
  readonly loop?: readonly string[]
  readonly table?: object
  readonly inputs?: readonly object[]
  /** Dims of the indices. */
  readonly indices?: readonly (number | string)[]
}

/** EmbeddingBag as the older exporter of PyTorch writes it. */
const model = (changes: Changes = {}): ModelParts => ({
  opset: changes.opset ?? 17,
  inputs: [
    port('indices', 'int64', changes.indices ?? ['n']),
    port('begins', 'int64', ['b']),
    ...(changes.inputs ?? [])
  ],
  outputs: [port('y', 'float')],
  initializers: [
    changes.table ?? table,
    list('zero', 0),
    list('one', 1),
    list('two', 2),
    list('far', 2 ** 53),
    bools('yes', [], [1]),
    bools('no', [], [0])
  ],
  nodes: [
    node('Shape', ['indices'], ['size']),
    node('Concat', ['begins', 'size'], ['offsets'], { axis: 0 }),
    node('Slice', ['offsets', 'one', 'far', 'zero', 'one'], ['ends']),
    node('Shape', ['ends'], ['count']),
    node('Squeeze', ['count', 'zero'], ['trip']),
    node('Squeeze', ['size', 'zero'], ['all']),
    node('Loop', changes.loop ?? ['trip', 'yes'], ['y'], {
      body: {
        graph: {
          inputs: [port('i', 'int64', []), port('goes', 'bool', [])],
          outputs: [port('goesOn', 'bool', []), port('reduced', 'float')],
          nodes: Object.values({ ...BODY, ...changes.body }).flat()
        }
      }
    })
  ]
})

const weights = [port('weights', 'float', ['n'])]
const weighted = (a: string, b: string): readonly object[] => [
  node('Gather', ['table', 'bag'], ['gathered']),
  node('Slice', ['weights', 'start', 'end', 'zero'], ['part']),
  node('Unsqueeze', ['part', 'one'], ['column']),
  node('Mul', [a, b], ['rows'])
]

const fused = async (changes: Changes): Promise<boolean> => {
  const ops = opsOf(await planOf(model(changes)))
  expect(ops.includes('Loop')).toBe(!ops.includes('GatherBags'))
  return ops.includes('GatherBags')
}

describe('a Loop over bags', () => {
  test.each<[string, Changes]>([
    ['sums', {}],
    ['means', { body: { reduced: [reduced('ReduceMean')] } }],
    ['the highest elements', { body: { reduced: [reduced('ReduceMax')] } }],
    [
      'means, by an input',
      { opset: 18, body: { reduced: [node('ReduceMean', ['rows', 'zero'], ['reduced'], { keepdims: 0 })] } }
    ],
    ['weighted sums', { inputs: weights, body: { rows: weighted('gathered', 'column') } }],
    ['weighted sums, the weights first', { inputs: weights, body: { rows: weighted('column', 'gathered') } }],
    ['sums, with a condition that is handed on', { body: { goesOn: [node('Identity', ['goes'], ['goesOn'])] } }],
    ['sums, without a condition', { loop: ['trip', ''] }],
    [
      'sums, with copies',
      { body: { rows: [node('Gather', ['table', 'bag'], ['r']), node('Identity', ['r'], ['rows'])] } }
    ]
  ])('of %s is one call, which gives the same', async (_, changes) => {
    expect(await fused(changes)).toBe(true)
    for (const begins of [
      [0, 3, 3, 10, 59],
      [0],
      [],
      [5, 2, 40],
      [-10, 4, 70, -3],
      Array.from({ length: 60 }, (__, i) => i)
    ]) {
      const feeds = {
        indices: someRows(60),
        begins: longs(...begins),
        ...(changes.inputs && { weights: noise([60], 3) })
      }
      const [fast, exact] = [
        await outputOf(model(changes), feeds, 'fast'),
        await outputOf(model(changes), feeds, 'exact')
      ]
      expect(fast.dims).toEqual([begins.length, WIDTH])
      exact.numbers.forEach((number, i) => expect(fast.numbers[i]).toBeCloseTo(number, 5))
      expect(exact.numbers).toHaveLength(fast.numbers.length)
    }
  })

  test('whose table is no constant gives the same', async () => {
    const parts = { ...model(), initializers: model().initializers!.slice(1) }
    const given = { ...parts, inputs: [...parts.inputs!, port('table', 'float', ['r', WIDTH])] }
    expect(opsOf(await planOf(given))).toContain('GatherBags')
    for (const rows of [40, 4000]) {
      const feeds = { indices: someRows(60), begins: longs(0, 7, 7, 30), table: noise([rows, WIDTH], 1) }
      const [fast, exact] = [await outputOf(given, feeds, 'fast'), await outputOf(given, feeds, 'exact')]
      exact.numbers.forEach((number, i) => expect(fast.numbers[i]).toBeCloseTo(number, 5))
      expect(fast.dims).toEqual(exact.dims)
    }
  })

  test.each<[string, Changes]>([
    ['sums', {}],
    ['means', { body: { reduced: [reduced('ReduceMean')] } }],
    ['the highest elements', { body: { reduced: [reduced('ReduceMax')] } }],
    ['weighted sums', { inputs: weights, body: { rows: weighted('gathered', 'column') } }]
  ])('reads zeros for %s of indices that are out of range, where it is to', async (_, changes) => {
    const feeds = {
      indices: longs(...Array.from({ length: 60 }, (__, i) => (i % 7 === 0 ? 40 + i : i - 41))),
      begins: longs(0, 1, 9),
      ...(changes.inputs && { weights: noise([60], 3) })
    }
    const [fast, exact] = await Promise.all(
      (['fast', 'exact'] as const).map(precision => outputOf(model(changes), feeds, precision, { outOfRange: 'zero' }))
    )
    exact.numbers.forEach((number, i) => expect(fast.numbers[i]).toBeCloseTo(number, 5))
  })

  test('names an index that is out of range, and its position', async () => {
    await expect(outputOf(model(), { indices: longs(1, 2, 40), begins: longs(0, 1) }, 'fast')).rejects.toMatchObject({
      code: 'index-out-of-range',
      message: expect.stringContaining('index 40 at [2] is out of range for axis 0 of size 40') as string
    })
  })

  test.each<[string, Changes]>([
    [
      'rows that keep the axis',
      { body: { reduced: [node('ReduceSum', ['rows', 'zero'], ['reduced'], { keepdims: 1 })] } }
    ],
    [
      'rows that are reduced along another axis',
      { body: { reduced: [node('ReduceSum', ['rows', 'one'], ['reduced'], { keepdims: 0 })] } }
    ],
    ['products', { body: { reduced: [reduced('ReduceProd')] } }],
    ['rows along another axis', { body: { rows: [node('Gather', ['table', 'bag'], ['rows'], { axis: 1 })] } }],
    [
      'bags that begin one earlier',
      {
        body: {
          from: [node('Sub', ['i', 'first'], ['j']), node('Gather', ['offsets', 'j'], ['from'])],
          to: [node('Gather', ['ends', 'i'], ['to'])]
        },
        inputs: [port('first', 'int64', [])]
      }
    ],
    [
      'bags of every other index',
      { body: { bag: [node('Slice', ['indices', 'start', 'end', 'zero', 'two'], ['bag'])] } }
    ],
    [
      'a condition that is computed',
      { body: { goesOn: [node('Less', ['i', 'most'], ['goesOn'])] }, inputs: [port('most', 'int64', [])] }
    ],
    ['a condition that may be false', { loop: ['trip', 'may'], inputs: [port('may', 'bool', [])] }],
    [
      'a condition that is false from the second run on',
      { body: { goesOn: [node('Cast', ['no'], ['goesOn'], { to: 9 })] } }
    ],
    ['a run for each index', { loop: ['all', 'yes'] }],
    ['indices of two axes', { indices: ['n', 2] }],
    [
      'weights of rows of two axes',
      {
        inputs: weights,
        table: floats('table', [2, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]),
        body: { rows: weighted('gathered', 'column') }
      }
    ],
    [
      'another list than that of the run',
      { body: { from: [node('Gather', ['offsets', 'first'], ['from'])] }, inputs: [port('first', 'int64', [])] }
    ],
    ['another number of runs', { loop: ['times', 'yes'], inputs: [port('times', 'int64', [])] }],
    ['a table of another type', { table: { name: 'table', dims: [2, 2], dataType: 11, doubleData: [1, 2, 3, 4] } }],
    [
      'weights of other bags',
      {
        inputs: weights,
        body: {
          rows: [
            ...weighted('gathered', 'column').toSpliced(
              1,
              1,
              node('Slice', ['weights', 'start', 'far', 'zero'], ['part'])
            )
          ]
        }
      }
    ],
    [
      'weights that may be of another number',
      { inputs: [port('weights', 'float', ['m'])], body: { rows: weighted('gathered', 'column') } }
    ],
    [
      'means of weighted rows',
      { inputs: weights, body: { rows: weighted('gathered', 'column'), reduced: [reduced('ReduceMean')] } }
    ]
  ])('stays a Loop with %s', async (_, changes) => {
    expect(await fused(changes)).toBe(false)
  })

  test('stays a Loop where values are observed, and in exact precision', async () => {
    expect(opsOf(await planOf(model(), { isObserved: true }))).toContain('Loop')
    expect(opsOf(await planOf(model(), { isExact: true }))).toContain('Loop')
  })
})
