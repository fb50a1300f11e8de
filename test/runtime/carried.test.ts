import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { InferenceSession, Tensor } from '../../src/index.ts'
import type { Plan, Step } from '../../src/plan/plan.ts'
import { CarriedInput, updatedIn } from '../../src/runtime/carried.ts'
import { Budget } from '../../src/runtime/memory.ts'
import { randomSource } from '../../src/runtime/random.ts'
import { RecordedInput } from '../../src/runtime/recorded-input.ts'
import { RepeatedBody } from '../../src/runtime/repeated-bodies.ts'
import { int64s, type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'
import { body, layer, load, net } from '../openvino/ir.ts'

const random = randomSource(3)()
const numbers = (count: number): number[] => Array.from({ length: count }, () => Math.fround(random() * 4 - 2))
const floatsOf = (...dims: number[]): Tensor => new Tensor('float32', numbers(dims.reduce((a, b) => a * b, 1)), dims)

const ROWS = 40
const COLUMNS = 32

/** Nodes that make row `i + 1` of `y` of row `i`, and of row `i` of `x`, which is captured. */
const update = (y: string, updated: string) => [
  node('Add', ['i', 'one'], [`${y}Next`]),
  node('Gather', [y, 'i'], [`${y}Row`]),
  node('Gather', ['x', 'i'], [`${y}Given`]),
  node('Add', [`${y}Row`, `${y}Given`], [`${y}Sum`]),
  node('Tanh', [`${y}Sum`], [`${y}New`]),
  node('Unsqueeze', [`${y}New`, 'zeros'], [`${y}Update`]),
  node('Reshape', [`${y}Next`, 'square'], [`${y}At`]),
  node('ScatterND', [y, `${y}At`, `${y}Update`], [updated])
]
const model = (
  body: Partial<ModelParts>,
  outputs: readonly string[],
  constants: readonly object[] = []
): ModelParts => ({
  inputs: [port('x', 'float', ['n', COLUMNS]), port('y', 'float', ['m', COLUMNS]), port('trip', 'int64', [])],
  outputs: outputs.map(name => port(name, 'float')),
  initializers: [int64s('one', [], [1]), int64s('zeros', [1], [0]), int64s('square', [2], [1, 1]), ...constants],
  nodes: [
    node('Loop', ['trip', '', ...(body.inputs ?? []).slice(2).map(() => 'y')], [...outputs], {
      body: { graph: { inputs: [], outputs: [], nodes: [], ...body } }
    })
  ]
})
const HEAD = [port('i', 'int64', []), port('c', 'bool', [])]
const state = (name: string) => port(name, 'float', [ROWS, COLUMNS])
const plain = model(
  { inputs: [...HEAD, state('a')], outputs: [port('c', 'bool'), state('b')], nodes: update('a', 'b') },
  ['last']
)

type Feeds = Record<string, Tensor>
const feedsOf = (trip = ROWS - 1): Feeds => ({
  x: floatsOf(ROWS, COLUMNS),
  y: floatsOf(ROWS, COLUMNS),
  trip: new Tensor('int64', [trip], [])
})
const session = (parts: ModelParts): Promise<InferenceSession> =>
  InferenceSession.create(onnxBytes(parts), { threads: 1 })
const elements = ({ data }: Tensor): number[] => [...(data as Float32Array)]

/** The states of the loop, the first one included. */
function statesOf({ x, y, trip }: Feeds): number[][] {
  const [given, state] = [elements(x), elements(y)]
  const states = [state.slice()]
  for (let i = 0; i < Number(trip.data[0]); i++) {
    for (let k = i * COLUMNS; k < (i + 1) * COLUMNS; k++)
      state[k + COLUMNS] = Math.fround(Math.tanh(Math.fround(state[k] + given[k])))
    states.push(state.slice())
  }
  return states
}
const closeTo = (expected: readonly number[]): unknown[] => expected.map(value => expect.closeTo(value, 5))
const lastOf = (feeds: Feeds): unknown[] => closeTo(statesOf(feeds).at(-1)!)

afterEach(() => {
  vi.restoreAllMocks()
})

/** Tensors of so many elements that a run allocates or copies. */
function countOf(size: number): () => number {
  const copy = vi.spyOn(Budget.prototype, 'copy')
  const allocate = vi.spyOn(Budget.prototype, 'allocate')
  return () =>
    copy.mock.calls.filter(([tensor]) => tensor.size === size).length +
    allocate.mock.calls.filter(([, dims]) => dims.reduce((a, b) => a * b, 1) === size).length
}

describe.each([
  ['recorded', true],
  ['not recorded', false]
])('a value that iterations which are %s hand on, each of which changes some of it', (_, isRecorded) => {
  beforeEach(() => {
    if (!isRecorded) vi.spyOn(RepeatedBody.prototype, 'take').mockReturnValue(undefined)
  })

  test('is changed where it lies, and copied once', async () => {
    const of = await session(plain)
    await of.run(feedsOf())
    const count = countOf(ROWS * COLUMNS)
    const feeds = feedsOf()
    const { last } = await of.run(feeds)
    expect(elements(last)).toEqual(lastOf(feeds))
    expect(count()).toBe(1)
  })

  test('is the caller’s own afterwards, and so is the one with which the loop begins', async () => {
    const of = await session(plain)
    const given = Array.from({ length: 4 }, () => feedsOf())
    const before = given.map(({ y }) => elements(y))
    const results: Tensor[] = []
    for (const feeds of given) results.push((await of.run(feeds)).last)
    expect(results.map(elements)).toEqual(given.map(lastOf))
    expect(given.map(({ y }) => elements(y))).toEqual(before)
  })

  test('is what it was in each iteration where all of them are wanted', async () => {
    const parts = model(
      {
        inputs: [...HEAD, state('a')],
        outputs: [port('c', 'bool'), state('b'), state('b')],
        nodes: update('a', 'b')
      },
      ['last', 'all']
    )
    const of = await session(parts)
    for (let i = 0; i < 3; i++) {
      const feeds = feedsOf()
      const { last, all } = await of.run(feeds)
      expect(elements(last)).toEqual(lastOf(feeds))
      expect(elements(all)).toEqual(closeTo(statesOf(feeds).slice(1).flat()))
    }
  })

  test.each([
    ['under other dims', [node('Reshape', ['a', 'list'], ['seen'])]],
    ['but for its last row', [node('Split', ['a', 'sizes'], ['seen', 'others'], { axis: 0 })]]
  ])('is what it was in each iteration that gives it %s', async (_, nodes) => {
    const parts = model(
      {
        inputs: [...HEAD, state('a')],
        outputs: [port('c', 'bool'), state('b'), port('seen', 'float')],
        nodes: [...nodes, ...update('a', 'b')]
      },
      ['last', 'before'],
      [int64s('list', [1], [-1]), int64s('sizes', [2], [ROWS - 1, 1])]
    )
    const of = await session(parts)
    for (let i = 0; i < 3; i++) {
      const feeds = feedsOf()
      const { last, before } = await of.run(feeds)
      expect(elements(last)).toEqual(lastOf(feeds))
      const given = statesOf(feeds).slice(0, -1)
      const count = elements(before).length / given.length
      expect(elements(before)).toEqual(closeTo(given.flatMap(rows => rows.slice(0, count))))
    }
  })

  test('is read as it was where what it becomes is made of parts of it', async () => {
    // Each row becomes the one above it.
    const parts = model(
      {
        inputs: [...HEAD, state('a')],
        outputs: [port('c', 'bool'), state('b')],
        nodes: [
          node('Split', ['a', 'sizes'], ['upper', 'lowest'], { axis: 0 }),
          node('ScatterND', ['a', 'below', 'upper'], ['b'])
        ]
      },
      ['last'],
      [
        int64s('sizes', [2], [ROWS - 1, 1]),
        int64s(
          'below',
          [ROWS - 1, 1],
          Array.from({ length: ROWS - 1 }, (_, i) => i + 1)
        )
      ]
    )
    const of = await session(parts)
    for (let i = 0; i < 3; i++) {
      const feeds = feedsOf(12)
      const y = elements(feeds.y)
      const { last } = await of.run(feeds)
      expect(elements(last)).toEqual(y.map((_, at) => y[at < 12 * COLUMNS ? at % COLUMNS : at - 12 * COLUMNS]))
    }
  })

  test('is what it was in each iteration that gives it, too', async () => {
    const parts = model(
      { inputs: [...HEAD, state('a')], outputs: [port('c', 'bool'), state('b'), state('a')], nodes: update('a', 'b') },
      ['last', 'before']
    )
    const of = await session(parts)
    for (let i = 0; i < 3; i++) {
      const feeds = feedsOf()
      const { before } = await of.run(feeds)
      expect(elements(before)).toEqual(closeTo(statesOf(feeds).slice(0, -1).flat()))
    }
  })

  test('is another one than that with which the loop begins, which is read later', async () => {
    const loop = { inputs: [...HEAD, state('a')], outputs: [port('c', 'bool'), state('b')], nodes: update('a', 'b') }
    const { nodes, ...parts } = model(loop, ['last'])
    const [first] = nodes as { input: string[] }[]
    const of = await session({
      ...parts,
      outputs: [port('last', 'float'), port('again', 'float')],
      nodes: [
        node('Neg', ['y'], ['start']),
        { ...first, input: first.input.with(2, 'start') },
        node('Neg', ['start'], ['again'])
      ]
    })
    for (let i = 0; i < 3; i++) {
      const feeds = feedsOf()
      const { last, again } = await of.run(feeds)
      expect(elements(again)).toEqual(elements(feeds.y))
      const y = new Tensor(
        'float32',
        elements(feeds.y).map(value => -value),
        feeds.y.dims
      )
      expect(elements(last)).toEqual(lastOf({ ...feeds, y }))
    }
  })

  test('is one of two, each of which has its own elements', async () => {
    const parts = model(
      {
        inputs: [...HEAD, state('a'), state('k')],
        outputs: [port('c', 'bool'), state('b'), state('l')],
        nodes: [...update('a', 'b'), ...update('k', 'l')]
      },
      ['last', 'other']
    )
    const of = await session(parts)
    for (let i = 0; i < 3; i++) {
      const feeds = feedsOf()
      const { last, other } = await of.run(feeds)
      expect([elements(last), elements(other)]).toEqual([lastOf(feeds), lastOf(feeds)])
    }
  })

  test.each([
    ['another node of the same iteration as it was', 'a', -2],
    ['a node that comes after what it has become', 'b', -1]
  ])('is read by %s', async (__, read, at) => {
    const parts = model(
      {
        inputs: [...HEAD, state('a'), port('m', 'float')],
        outputs: [port('c', 'bool'), state('b'), port('s', 'float')],
        nodes: [...update('a', 'b'), node('ReduceMax', [read], ['s'], { keepdims: 0 })]
      },
      ['last', 'most']
    )
    const of = await session(parts)
    for (let i = 0; i < 3; i++) {
      const feeds = feedsOf()
      const { most } = await of.run(feeds)
      expect(elements(most)).toEqual(closeTo([Math.max(...statesOf(feeds).at(at)!)]))
    }
  })

  test('is changed where it lies also where nobody else reads it, and never where the loop begins', async () => {
    const rows = 200
    const large = (name: string) => port(name, 'float', [rows, COLUMNS])
    const parts = model(
      {
        inputs: [...HEAD, large('a')],
        outputs: [port('c', 'bool'), large('b')],
        nodes: [
          node('Gather', ['x', 'zeros'], ['given']),
          node('Cast', ['i'], ['number'], { to: 1 }),
          node('Add', ['given', 'number'], ['new']),
          node('Reshape', ['i', 'square'], ['at']),
          node('ScatterND', ['a', 'at', 'new'], ['b'])
        ]
      },
      ['last']
    )
    const of = await session(parts)
    for (let run = 0; run < 3; run++) {
      const count = countOf(rows * COLUMNS)
      const feeds: Feeds = { ...feedsOf(60), y: floatsOf(rows, COLUMNS) }
      const before = elements(feeds.y)
      const { last } = await of.run(feeds)
      const first = elements(feeds.x).slice(0, COLUMNS)
      const changed = Array.from({ length: 60 }, (_, i) => first.map(value => Math.fround(value + i))).flat()
      expect(elements(last)).toEqual([...changed, ...before.slice(changed.length)])
      expect(elements(feeds.y)).toEqual(before)
      if (run > 0) expect(count()).toBe(1)
      vi.mocked(Budget.prototype.copy).mockRestore()
      vi.mocked(Budget.prototype.allocate).mockRestore()
    }
  })

  test('of a loop in a loop outlives later runs of the inner one', async () => {
    const inner = plain.nodes[0]
    const parts: ModelParts = {
      ...model(
        {
          inputs: HEAD,
          outputs: [port('c', 'bool'), state('last')],
          nodes: [inner]
        },
        ['all'],
        [int64s('three', [], [3])]
      ),
      nodes: [
        node('Loop', ['three', ''], ['all'], {
          body: {
            graph: {
              inputs: [port('o', 'int64', []), port('go', 'bool', [])],
              outputs: [port('go', 'bool'), state('moved')],
              nodes: [inner, node('Cast', ['o'], ['number'], { to: 1 }), node('Add', ['last', 'number'], ['moved'])]
            }
          }
        })
      ]
    }
    const of = await session(parts)
    for (let i = 0; i < 3; i++) {
      const feeds = feedsOf()
      const { all } = await of.run(feeds)
      const last = statesOf(feeds).at(-1)!
      expect(elements(all)).toEqual(closeTo([0, 1, 2].flatMap(o => last.map(value => value + o))))
    }
  })

  test('is right where runs of one session go on side by side', async () => {
    const of = await session(plain)
    await of.run(feedsOf())
    const given = Array.from({ length: 6 }, () => feedsOf())
    const results = await Promise.all(given.map(feeds => of.run(feeds)))
    expect(results.map(({ last }) => elements(last))).toEqual(given.map(lastOf))
  })

  test('is right after an iteration has failed, which says where', async () => {
    const of = await session(plain)
    await of.run(feedsOf())
    const failed = of.run(feedsOf(ROWS + 1))
    await expect(failed).rejects.toMatchObject({ code: 'index-out-of-range' })
    await expect(failed).rejects.toThrow(/ScatterND/)
    const feeds = feedsOf()
    expect(elements((await of.run(feeds)).last)).toEqual(lastOf(feeds))
  })

  test('is what it was where dims of an iteration are not those that were recorded', async () => {
    // The number of rows above an element is known only when the elements are.
    const parts = model(
      {
        inputs: [...HEAD, state('a'), port('m', 'float')],
        outputs: [port('c', 'bool'), state('b'), port('s', 'float')],
        nodes: [
          ...update('a', 'b'),
          node('Unsqueeze', ['i', 'zeros'], ['from']),
          node('Slice', ['a', 'start', 'from', 'zeros'], ['before']),
          node('ReduceSum', ['before'], ['s'], { keepdims: 0 })
        ]
      },
      ['last', 'sum'],
      [int64s('start', [1], [ROWS - 6])]
    )
    const of = await session(parts)
    for (let i = 0; i < 6; i++) {
      const feeds = feedsOf()
      const { last, sum } = await of.run(feeds)
      expect(elements(last)).toEqual(lastOf(feeds))
      const states = statesOf(feeds)
      const rows = states.at(-2)!.slice((ROWS - 6) * COLUMNS, (ROWS - 2) * COLUMNS)
      expect(elements(sum)).toEqual([
        expect.closeTo(
          rows.reduce((a, b) => a + b, 0),
          3
        )
      ])
    }
  })
})

/**
 * A TensorIterator whose body writes row `at` (layer 1) of a state (layer 2) with the row that it is given (layer 0);
 * the new state is handed on, given after the last iteration, and joined with those of all others.
 */
const rowsOfIr = (count: number, rows: number): string => {
  const [row, place, whole] = [`1,${COLUMNS}`, '1,1', `${rows},${COLUMNS}`]
  const parameter = (id: number, type: 'f32' | 'i64', shape: string, name?: string): string =>
    layer(id, 'Parameter', {
      ...(name && { name }),
      data: `shape="${shape}" element_type="${type}"`,
      out: [`0:${type === 'f32' ? 'FP32' : 'I64'}[${shape}]`]
    })
  const inner = body(
    [
      parameter(0, 'f32', row),
      parameter(1, 'i64', place),
      parameter(2, 'f32', whole),
      layer(3, 'Tanh', { in: ['0'], out: ['1:FP32'] }),
      layer(4, 'ScatterNDUpdate', { version: 'opset4', in: ['0', '1', '2'], out: ['3:FP32'] }),
      layer(5, 'Result', { in: ['0'] })
    ],
    ['0:0>3:0', '2:0>4:0', '1:0>4:1', '3:1>4:2', '4:3>5:0']
  )
  const ports = `<port_map>
    <input external_port_id="0" internal_layer_id="0" axis="0"/>
    <input external_port_id="1" internal_layer_id="1" axis="0"/>
    <input external_port_id="2" internal_layer_id="2"/>
    <output external_port_id="3" internal_layer_id="5"/>
    <output external_port_id="4" internal_layer_id="5" axis="0"/>
    </port_map><back_edges><edge from-layer="5" to-layer="2"/></back_edges><body>${inner}</body>`
  return net(
    [
      parameter(0, 'f32', `${count},${COLUMNS}`, 'x'),
      parameter(1, 'i64', `${count},1`, 'at'),
      parameter(2, 'f32', whole, 's'),
      layer(3, 'TensorIterator', { in: ['0', '1', '2'], out: ['3:FP32', '4:FP32'], more: ports }),
      layer(4, 'Result', { name: 'last', in: ['0'] }),
      layer(5, 'Result', { name: 'all', in: ['0'] })
    ],
    ['0:0>3:0', '1:0>3:1', '2:0>3:2', '3:3>4:0', '3:4>5:0']
  )
}

test.each([
  ['recorded', true],
  ['not recorded', false]
])(
  'a value that iterations which are %s hand on, and that is joined, is what it was in each',
  async (_, isRecorded) => {
    if (!isRecorded) vi.spyOn(RepeatedBody.prototype, 'take').mockReturnValue(undefined)
    const [count, rows] = [30, 40]
    const of = new InferenceSession(load(rowsOfIr(count, rows)))
    for (let run = 0; run < 3; run++) {
      const feeds = {
        x: floatsOf(count, COLUMNS),
        at: new Tensor(
          'int64',
          Array.from({ length: count }, (_, i) => (i * 7) % rows),
          [count, 1]
        ),
        s: floatsOf(rows, COLUMNS)
      }
      const state = elements(feeds.s)
      const states: number[] = []
      elements(feeds.x).forEach((value, k) => {
        state[((Math.floor(k / COLUMNS) * 7) % rows) * COLUMNS + (k % COLUMNS)] = Math.tanh(value)
        if (k % COLUMNS === COLUMNS - 1) states.push(...state)
      })
      const { last, all } = await of.run(feeds)
      expect(elements(last)).toEqual(closeTo(state))
      expect(elements(all)).toEqual(closeTo(states))
    }
  }
)

describe('what was lent', () => {
  const place = (): Tensor => floatsOf(2048)
  const made = (): { input: CarriedInput; budget: Budget; lies: Tensor } => {
    const lies = place()
    const given = floatsOf(2048)
    const budget = {
      copy: vi.fn((tensor: Tensor) => new Tensor('float32', [...(tensor.data as Float32Array)], [2048]))
    }
    return {
      input: new CarriedInput(new RecordedInput(0, given, lies), 0, 0),
      budget: budget as unknown as Budget,
      lies
    }
  }

  test('is found where it lies by the run that it is passed on to', () => {
    const { input, budget, lies } = made()
    const lent = input.lend(budget)
    const before = elements(lies)
    expect(input.take(lent, true)).toBe(true)
    expect(elements(lies)).toEqual(before)
    expect(budget.copy).not.toHaveBeenCalled()
    input.lend(budget)
    expect(lent.data.length).toBe(0)
  })

  test('is copied before a run that others may outlive', () => {
    const { input, budget, lies } = made()
    const lent = input.lend(budget)
    const before = elements(lies)
    input.take(lent, false)
    ;(lies.data as Float32Array).fill(7)
    expect(elements(lent)).toEqual(before)
    expect(budget.copy).toHaveBeenCalledTimes(1)
  })

  test('is copied before a run of another call, which gets its own value', () => {
    const { input, budget, lies } = made()
    const lent = input.lend(budget)
    const before = elements(lies)
    const other = floatsOf(2048)
    input.take(other, true)
    expect(elements(lies)).toEqual(elements(other))
    expect(elements(lent)).toEqual(before)
  })

  test('is taken as any value once somebody has read it', () => {
    const { input, budget, lies } = made()
    const lent = input.lend(budget)
    ;(lent.data as Float32Array).fill(5)
    input.take(lent, true)
    expect(elements(lies)).toEqual(new Array<number>(2048).fill(5))
    expect(budget.copy).toHaveBeenCalledTimes(1)
  })

  test('is refused where its dims are others', () => {
    const { input } = made()
    expect(input.take(floatsOf(2049), true)).toBe(false)
  })
})

describe('of a body', () => {
  const scatter = { inPlace: ['data'], moves: ['data', 'updates'] }
  const operands = [
    { name: 'data', index: 0 },
    { name: 'updates', index: 1 }
  ]
  const step = (op: object, inputs: number[], outputs: number[], free: number[] = []): Step =>
    ({ call: { op, operands }, inputs, outputs, free, inPlace: [], bodies: new Map() }) as unknown as Step
  // Slots 0 and 1 are inputs, 2 is what both steps read, 3 and 4 are outputs.
  const small = step(scatter, [0, 2], [3])
  const other = step({}, [1, 2], [5], [2])
  const large = step(scatter, [1, 2], [4])
  const planOf = (steps: readonly Step[], outputs = [3, 4]): Plan =>
    ({ inputs: [0, 1], outputs, steps }) as unknown as Plan
  const given = new Map([
    [0, floatsOf(1024)],
    [1, floatsOf(2048)],
    [2, floatsOf(1)]
  ])
  const find = (plan: Plan, staying: readonly number[] = [], maxBytes = 1 << 20) =>
    updatedIn(plan, given, new Set(staying), maxBytes)

  test('the largest value that a step may update is found, and that step is the last one', () => {
    const found = find(planOf([large, small, other]))!
    expect([found.input, found.output]).toEqual([1, 4])
    expect(found.plan.steps.map(({ outputs }) => outputs)).toEqual([[3], [5], [4]])
    expect(found.plan.steps.at(-1)).toBe(found.step)
    expect(found.plan.steps.map(({ free }) => free)).toEqual([[], [], [2]])
  })

  test.each([
    ['that is to stay', find(planOf([large, small]), [1]), 0],
    ['that is larger than what is recorded', find(planOf([large, small]), [], 8191), 0],
    ['of which a step reads what it becomes', find(planOf([large, small, step({}, [4], [6])])), 0],
    ['that becomes two outputs', find(planOf([large, small], [4, 4, 3])), 0],
    ['that becomes no output', find(planOf([large, small], [3])), 0],
    ['whose step computes with it', find(planOf([step({ inPlace: ['data'] }, [1, 2], [4]), small])), 0],
    ['whose step does not write over it', find(planOf([step({ moves: ['data'] }, [1, 2], [4]), small])), 0],
    ['whose step reads it twice', find(planOf([step(scatter, [1, 1], [4]), small])), 0],
    ['whose step has two outputs', find(planOf([step(scatter, [1, 2], [4, 6]), small])), 0],
    ['that is no input', find({ ...planOf([large, small]), inputs: [0] }), 0],
    ['of a few elements', find(planOf([step(scatter, [2, 1], [4])])), undefined]
  ])('none is one %s', (_, found, input) => {
    expect(found?.input).toBe(input)
  })
})
