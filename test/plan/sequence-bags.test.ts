import { describe, expect, test } from 'vitest'
import { floats, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { list, longs, outputOf, scalar, someRows, table, WIDTH, withInput } from './bags.ts'
import { opsOf, planOf } from './plan.ts'

const branch = (output: string, ...nodes: readonly object[]) => ({
  graph: { outputs: [port(output, 'float')], nodes }
})
/** A branch that gives rows of one number. */
const row = (number: number, count: number) => ({
  graph: {
    outputs: [port('nothing', 'float')],
    nodes: [],
    initializers: [floats('nothing', [count, WIDTH], new Array<number>(count * WIDTH).fill(number))]
  }
})
const choice = (condition: string, output: string, then: object, otherwise: object): object =>
  node('If', [condition], [output], { then_branch: then as never, else_branch: otherwise as never })

/** Rows of a bag, to its end or to another one. */
const slice = (output: string, end = 'end'): object => node('Slice', ['weighted', 'start', end], [output])
const reduce = (name: string, of: string, output: string, keepdims = 1): object =>
  node(name, [of, 'zeros'], [output], { keepdims })
const last = [node('Sub', ['count', 'one'], ['final']), node('Equal', ['i', 'final'], ['isLast'])]

const REDUCTIONS = {
  sum: [slice('rows'), reduce('ReduceSum', 'rows', 'reduced')],
  mean: [
    slice('rows'),
    ...last,
    choice(
      'isLast',
      'reduced',
      branch(
        'ofLast',
        reduce('ReduceSum', 'rows', 'total'),
        node('Shape', ['indices'], ['all'], { start: 0, end: 1 }),
        node('Sub', ['all', 'start'], ['number']),
        node('CastLike', ['zero', 'number'], ['none']),
        node('Greater', ['number', 'none'], ['isSome']),
        choice(
          'isSome',
          'ofLast',
          branch(
            'quotient',
            node('Cast', ['number'], ['divisor'], { to: 1 }),
            node('Div', ['total', 'divisor'], ['quotient'])
          ),
          branch('same', node('Identity', ['total'], ['same']))
        )
      ),
      branch('ofOther', reduce('ReduceMean', 'rows', 'ofOther'))
    )
  ],
  max: [
    ...last,
    choice('isLast', 'rows', branch('ofLast', slice('ofLast', 'size')), branch('ofOther', slice('ofOther'))),
    reduce('ReduceMax', 'rows', 'reduced')
  ]
} as const

interface Changes {
  readonly reduction?: readonly object[]
  readonly empty?: object
  readonly positions?: readonly [from: string, to: string]
  readonly first?: string
  readonly step?: string
  readonly more?: string
  readonly axis?: number
  readonly end?: readonly object[]
}

/** EmbeddingBag as the newer exporter of PyTorch writes it. */
const model = ({ reduction = REDUCTIONS.sum, ...changes }: Changes = {}): ModelParts => ({
  opset: 18,
  inputs: [port('indices', 'int64', ['n']), port('begins', 'int64', ['b'])],
  outputs: [port('y', 'float')],
  initializers: [
    table,
    scalar('zero', 0),
    scalar('one', 1),
    scalar('two', 2),
    list('zeros', 0),
    list('minus', -1),
    list('ones', 1),
    floats('factor', [1], [0.5])
  ],
  nodes: [
    node('Shape', ['indices'], ['n']),
    node('Expand', ['factor', 'n'], ['factors']),
    node('Reshape', ['indices', 'minus'], ['flat']),
    node('Gather', ['table', 'flat'], ['gathered']),
    node('Unsqueeze', ['factors', 'ones'], ['column']),
    node('Mul', ['gathered', 'column'], ['weighted']),
    node('Shape', ['flat'], ['size']),
    node('Size', ['begins'], ['count']),
    node('Concat', ['begins', 'size'], ['offsets'], { axis: 0 }),
    node('SequenceEmpty', [], ['none']),
    node('Less', ['zero', 'count'], ['isSome']),
    node('Loop', ['', 'isSome', changes.first ?? 'zero', 'none'], ['counted', 'bags'], {
      body: {
        graph: {
          inputs: [port('run', 'int64', []), port('goes', 'bool', []), port('i', 'int64', []), { name: 'before' }],
          outputs: [port('goesOn', 'bool', []), port('next', 'int64', []), { name: 'after' }],
          nodes: [
            node('Reshape', ['i', 'minus'], ['at']),
            node('CastLike', ['one', 'at'], ['step']),
            node('Add', ['at', 'step'], ['atNext']),
            node('Add', ['at', 'two'], ['atEnd']),
            node('Slice', ['offsets', ...(changes.positions ?? ['at', 'atNext'])], ['start']),
            ...(changes.end ?? [node('Slice', ['offsets', 'atNext', 'atEnd'], ['end'])]),
            node('Equal', ['start', 'end'], ['isEmpty']),
            choice('isEmpty', 'bag', changes.empty ?? row(0, 1), branch('reduced', ...reduction)),
            node('SequenceInsert', ['before', 'bag'], ['after']),
            node('Add', ['i', changes.step ?? 'one'], ['next']),
            node('Less', [changes.more ?? 'next', 'count'], ['goesOn'])
          ]
        }
      }
    }),
    node('ConcatFromSequence', ['bags'], ['y'], { axis: changes.axis ?? 0 })
  ]
})

describe('a Loop that adds bags to a sequence', () => {
  test.each(Object.keys(REDUCTIONS) as (keyof typeof REDUCTIONS)[])(
    'is one call for each %s, which gives the same',
    async name => {
      const parts = model({ reduction: REDUCTIONS[name] })
      expect(opsOf(await planOf(parts)).slice(-2)).toEqual(['Concat', 'GatherBags'])
      for (const begins of [
        [0, 3, 3, 10, 59],
        [0],
        [60],
        [5, 2, 40],
        [0, 70],
        Array.from({ length: 60 }, (_, i) => i)
      ]) {
        const feeds = { indices: someRows(60), begins: longs(...begins) }
        const [fast, exact] = [await outputOf(parts, feeds, 'fast'), await outputOf(parts, feeds, 'exact')]
        expect(fast.dims).toEqual([begins.length, WIDTH])
        exact.numbers.forEach((number, i) => expect(fast.numbers[i]).toBeCloseTo(number, 5))
      }
    }
  )

  test('is one call where the number of bags is known', async () => {
    const parts = { ...model(), inputs: [port('indices', 'int64', ['n']), port('begins', 'int64', [3])] }
    expect(opsOf(await planOf(parts)).at(-1)).toBe('GatherBags')
  })

  test('of means refuses bags that start before the first index', async () => {
    const feeds = { indices: someRows(60), begins: longs(0, -7) }
    await expect(outputOf(model({ reduction: REDUCTIONS.mean }), feeds, 'fast')).rejects.toMatchObject({
      code: 'value-out-of-range',
      message: expect.stringContaining('bag 1 starts at -7') as string
    })
  })

  test.each<[string, Changes]>([
    ['two rows where bags are empty', { empty: row(0, 2) }],
    ['a row of ones where bags are empty', { empty: row(1, 1) }],
    ['a start that is not the number of the run', { positions: ['atNext', 'atEnd'] }],
    ['more than one element for a start', { positions: ['at', 'atEnd'] }],
    ['ends of its own', { end: [node('Add', ['start', 'two'], ['end'])] }],
    ['a first number that is not 0', { first: 'one' }],
    ['steps of two', { step: 'two' }],
    ['an end of its own', { more: 'i' }],
    ['a sequence that is joined along another axis', { axis: 1 }],
    ['sums without the axis', { reduction: [slice('rows'), reduce('ReduceSum', 'rows', 'reduced', 0)] }],
    [
      'sums of the rows before',
      { reduction: [node('Slice', ['weighted', 'zeros', 'end'], ['rows']), reduce('ReduceSum', 'rows', 'reduced')] }
    ],
    ['products', { reduction: [slice('rows'), reduce('ReduceProd', 'rows', 'reduced')] }],
    [
      'a last bag that ends elsewhere',
      {
        reduction: [
          ...last,
          choice('isLast', 'rows', branch('ofLast', slice('ofLast', 'start')), branch('ofOther', slice('ofOther'))),
          REDUCTIONS.max[3]
        ]
      }
    ]
  ])('stays a Loop with %s', async (_, changes) => {
    const ops = opsOf(await planOf(model(changes)))
    expect(ops).toContain('Loop')
    expect(ops).not.toContain('GatherBags')
  })

  test.each<[reduction: keyof typeof REDUCTIONS, node: string, position: number, input: string]>([
    ['mean', 'Equal_isLast', 0, 'one'],
    ['mean', 'Sub_final', 0, 'two'],
    ['max', 'Sub_final', 1, 'zero'],
    ['mean', 'Sub_number', 1, 'end'],
    ['mean', 'Cast_divisor', 0, 'all'],
    ['mean', 'CastLike_none', 0, 'one'],
    ['mean', 'Shape_all', 0, 'begins'],
    ['mean', 'Identity_same', 0, 'someRow'],
    ['mean', 'ReduceSum_total', 0, 'weighted'],
    ['mean', 'ReduceMean_ofOther', 0, 'weighted'],
    ['max', 'Concat_offsets', 1, 'one1'],
    ['sum', 'Loop_counted', 1, 'may'],
    ['sum', 'Loop_counted', 3, 'some'],
    ['sum', 'Less_isSome', 0, 'one'],
    ['sum', 'Less_isSome', 1, 'two'],
    ['sum', 'Size_count', 0, 'indices'],
    ['sum', 'SequenceInsert_after', 0, 'none'],
    ['sum', 'SequenceInsert_after', 2, 'zero'],
    ['sum', 'Slice_rows', 1, 'zeros'],
    ['sum', 'Slice_rows', 2, 'atEnd'],
    ['sum', 'Slice_start', 3, 'one1'],
    ['sum', 'Equal_isEmpty', 1, 'ones']
  ])('stays a Loop in a %s where %s reads another input %i, %s', async (reduction, name, position, input) => {
    const parts = model({ reduction: REDUCTIONS[reduction] })
    const given: ModelParts = {
      ...parts,
      inputs: [
        ...parts.inputs!,
        port('may', 'bool', []),
        port('someRow', 'float', [1, WIDTH]),
        port('one1', 'int64', [1])
      ],
      nodes: [node('SequenceConstruct', ['someRow'], ['some']), ...parts.nodes]
    }
    expect(opsOf(await planOf(given))).toContain('GatherBags')
    expect(opsOf(await planOf(withInput(given, name, position, input)))).not.toContain('GatherBags')
  })

  test('stays a Loop where somebody reads the sequence', async () => {
    const parts = model()
    expect(opsOf(await planOf({ ...parts, outputs: [port('y', 'float'), { name: 'bags' }] }))).toContain('Loop')
    expect(opsOf(await planOf(parts, { isObserved: true }))).toContain('Loop')
    expect(opsOf(await planOf(parts, { isExact: true }))).toContain('Loop')
  })
})
