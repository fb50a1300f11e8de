import { describe, expect, test } from 'vitest'
import { InferenceSession } from '../../../src/index.ts'
import { floats, type GraphParts, int64s, type ModelParts, node, onnxModel, port } from '../../fixtures/onnx.ts'
import { body, layer, net } from '../../openvino/ir.ts'
import {
  alias,
  bools,
  flag,
  float,
  inferIr,
  inferOnnx,
  rejection,
  runIr,
  runOnnx,
  scalar,
  sequencePort
} from '../model.ts'

/** A body with a counter `i`, a condition `c` and a carried `v`; `r` is the next `v`, `s` what is stacked. */
const counting = (parts: Partial<GraphParts> = {}): GraphParts => ({
  inputs: [port('i', 'int64', []), port('c', 'bool', []), port('v', 'float', [2])],
  nodes: [alias('c', 'more'), node('Add', ['v', 'x'], ['r']), alias('r', 's')],
  outputs: [port('more', 'bool', []), port('r', 'float', [2]), port('s', 'float', [2])],
  ...parts
})

const loop = (graph: GraphParts, parts: Partial<ModelParts> = {}, inputs = ['n', 'go', 'x']): ModelParts => ({
  inputs: [port('n', 'int64', []), port('go', 'bool', []), port('x', 'float', [2])],
  nodes: [node('Loop', inputs, ['last', 'all'], { body: { graph } })],
  outputs: [port('last', 'float'), port('all', 'float')],
  ...parts
})

const feeds = (n: number, go = true): Record<string, ReturnType<typeof scalar>> => ({
  n: scalar(n),
  go: flag(go),
  x: float(1, 2)
})

/** Goes on while the counter is below 2: three iterations. */
const threeTimes = counting({
  nodes: [node('Less', ['i', 'two'], ['more']), node('Add', ['v', 'x'], ['r']), alias('r', 's')],
  initializers: [int64s('two', [], [2])]
})

