import { readFileSync } from 'node:fs'
import { load, type Model, type NodewiseError, parseModel, Tensor } from 'nodewise'
import { describe, expect, test } from 'vitest'
import { KIND, nameOf } from '../src/graph/columns.ts'
import { dimsAt, typeAt } from '../src/graph/known.ts'
import { buildTree, childrenOf, isGroup, labelOf, rootOf } from '../src/graph/tree.ts'
import type { Change } from '../src/worker/changing.ts'
import { detailsOf, readersOf, tensorDetails } from '../src/worker/details.ts'
import { factsOf, openDims } from '../src/worker/facts.ts'
import { type Flat, flatten } from '../src/worker/flatten.ts'
import { gatherView } from '../src/worker/gathering.ts'
import { BINS, histogramOf, planeOf, statisticsOf } from '../src/worker/numbers.ts'
import { portsOf } from '../src/worker/ports.ts'
import { Running } from '../src/worker/running.ts'
import { unsupportedOps } from '../src/worker/unsupported.ts'

const MODELS = `${import.meta.dirname}/../../../models`
const wrongDim = (): Promise<Model> =>
  load({ xml: readFileSync(`${MODELS}/wrong-dim.xml`), bin: readFileSync(`${MODELS}/wrong-dim.bin`) })

/** The first node of a type. */
const recordOfType = ({ columns }: Flat, type: string): number => columns.type.indexOf(columns.types.indexOf(type))

const LOOP = parseModel(`<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
main (float[n, 4] x) => (float[n, 4] y)
<float[4] w = {1, 2, 3, 4}>
{
  a = own.twice (x)
  c = Greater (x, w)
  s = ReduceMax <keepdims = 0> (a)
  z = Constant <value_float = 0.0> ()
  p = Greater (s, z)
  y = If (p) <
    then_branch = then () => (float[n, 4] t) { t = Add (a, w) },
    else_branch = else () => (float[n, 4] e) { e = Identity (a) }
  >
}
<domain: "own", opset_import: ["" : 17]>
twice (v) => (d)
{
  h = Neg (v)
  d = Sub (v, h)
}`)

describe('columns', () => {
  const flat = flatten(LOOP)
  const { columns } = flat
  const records = (type: string): number[] =>
    [...columns.type.keys()].filter(record => columns.types[columns.type[record]] === type)

  test('have the nodes of bodies and of called functions', () => {
    expect(columns.graphs.map(({ label, count }) => [label, count])).toEqual([
      ['', 8],
      ['twice', 3],
      ['then_branch', 2],
      ['else_branch', 2]
    ])
    const [neg] = records('Neg')
    const [x] = portsOf(flat.outputs, columns.kind.indexOf(KIND.input))
    expect(portsOf(flat.inputs, neg)).toEqual([x])
  })

  test('leave constants to the nodes that read them', () => {
    const [add] = records('Add')
    expect(columns.weights.get(add)).toEqual(['4'])
    expect(columns.kind[records('Constant')[0]]).toBe(KIND.constant)
  })

  test('make a group of a node with bodies', () => {
    const tree = buildTree(columns)
    const groups = childrenOf(tree, rootOf(tree)).filter(item => isGroup(tree, item))
    expect(
      groups.map(group => childrenOf(tree, group).map(item => (isGroup(tree, item) ? labelOf(tree, item) : item)))
    ).toEqual([expect.any(Array) as number[], ['then_branch', 'else_branch']])
  })

  test('lead to what check infers, within functions too', () => {
    const facts = factsOf(LOOP, flat)
    const [neg] = records('Neg')
    const [made] = portsOf(flat.outputs, neg)
    expect([typeAt(facts, made!), dimsAt(facts, made!)]).toEqual(['float32', 'n×4'])
    const [add] = records('Add')
    expect(dimsAt(facts, portsOf(flat.outputs, add)[0]!)).toBe('n×4')
  })

  test('lead from a node to its values, makers and readers', () => {
    const [sub] = records('Sub')
    const details = detailsOf(LOOP, flat, readersOf(flat), sub)
    expect(details.inputs.map(port => port?.name)).toEqual(['x', 'h'])
    expect(details.inputs[1]?.maker).toBe(records('Neg')[0])
    expect(details.type).toBe('Sub')
  })
})

