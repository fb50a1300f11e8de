import { describe, expect, test } from 'vitest'
import { fold } from '../../src/plan/fold.ts'
import { type Pass, Progress, runPasses } from '../../src/plan/pass.ts'
import { prune } from '../../src/plan/prune.ts'
import { schedule } from '../../src/plan/schedule.ts'
import { floats, int64s, node, port } from '../fixtures/onnx.ts'
import { graphOf, opsOf, planOf } from './plan.ts'

const x = port('x', 'float', [2, 3])
const y = port('y', 'float', [2, 3])

test('a pass that requires another does not run before it', async () => {
  const graph = await graphOf({ inputs: [x], outputs: [y], nodes: [node('Relu', ['x'], ['y'])] })
  expect(() => runPasses(graph, [prune, schedule])).toThrow('pass schedule requires fuse, which has not run')
})

test('a pass that found nothing runs again only once another has changed the graph', async () => {
  const graph = await graphOf({ inputs: [x], outputs: [y], nodes: [node('Relu', ['x'], ['y'])] })
  const runs: string[] = []
  const pass = (name: string, ...answers: boolean[]): Pass => ({
    name,
    requires: [],
    run: () => (runs.push(name), answers.shift() ?? false)
  })
  const [idle, once] = [pass('idle'), pass('once', true)]
  const progress = new Progress()
  runPasses(graph, [idle, idle, once, idle], progress)
  expect(runs).toEqual(['idle', 'once', 'idle'])
  runPasses(graph, [idle, once, once], progress)
  expect(runs.slice(3)).toEqual(['once'])
  expect([...progress.done]).toEqual(['idle', 'once'])
})

test('a pass over certain operators is left out where the graph has none of them', async () => {
  const graph = await graphOf({ inputs: [x], outputs: [y], nodes: [node('Relu', ['x'], ['y'])] })
  const runs: string[] = []
  const pass = (name: string, ops?: readonly string[]): Pass => ({
    ...{ name, requires: [], run: () => (runs.push(name), false) },
    ...(ops && { ops })
  })
  runPasses(graph, [pass('of others', ['If', 'Loop']), pass('of one', ['If', 'Relu']), pass('of all')])
  expect(runs).toEqual(['of one', 'of all'])
})

describe('what inference refuses, no pass refuses first: the error names its node', () => {
  // The file says what they are, where inference does not.
  const values = ['h', 'v'].map(name => port(name, 'float', [1, 1, 4, 4]))
  const codes = { name: 'codes', dims: [4, 4], dataType: 3, int32Data: new Array<number>(16).fill(1) }
  const constants = [
    floats('w', [1, 1, 3, 3], new Array<number>(9).fill(1)),
    floats('rows', [4, 2, 2], new Array<number>(16).fill(1)),
    floats('scales', [4], [1, 1, 1, 1]),
    floats('epsilon', [], [1e-5]),
    int64s('pads', [4], [1, 1, 1, 1]),
    int64s('twice', [2], [2, -2]),
    int64s('far', [1], [9]),
    int64s('at', [], [0]),
    codes
  ]
  test.each<[string, string, object[]]>([
    ['Pad', 'name an axis twice', [node('Pad', ['x', 'pads', '', 'twice'], ['h']), node('Conv', ['h', 'w'], ['y'])]],
    ['Einsum', 'names 3 dims', [node('Einsum', ['x', 'rows'], ['y'], { equation: 'abc,cde->abde' })]],
    [
      'ReduceMean',
      'axis 9 is out of range',
      [
        node('ReduceMean', ['x', 'far'], ['h']),
        ...[node('Sub', ['x', 'h'], ['d']), node('Mul', ['d', 'd'], ['q']), node('ReduceMean', ['q', 'far'], ['v'])],
        ...[node('Add', ['v', 'epsilon'], ['e']), node('Sqrt', ['e'], ['r']), node('Div', ['d', 'r'], ['y'])]
      ]
    ],
    [
      'SplitToSequence',
      'axis 9 is out of range',
      [node('SplitToSequence', ['x'], ['s'], { axis: 9, keepdims: 1 }), node('SequenceAt', ['s', 'at'], ['y'])]
    ],
    [
      'DequantizeLinear',
      'axis 9 is out of range',
      [node('DequantizeLinear', ['codes', 'scales'], ['h'], { axis: 9 }), node('MatMul', ['x', 'h'], ['y'])]
    ]
  ])('%s', async (op, reason, nodes) => {
    const parts = {
      ...{ opset: 18, initializers: constants, nodes, values },
      ...{ inputs: [port('x', 'float', [1, 1, 4, 4])], outputs: [port('y', 'float', [1, 1, 4, 4])] }
    }
    await expect(planOf(parts)).rejects.toThrow(new RegExp(`node \\d+ ${op} .*${reason}`))
  })
})

test('schedule says whether it noted anything', async () => {
  const said = async (nodes: Parameters<typeof node>[]): Promise<boolean> => {
    const graph = await graphOf({ inputs: [x], outputs: [y], nodes: nodes.map(parts => node(...parts)) })
    return schedule.run(graph)
  }
  expect(await said([['Relu', ['x'], ['y']]])).toBe(false)
  expect(
    await said([
      ['Relu', ['x'], ['h']],
      ['Neg', ['h'], ['y']]
    ])
  ).toBe(true)
})