describe('ONNX Loop', () => {
  test('carries a value round, reads one from outside and stacks the third', async () => {
    expect(await runOnnx(loop(counting()), feeds(3))).toEqual({ last: [[2], 4, 8], all: [[3, 2], 2, 4, 3, 6, 4, 8] })
  })

  test('stops on its condition, however large the trip count is', async () => {
    const result = await runOnnx(loop(threeTimes), {
      ...feeds(0),
      n: { type: 'int64', dims: [], data: BigInt64Array.of(2n ** 62n) }
    })
    expect(result).toEqual({ last: [[2], 4, 8], all: [[3, 2], 2, 4, 3, 6, 4, 8] })
  })

  test('needs no trip count', async () => {
    const { last } = await runOnnx(loop(threeTimes, {}, ['', 'go', 'x']), { go: flag(true), x: float(1, 2) })
    expect(last).toEqual([[2], 4, 8])
  })

  test('without a condition pays no heed to what the body gives for it', async () => {
    const { last } = await runOnnx(loop(threeTimes, {}, ['n', '', 'x']), { n: scalar(5), x: float(1, 2) })
    expect(last).toEqual([[2], 6, 12])
  })

  test('without iterations gives the initial value and nothing stacked', async () => {
    for (const given of [feeds(0), feeds(-3), feeds(5, false)]) {
      expect(await runOnnx(loop(counting()), given)).toEqual({ last: [[2], 1, 2], all: [[0, 2]] })
    }
  })

  test('hands counter and condition over with the rank that the body declares', async () => {
    const graph = counting({
      inputs: [port('i', 'int64', [1]), port('c', 'bool', [1]), port('v', 'float', [2])],
      nodes: [alias('c', 'more'), alias('v', 'r'), alias('i', 's')],
      outputs: [port('more', 'bool', [1]), port('r', 'float', [2]), port('s', 'int64', [1])]
    })
    expect((await runOnnx(loop(graph), feeds(3))).all).toEqual([[3, 1], 0, 1, 2])
  })

  test('a carried value may change its dims', async () => {
    const graph = counting({
      nodes: [alias('c', 'more'), node('Concat', ['v', 'x'], ['r'], { axis: 0 }), alias('x', 's')]
    })
    expect((await runOnnx(loop(graph), feeds(2))).last).toEqual([[6], 1, 2, 1, 2, 1, 2])
  })

  test('a stacked value may not', async () => {
    const graph = counting({
      nodes: [alias('c', 'more'), node('Concat', ['v', 'x'], ['r'], { axis: 0 }), alias('v', 's')]
    })
    const error = await rejection(runOnnx(loop(graph), feeds(2)))
    expect(error).toMatchObject({ code: 'dims-mismatch', place: { nodeIndex: 0, type: 'Loop' } })
    expect(error.reason).toBe('iteration 0 has dims [2] and iteration 1 [4]; they do not fit together')
  })

  test('sequences go round', async () => {
    const graph: GraphParts = {
      inputs: [port('i', 'int64', []), port('c', 'bool', []), sequencePort('v', 'int64')],
      nodes: [alias('c', 'more'), node('SequenceInsert', ['v', 'i'], ['r'])],
      outputs: [port('more', 'bool', []), sequencePort('r', 'int64')]
    }
    const model: ModelParts = {
      inputs: [port('n', 'int64', [])],
      nodes: [
        node('SequenceEmpty', [], ['empty'], { dtype: 7 }),
        node('Loop', ['n', '', 'empty'], ['list'], { body: { graph } })
      ],
      outputs: [sequencePort('list', 'int64')]
    }
    expect(await runOnnx(model, { n: scalar(3) })).toEqual({
      list: [
        [[], 0],
        [[], 1],
        [[], 2]
      ]
    })
    expect(await inferOnnx(model)).toEqual({ list: '? of []' })
  })

  test('loops in loops read values of every graph around them', async () => {
    const inner: GraphParts = {
      inputs: [port('j', 'int64', []), port('d', 'bool', []), port('w', 'int64', [])],
      nodes: [
        alias('d', 'on'),
        node('Mul', ['i', 'j'], ['ij']),
        node('Add', ['w', 'ij'], ['w1']),
        node('Add', ['w1', 'n'], ['w2'])
      ],
      outputs: [port('on', 'bool', []), port('w2', 'int64', [])]
    }
    const outer: GraphParts = {
      inputs: [port('i', 'int64', []), port('c', 'bool', []), port('v', 'int64', [])],
      nodes: [alias('c', 'more'), node('Loop', ['n', '', 'v'], ['r'], { body: { graph: inner } })],
      outputs: [port('more', 'bool', []), port('r', 'int64', [])]
    }
    const model = {
      inputs: [port('n', 'int64', [])],
      initializers: [int64s('zero', [], [0])],
      nodes: [node('Loop', ['n', '', 'zero'], ['sum'], { body: { graph: outer } })],
      outputs: [port('sum', 'int64', [])]
    }
    // Sum of i*j for i, j below 3 is 9, and 3 is added nine times.
    expect(await runOnnx(model, { n: scalar(3) })).toEqual({ sum: [[], 36] })
  })

  test('a failure in the body has the place of its node', async () => {
    const graph = counting({
      nodes: [alias('c', 'more'), alias('v', 'r'), node('Gather', ['v', 'i'], ['s'])],
      outputs: [port('more', 'bool', []), port('r', 'float', [2]), port('s', 'float', [])]
    })
    const error = await rejection(runOnnx(loop(graph), feeds(3)))
    expect(error).toMatchObject({
      code: 'index-out-of-range',
      details: { index: '2', size: 2 },
      place: { graphPath: '0:body', nodeIndex: 2, type: 'Gather' }
    })
    expect(error.message).toContain('the index comes from "i" (input of the body)')
  })

  test('a carried value may not change its type', async () => {
    const graph = counting({
      nodes: [alias('c', 'more'), alias('i', 'r'), alias('v', 's')],
      outputs: [port('more', 'bool', []), port('r', 'int64', []), port('s', 'float', [2])]
    })
    const error = await rejection(runOnnx(loop(graph), feeds(3)))
    expect(error.code).toBe('type-mismatch')
    expect(error.reason).toBe('what goes round as input 2 of the body changes: it has type float32 and type int64')
  })

  test('a body with the wrong number of inputs or outputs is refused', async () => {
    expect(
      (await rejection(runOnnx(loop(counting({ inputs: [port('i', 'int64', []), port('c', 'bool', [])] })), feeds(1))))
        .code
    ).toBe('invalid-graph')
    expect(
      (
        await rejection(
          runOnnx(loop(counting({ outputs: [port('more', 'bool', []), port('r', 'float', [2])] })), feeds(1))
        )
      ).code
    ).toBe('invalid-graph')
  })

  test('an endless loop hears an abort', async () => {
    const graph: GraphParts = {
      inputs: [port('i', 'int64', []), port('c', 'bool', []), port('v', 'float', [2])],
      nodes: [],
      outputs: [port('c', 'bool', []), port('v', 'float', [2])]
    }
    const model = {
      ...loop(graph, {}, ['', '', 'x']),
      inputs: [port('x', 'float', [2])],
      nodes: [node('Loop', ['', '', 'x'], ['last'], { body: { graph } })],
      outputs: [port('last', 'float')]
    }
    const abort = new AbortController()
    setTimeout(() => abort.abort(), 50)
    expect((await rejection(runOnnx(model, { x: float(1, 2) }, { run: { signal: abort.signal } }))).code).toBe(
      'aborted'
    )
  })

  test('what dies in an iteration makes room for the next; what is kept counts', async () => {
    const noStack = { ...counting({ outputs: [port('more', 'bool', []), port('r', 'float', [2])] }) }
    const model = loop(noStack, {
      nodes: [node('Loop', ['n', 'go', 'x'], ['last'], { body: { graph: noStack } })],
      outputs: [port('last', 'float')]
    })
    expect((await runOnnx(model, feeds(1000), { maxMemory: 200 })).last).toEqual([[2], 1001, 2002])
    expect((await rejection(runOnnx(loop(counting()), feeds(1000), { maxMemory: 200 }))).code).toBe('limit-exceeded')
  })

  test('outputs that are constants of the body belong to the caller', async () => {
    const graph = counting({
      nodes: [alias('c', 'more')],
      initializers: [floats('r', [2], [7, 8]), floats('s', [2], [1, 1])]
    })
    const session = new InferenceSession(await onnxModel(loop(graph)))
    const first = (await session.run(feeds(1))).last as unknown as { data: Float32Array }
    first.data.fill(0)
    expect((await session.run(feeds(1))).last).toMatchObject({ data: Float32Array.of(7, 8) })
  })
})