describe('calls of functions', () => {
  const model = parseModel(`<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
main (float[4] x, bool p) => (float[n] y)
<float[3] r>
{
  r = Abs (x)
  s = Neg (r)
  y = own.outer (s, p)
}
<domain: "own", opset_import: ["" : 17, "own" : 1]>
outer (v, p) => (d)
{
  h = Relu (v)
  d = own.inner (h, p)
}
<domain: "own", opset_import: ["" : 17]>
inner (v, p) => (d)
{
  a = Sqrt (v)
  b = Transpose <perm = [0, 1]> (a)
  d = If (p) <
    then_branch = then () => (float[n] t) { t = Exp (a) },
    else_branch = else () => (float[n] e) { e = Log (a) }
  >
}`)
  const flat = flatten(model)
  const facts = factsOf(model, flat)

  test('leave findings at the node that they are about, in the graph around a call and within it', () => {
    const { columns } = flat
    const found = facts.findings
      .filter(({ severity }) => severity === 'error')
      .map(({ place, record }) => [place.graphPath ?? '', place.type, columns.types[columns.type[record]]])
    expect(found).toEqual([
      ['', 'Abs', 'Abs'],
      ['2:outer/1:inner', 'Transpose', 'Transpose']
    ])
  })

  test('lead to what is inferred in their bodies', () => {
    for (const type of ['Exp', 'Log']) {
      const [made] = portsOf(flat.outputs, recordOfType(flat, type))
      expect([typeAt(facts, made!), dimsAt(facts, made!)]).toEqual(['float32', '4'])
    }
  })
})

test('operators that cannot be run are told by their domain', async () => {
  const model = parseModel(`<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
    g (float[2] x) => (float[2] y) { a = Relu (x)  b = own.Relu (a)  c = own.Twice (b)  y = NoSuch (c) }
    <domain: "own", opset_import: ["" : 17]> Twice (v) => (d) { d = Add (v, v) }`)
  expect(unsupportedOps(model, flatten(model))).toEqual(['NoSuch', 'own::Relu'])
  const xml = readFileSync(`${MODELS}/wrong-dim.xml`, 'utf8').replace('type="Gather"', 'type="GATHER"')
  const capital = await load({ xml: new TextEncoder().encode(xml) })
  expect(unsupportedOps(capital, flatten(capital))).toEqual([])
})

describe('facts', () => {
  test('have the finding with its record, both dims and the lines of the file', async () => {
    const model = await wrongDim()
    const flat = flatten(model)
    const facts = factsOf(model, flat)
    const { findings, declared } = facts
    expect(findings).toHaveLength(1)
    const [{ code, record, excerpt, declared: said, inferred, meaning }] = findings
    expect([code, nameOf(flat.columns, record), said, inferred]).toEqual([
      'dims-mismatch',
      'gather',
      '[6, 15, 4, 12]',
      '[6, 15, 4, 10]'
    ])
    expect(meaning).toMatch(/^A dim is declared/)
    expect(excerpt?.find(({ isMarked }) => isMarked)).toEqual({ number: 47, text: '    <dim>12</dim>', isMarked: true })
    const [made] = portsOf(flat.outputs, record)
    expect([dimsAt(facts, made!), declared.get(made!)]).toEqual(['6×15×4×10', '6×15×4×12'])
  })

  test('follow the sizes that a user sets, and say what becomes impossible', () => {
    const model = parseModel(`<ir_version: 8, opset_import: ["" : 17]>
      g (float[n, m] x, float[3, m] w) => (float[n, m] y) { y = Add (x, w) }`)
    const flat = flatten(model)
    expect(openDims(model)).toEqual([
      { name: 'n', min: 1, max: Infinity },
      { name: 'm', min: 1, max: Infinity }
    ])
    const [made] = portsOf(flat.outputs, recordOfType(flat, 'Add'))
    const sizes = new Map([
      ['n', 1],
      ['m', 7]
    ])
    expect(dimsAt(factsOf(model, flat, sizes), made!)).toBe('3×7')
    const impossible = factsOf(model, flat, new Map([['n', 2]]))
    expect(impossible.findings.map(({ severity }) => severity)).toContain('error')
  })
})

describe('numbers', () => {
  test('of large numbers that differ little have their deviation', () => {
    const times = statisticsOf(Float64Array.of(1.7e9, 1.7e9 + 5, 1.7e9 + 10, NaN))
    expect(times.deviation).toBeCloseTo(Math.sqrt(50 / 3))
    expect(times.mean).toBe(1.7e9 + 5)
  })

  test('of 64 bits are listed with all their digits', () => {
    const ids = new Tensor('int64', [9007199254740993n, -1n], [2])
    expect(tensorDetails(ids, 0).first).toEqual(['9007199254740993', '-1'])
  })

  test('NaN and infinities are counted apart', () => {
    const numbers = Float32Array.of(1, 3, NaN, Infinity, 0)
    const statistics = statisticsOf(numbers)
    expect(statistics).toMatchObject({ elements: 5, min: 0, max: 3, zeros: 1, nans: 1, infinities: 1 })
    expect(statistics.mean).toBeCloseTo(4 / 3)
    const bins = histogramOf(numbers, statistics)
    expect([bins.length, bins[0], bins[BINS - 1], bins.reduce((a, b) => a + b)]).toEqual([BINS, 1, 1, 3])
    expect(statisticsOf(Float32Array.of(NaN)).min).toBeUndefined()
  })

  test('a plane is the last two axes at an index of the others', () => {
    const plane = planeOf(
      Float32Array.from({ length: 24 }, (_, i) => i),
      [2, 3, 4],
      1
    )
    expect([plane.width, plane.height, plane.planes]).toEqual([4, 3, 2])
    expect([...plane.values.slice(0, 3)]).toEqual([12, 13, 14])
    expect(planeOf(new Float32Array(4000 * 2), [2, 4000], 0).width).toBe(500)
  })

  test('of 64-bit integers, halves, texts and complex numbers', () => {
    expect(tensorDetails(new Tensor('int64', [5n, -2n], [2]), 0).statistics).toMatchObject({ min: -2, max: 5 })
    expect(tensorDetails(new Tensor('float16', Uint16Array.of(0x3c00), [1]), 0).first).toEqual(['1'])
    expect(tensorDetails(new Tensor('string', ['a'], [1]), 0)).toEqual({ type: 'string', dims: [1], first: ['"a"'] })
    expect(tensorDetails(new Tensor('float32', new Float32Array(0), [0, 3]), 0).statistics?.elements).toBe(0)
  })
})