describe('prune', () => {
  test('removes calls that no wanted value depends on, chains of them too', async () => {
    const graph = await graphOf({
      inputs: [x],
      outputs: [y],
      nodes: [node('Relu', ['x'], ['y']), node('Neg', ['x'], ['dead']), node('Abs', ['dead'], ['deader'])]
    })
    expect(prune.run(graph)).toBe(true)
    expect(opsOf(graph)).toEqual(['Relu'])
    expect(graph.removed.map(({ node: { type }, why }) => [type, why])).toEqual([
      ['Abs', 'pruned'],
      ['Neg', 'pruned']
    ])
    expect(prune.run(graph)).toBe(false)
  })

  test('keeps what a body captures', async () => {
    const plan = await planOf({
      inputs: [port('c', 'bool', []), x],
      outputs: [y],
      nodes: [
        node('Neg', ['x'], ['n']),
        node('If', ['c'], ['y'], {
          then_branch: { graph: { outputs: [port('t', 'float')], nodes: [node('Relu', ['n'], ['t'])] } },
          else_branch: { graph: { outputs: [port('e', 'float')], nodes: [node('Abs', ['n'], ['e'])] } }
        })
      ]
    })
    expect(opsOf(plan)).toEqual(['Neg', 'If'])
    expect(plan.steps[1].free).toContain(plan.slots.get('n'))
  })
})

test('fold makes constants of what inference knows, and prune says so of their nodes', async () => {
  const graph = await graphOf({
    inputs: [port('x', 'float', [2, 3])],
    outputs: [port('y', 'float')],
    initializers: [int64s('one', [1], [1]), int64s('rest', [1], [-1])],
    nodes: [
      node('Shape', ['x'], ['shape']),
      node('Gather', ['shape', 'one'], ['columns']),
      node('Concat', ['columns', 'rest'], ['target'], { axis: 0 }),
      node('Reshape', ['x', 'target'], ['y'])
    ]
  })
  expect(fold.run(graph)).toBe(true)
  expect(opsOf(graph)).toEqual(['Shape', 'Gather', 'Concat', 'Reshape'])
  prune.run(graph)
  expect(opsOf(graph)).toEqual(['Reshape'])
  expect(graph.removed.map(({ why }) => why)).toEqual(['folded', 'folded', 'folded'])
})

test('an input with a default is no constant: a caller may replace it', async () => {
  const graph = await graphOf({
    inputs: [x, port('w', 'float', [1])],
    outputs: [y],
    initializers: [floats('w', [1], [2])],
    nodes: [node('Mul', ['x', 'w'], ['y'])]
  })
  expect(graph.constantOf('w')).toBeUndefined()
})

describe('schedule', () => {
  const chain = {
    inputs: [x],
    outputs: [y],
    nodes: [node('Neg', ['x'], ['a']), node('Abs', ['a'], ['b']), node('Add', ['b', 'b'], ['y'])]
  }

  test('frees a value after its last reader; inputs and outputs stay', async () => {
    const plan = await planOf(chain)
    const slots = ['a', 'b'].map(id => plan.slots.get(id))
    expect(plan.steps.map(({ free }) => free)).toEqual([[], [slots[0]], [slots[1]]])
  })

  test('lets an elementwise call write over an input that dies there, and over no other', async () => {
    const plan = await planOf(chain)
    // x is the caller's; y is handed to the caller, so Add makes it anew.
    expect(plan.steps.map(({ inPlace }) => inPlace)).toEqual([[], [0], []])
  })

  test('does not where the input is read later, where types or dims differ, or the value is fetched', async () => {
    const plan = await planOf({
      inputs: [x, port('row', 'float', [3])],
      outputs: [port('y', 'float'), port('z', 'bool')],
      nodes: [
        node('Neg', ['x'], ['a']),
        node('Abs', ['a'], ['b']),
        node('Add', ['a', 'b'], ['c']),
        node('Neg', ['row'], ['small']),
        node('Mul', ['small', 'c'], ['d']),
        node('IsNaN', ['d'], ['nan']),
        node('Not', ['nan'], ['z']),
        node('Identity', ['d'], ['y'])
      ]
    })
    const inPlace = Object.fromEntries(plan.steps.map(step => [step.call.node.name, step.inPlace]))
    expect(inPlace).toMatchObject({ Abs_b: [], Add_c: [0, 1], Mul_d: [1], IsNaN_nan: [], Not_z: [] })
    const fetched = await planOf(chain, { wanted: ['a', 'y'] })
    expect(fetched.steps.map(step => step.inPlace)).toEqual([[], [], []])
  })

  test('does not where the input is an operand besides that is read at other positions', async () => {
    const scattered = (updates: string): Parameters<typeof planOf>[0] => ({
      inputs: [x, port('at', 'int64', [2, 3])],
      outputs: [y],
      nodes: [
        node('Neg', ['x'], ['a']),
        node('Abs', ['x'], ['b']),
        node('ScatterElements', ['a', 'at', updates], ['c'], { reduction: 'add' }),
        node('Neg', ['c'], ['y'])
      ]
    })
    const inPlace = async (updates: string): Promise<(readonly number[])[]> =>
      (await planOf(scattered(updates))).steps
        .filter(({ call }) => call.op.name === 'ScatterElements')
        .map(step => step.inPlace)
    expect(await inPlace('b')).toEqual([[0]])
    expect(await inPlace('a')).toEqual([[]])
  })

  test('does not where the run is observed', async () => {
    const plan = await planOf(chain, { isObserved: true })
    expect(plan.steps.map(({ inPlace }) => inPlace)).toEqual([[], [], []])
  })
})