describe('the shape rule of ONNX Loop', () => {
  const constant = (n: number, go = 1): Partial<ModelParts> => ({
    inputs: [port('x', 'float', [2])],
    initializers: [int64s('n', [], [n]), bools('go', [], [go])]
  })

  test('a constant trip count and a condition that stays true give the stacked dim', async () => {
    expect(await inferOnnx(loop(counting(), constant(4)))).toEqual({ last: '[2]', all: '[4, 2]' })
  })

  test('else it is open within what is known', async () => {
    expect((await inferOnnx(loop(counting()))).all).toBe('[?, 2]')
    expect((await inferOnnx(loop(threeTimes, constant(7)))).all).toBe('[1..7, 2]')
    expect(
      (
        await inferOnnx(
          loop(counting(), {
            ...constant(7),
            inputs: [port('x', 'float', [2]), port('go', 'bool', [])],
            initializers: [int64s('n', [], [7])]
          })
        )
      ).all
    ).toBe('[0..7, 2]')
  })

  test('a trip count that is a dim stays that dim', async () => {
    const parts = loop(counting(), {
      inputs: [port('x', 'float', [2]), port('y', 'float', ['batch', 3])],
      initializers: [int64s('zero', [], [0]), bools('go', [], [1])],
      nodes: [
        node('Shape', ['y'], ['dims']),
        node('Gather', ['dims', 'zero'], ['n']),
        node('Loop', ['n', 'go', 'x'], ['last', 'all'], { body: { graph: counting() } })
      ]
    })
    expect(await inferOnnx(parts)).toEqual({ last: '[2]', all: '[batch, 2]' })
  })

  test('a carried dim that grows is open upward, one that stays is kept', async () => {
    const graph = counting({
      inputs: [port('i', 'int64', []), port('c', 'bool', []), port('v', 'float')],
      nodes: [alias('c', 'more'), node('Concat', ['v', 'row'], ['r'], { axis: 0 }), alias('v', 's')],
      initializers: [floats('row', [1, 3], [0, 0, 0])],
      outputs: [port('more', 'bool', []), port('r', 'float'), port('s', 'float')]
    })
    const parts = loop(graph, {
      inputs: [port('n', 'int64', []), port('x', 'float', [1, 3])],
      initializers: [bools('go', [], [1])]
    })
    expect((await inferOnnx(parts)).last).toBe('[1.., 3]')
  })

  test('a loop that is known never to run gives what it was given', async () => {
    expect(await inferOnnx(loop(counting(), constant(0)))).toEqual({ last: '[2]', all: '[0, 2]' })
    expect(await inferOnnx(loop(counting(), constant(4, 0)))).toEqual({ last: '[2]', all: '[0, 2]' })
  })
})

/** A body that adds its counter to what it carries: Parameters 0 carried, 1 counter; Results 5 condition, 6 sum. */
const IR_BODY = body(
  [
    layer(0, 'Parameter', { data: 'shape="2" element_type="i64"', out: ['0:I64[2]'] }),
    layer(1, 'Parameter', { data: 'shape="1" element_type="i64"', out: ['0:I64[1]'] }),
    layer(2, 'Add', { data: 'auto_broadcast="numpy"', in: ['0', '1'], out: ['2:I64[2]'] }),
    layer(3, 'Const', { data: 'element_type="boolean" shape="" offset="0" size="1"', out: ['0:BOOL'] }),
    layer(5, 'Result', { in: ['0'] }),
    layer(6, 'Result', { in: ['0'] })
  ],
  ['0:0>2:0', '1:0>2:1', '3:0>5:0', '2:2>6:0']
)