describe('a run that waits', () => {
  const model = parseModel(`<ir_version: 8, opset_import: ["" : 17]>
    g (float[2, 2] x) => (float[2, 2] y, float[2, 2] z) { a = Neg (x)  y = Abs (a)  z = Add (a, y) }`)
  const flat = flatten(model)
  const record = recordOfType(flat, 'Neg')
  const value = portsOf(flat.outputs, record)[0]!

  /** The values of both outputs, after changes where the run waits. */
  async function outputsAfter(...changes: readonly Change[]): Promise<unknown[]> {
    const request = {
      inputs: new Map([['x', { how: 'literal', text: '[[1, 2], [3, 4]]' } as const]]),
      sizes: new Map(),
      seed: 0,
      breakpoints: [record],
      stopsAtNan: false,
      stepwise: false
    }
    const running: Running = new Running(model, flat, request, event => {
      if (event !== 'paused') return
      // The run asks for what is next after it has told that it waits.
      queueMicrotask(() => {
        try {
          for (const change of changes) running.change(value, change)
          running.go('run')
        } catch (error) {
          failure = error as NodewiseError
          running.stop()
        }
      })
    })
    let failure: NodewiseError | undefined
    await running.run().catch((error: unknown) => {
      throw failure ?? error
    })
    const made = ['y', 'z'].map(name => running.values.get(flat.values.names.indexOf(name)) as Tensor)
    return made.map(({ data }) => [...data])
  }

  test('goes on with an element that was changed, and with a whole value', async () => {
    expect(await outputsAfter({ element: '1, -2', text: '30' })).toEqual([
      [1, 2, 30, 4],
      [0, 0, 60, 0]
    ])
    expect(await outputsAfter({ element: '', text: '[[5, 5], [5, 5]]' }, { element: '0,0', text: '-1' })).toEqual([
      [1, 5, 5, 5],
      [0, 10, 10, 10]
    ])
  })

  test('refuses elements that are not there, other dims, and no numbers', async () => {
    const codes = [
      { element: '2, 0', text: '1' },
      { element: '', text: '[1, 2]' },
      { element: '0, 0', text: '[1, 2]' },
      { element: '0, 0', text: '"a"' }
    ].map(change => outputsAfter(change).catch((error: NodewiseError) => error.code))
    expect(await Promise.all(codes)).toEqual(['bad-usage', 'shape-mismatch', 'shape-mismatch', 'type-mismatch'])
  })
})

test('a gather shows the rows that it took, negative indices counted from the end', async () => {
  const model = await load(`${MODELS}/palette.onnx`)
  const flat = flatten(model)
  const record = recordOfType(flat, 'Gather')
  const index = portsOf(flat.inputs, record)[1]!
  const view = gatherView(flat, new Map([[index, new Tensor('int64', [1n, -1n, 1n], [3])]]), record)!
  const last = view.size - 1
  expect(view.indices).toEqual([1, last, 1])
  expect(view.rows.filter(({ times }) => times > 0)).toMatchObject([
    { index: 1, times: 2 },
    { index: last, times: 1 }
  ])
})

test('the input of a body is not taken for that of the model which has its name', async () => {
  const model = parseModel(`<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x, int64 n, bool c) => (float[2] y) {
      y = Loop (n, c, x) <
        body = b (int64 i, bool k, float[2] x) => (bool m, float[2] z) { m = Identity (k)  z = Neg (x) }
      >
    }`)
  const flat = flatten(model)
  const given: number[] = []
  const inputs = new Map([['n', { how: 'literal', text: '2' } as const]])
  const request = { inputs, sizes: new Map(), seed: 0, breakpoints: [], stopsAtNan: false, stepwise: false }
  await new Running(model, flat, request, (event, steps) => {
    if (event === 'steps') given.push(...(steps as { record: number }[]).map(({ record }) => record))
  }).run()
  const { columns } = flat
  const ports = given.filter(record => record >= 0 && columns.kind[record] === KIND.input)
  expect(ports.map(record => nameOf(columns, record))).toEqual(['x', 'n', 'c'])
})