const PORT_MAP = `<port_map>
  <input external_port_id="2" internal_layer_id="0"/>
  <input external_port_id="-1" internal_layer_id="1" purpose="current_iteration"/>
  <output external_port_id="3" internal_layer_id="6"/>
  <output external_port_id="4" internal_layer_id="6" axis="0"/>
  <output external_port_id="-1" internal_layer_id="5" purpose="execution_condition"/>
</port_map><back_edges><edge from-layer="6" to-layer="0"/></back_edges>`

const TRIP = layer(0, 'Parameter', { name: 'n', data: 'shape="" element_type="i32"', out: ['0:I32'] })
const TWICE = layer(0, 'Const', { data: 'element_type="i32" shape="" offset="4" size="4"', out: ['0:I32'] })

const irLoop = (condition: string, portMap = PORT_MAP, trip = TRIP): string =>
  net(
    [
      trip,
      condition,
      layer(2, 'Parameter', { name: 'x', data: 'shape="2" element_type="i64"', out: ['0:I64[2]'] }),
      layer(3, 'Loop', {
        version: 'opset5',
        in: ['0', '1', '2'],
        out: ['3:I64', '4:I64'],
        more: `${portMap}<body>${IR_BODY}</body>`
      }),
      layer(4, 'Result', { name: 'last', in: ['0'] }),
      layer(5, 'Result', { name: 'all', in: ['0'] })
    ],
    ['0:0>3:0', '1:0>3:1', '2:0>3:2', '3:3>4:0', '3:4>5:0']
  )

const CONDITION = layer(1, 'Parameter', { name: 'go', data: 'shape="1" element_type="boolean"', out: ['0:BOOL[1]'] })
const NEVER = layer(1, 'Const', { data: 'element_type="boolean" shape="" offset="1" size="1"', out: ['0:BOOL'] })
/** The body's condition, the one from outside, and a trip count at byte 4. */
const STOPS = Uint8Array.of(0, 1, 0, 0, 2, 0, 0, 0)
const GOES_ON = Uint8Array.of(1, 0, 0, 0, 2, 0, 0, 0)

describe('OpenVINO Loop', () => {
  const given = (n: number, go: boolean): Record<string, unknown> => ({
    n: { type: 'int32', dims: [], data: Int32Array.of(n) },
    go: { type: 'bool', dims: [1], data: Uint8Array.of(Number(go)) },
    x: { type: 'int64', dims: [2], data: BigInt64Array.of(10n, 20n) }
  })
  const run = async (n: number, go: boolean, bin: Uint8Array): Promise<unknown> =>
    (await runIr(irLoop(CONDITION), [given(n, go) as never], bin))[0]

  test('is connected by its port map', async () => {
    expect(await run(3, true, GOES_ON)).toEqual({ last: [[2], 13, 23], all: [[6], 10, 20, 11, 21, 13, 23] })
  })

  test('a trip count below zero is no limit', async () => {
    expect(await run(-1, true, STOPS)).toEqual({ last: [[2], 10, 20], all: [[2], 10, 20] })
  })

  test('a condition that turns out false leaves the initial value', async () => {
    expect(await run(3, false, GOES_ON)).toEqual({ last: [[2], 10, 20], all: [[0]] })
    expect(await run(0, true, GOES_ON)).toEqual({ last: [[2], 10, 20], all: [[0]] })
  })

  test('a condition that is known to be false leaves no elements, as OpenVINO infers it', async () => {
    const { go: _, ...feeds } = given(3, false)
    expect(await runIr(irLoop(NEVER), [feeds as never], GOES_ON)).toEqual([{ last: [[0]], all: [[0]] }])
    expect(inferIr(irLoop(NEVER), GOES_ON)).toEqual({ last: '[0]', all: '[0]' })
  })

  test('a constant trip count multiplies the concatenated dim; where it is not known, that is open', () => {
    const always = NEVER.replace('offset="1"', 'offset="0"')
    expect(inferIr(irLoop(always, PORT_MAP, TWICE), GOES_ON)).toEqual({ last: '[2]', all: '[4]' })
    expect(inferIr(irLoop(always), GOES_ON)).toEqual({ last: '[2]', all: '[?]' })
  })

  test('a port map without execution_condition is refused', async () => {
    const xml = irLoop(CONDITION, PORT_MAP.replace(/<output external_port_id="-1".*/, ''))
    expect((await rejection(runIr(xml, [given(1, true) as never], GOES_ON))).code).toBe('invalid-graph')
  })
})
