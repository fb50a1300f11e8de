import { describe, expect, test } from 'vitest'
import { defineOp, InferenceSession, params, shapes, sources, Tensor } from '../../src/index.ts'
import { floats, type GraphParts, int64s, type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'

const table: ModelParts = {
  inputs: [port('ids', 'int64', ['n'])],
  initializers: [floats('table', [3, 2], [0, 1, 10, 11, 20, 21])],
  outputs: [port('rows', 'float', ['n', 2])],
  nodes: [node('Gather', ['table', 'ids'], ['rows'])]
}
const ids = (...values: number[]): Tensor => new Tensor('int64', values.map(BigInt), [values.length])
const data = (value: unknown): unknown[] => [...(value as Tensor).data]

describe('a session', () => {
  test('returns outputs by name', async () => {
    const session = await InferenceSession.create(onnxBytes(table))
    expect(session.inputNames).toEqual(['ids'])
    expect(data((await session.run({ ids: ids(2) })).rows)).toEqual([20, 21])
  })

  test("takes tensors of onnxruntime-common's form", async () => {
    const session = await InferenceSession.create(onnxBytes(table))
    const feed = { type: 'int64' as const, dims: [1], data: BigInt64Array.of(1n), size: 1 }
    expect(data((await session.run({ ids: feed })).rows)).toEqual([10, 11])
  })

  test('says which input is missing, unknown, of the wrong type or of the wrong rank', async () => {
    const session = await InferenceSession.create(onnxBytes(table))
    await expect(session.run({})).rejects.toMatchObject({ code: 'missing-input' })
    for (const nothing of [undefined, null] as unknown as Tensor[])
      await expect(session.run({ ids: nothing })).rejects.toMatchObject({
        code: 'missing-input',
        reason: `input "ids" is given as ${nothing}`
      })
    await expect(session.run({ ids: ids(0), more: ids(0) })).rejects.toMatchObject({ code: 'unexpected-input' })
    await expect(session.run({ ids: new Tensor('int32', [0]) })).rejects.toMatchObject({ code: 'type-mismatch' })
    await expect(session.run({ ids: new Tensor('int64', [0n], [1, 1]) })).rejects.toMatchObject({
      code: 'rank-mismatch'
    })
  })

  test('refuses an array whose memory has been moved elsewhere', async () => {
    const session = await InferenceSession.create(onnxBytes(table))
    const given = ids(1)
    const { buffer } = given.data as BigInt64Array
    structuredClone(buffer, { transfer: [buffer as ArrayBuffer] })
    await expect(session.run({ ids: given })).rejects.toMatchObject({
      code: 'shape-mismatch',
      message: /input "ids" has dims \[1\], but its array is empty/
    })
    expect(data((await session.run({ ids: new Tensor('int64', [], [0]) })).rows)).toEqual([])
  })

  test('holds dims of one name to one size', async () => {
    const session = await InferenceSession.create(
      onnxBytes({ ...table, inputs: [port('ids', 'int64', ['n']), port('other', 'int64', ['n'])] })
    )
    await expect(session.run({ ids: ids(0), other: ids(0, 1) })).rejects.toMatchObject({ code: 'shape-mismatch' })
  })

  test('runs on after a failed run, and runs at once do not meet', async () => {
    const session = await InferenceSession.create(onnxBytes(table))
    const runs = await Promise.allSettled([0, 1, 9, 2].map(id => session.run({ ids: ids(id) })))
    expect(runs.map(run => (run.status === 'fulfilled' ? data(run.value.rows)[0] : run.reason.code))).toEqual([
      0,
      10,
      'index-out-of-range',
      20
    ])
  })

  test('an index error says where the indices come from', async () => {
    const session = await InferenceSession.create(onnxBytes(table))
    await expect(session.run({ ids: ids(9) })).rejects.toThrow(
      'index 9 at [0] is out of range for axis 0 of size 3; the index comes from "ids" (graph input)'
    )
  })

  test('reads zeros out of range when a run asks for it', async () => {
    const session = await InferenceSession.create(onnxBytes(table))
    expect(data((await session.run({ ids: ids(9) }, undefined, { outOfRange: 'zero' })).rows)).toEqual([0, 0])
  })

  test('fetches any value, and a name that is no value is refused', async () => {
    const chain = {
      ...table,
      nodes: [node('Gather', ['table', 'ids'], ['middle']), node('Gather', ['middle', 'ids'], ['rows'])]
    }
    const session = await InferenceSession.create(onnxBytes(chain))
    expect(data((await session.run({ ids: ids(0) }, ['middle'])).middle)).toEqual([0, 1])
    await expect(session.run({ ids: ids(0) }, ['none'])).rejects.toMatchObject({ code: 'unexpected-input' })
  })

  test('each run returns what it asks for, whatever the one before did', async () => {
    const chain = {
      ...table,
      nodes: [node('Gather', ['table', 'ids'], ['middle']), node('Gather', ['middle', 'ids'], ['rows'])]
    }
    const session = await InferenceSession.create(onnxBytes(chain))
    const feeds = { ids: ids(1, 0) }
    const names = ['middle']
    expect(data((await session.run(feeds, names)).middle)).toEqual([10, 11, 0, 1])
    names[0] = 'rows'
    expect(data((await session.run(feeds, names)).rows)).toEqual([0, 1, 10, 11])
    names.push('middle')
    expect(Object.keys(await session.run(feeds, names))).toEqual(['rows', 'middle'])
    expect(Object.keys(await session.run(feeds))).toEqual(['rows'])
    expect(data((await session.run({ ids: ids(5) }, undefined, { outOfRange: 'zero' })).rows)).toEqual([0, 0])
    await expect(session.run({ ids: ids(5) })).rejects.toMatchObject({ code: 'index-out-of-range' })
  })

  test('outputs belong to the caller, also where the graph passes a constant through', async () => {
    const session = await InferenceSession.create(
      onnxBytes({ ...table, outputs: [port('table', 'float', [3, 2])], nodes: [] })
    )
    const first = (await session.run({})).table as Tensor<'float32'>
    first.data.fill(7)
    expect(data((await session.run({})).table)).toEqual([0, 1, 10, 11, 20, 21])
  })

  test('outputs belong to the caller, also where a branch hands on what is known before', async () => {
    const branch = (value: string): GraphParts => ({
      outputs: [port(`${value}_out`, 'int64', [2])],
      nodes: [node('Identity', [value], [`${value}_out`])]
    })
    const session = await InferenceSession.create(
      onnxBytes({
        inputs: [port('choice', 'bool', [])],
        outputs: [port('y', 'int64', [2])],
        nodes: [
          node('Neg', ['a'], ['b']),
          node('If', ['choice'], ['y'], { then_branch: { graph: branch('a') }, else_branch: { graph: branch('b') } })
        ],
        initializers: [int64s('a', [2], [1, 2])]
      })
    )
    for (const [choice, expected] of [
      [true, [1n, 2n]],
      [false, [-1n, -2n]],
      [true, [1n, 2n]],
      [false, [-1n, -2n]]
    ] as const) {
      const y = (await session.run({ choice: new Tensor('bool', [choice], []) })).y as Tensor<'int64'>
      expect([...y.data]).toEqual(expected)
      y.data.fill(9n)
    }
  })

  test('names like __proto__ are names', async () => {
    const session = await InferenceSession.create(
      onnxBytes({
        ...table,
        outputs: [port('__proto__', 'float')],
        nodes: [node('Gather', ['table', 'ids'], ['__proto__'])]
      })
    )
    const result = await session.run({ ids: ids(1) })
    expect(Object.keys(result)).toEqual(['__proto__'])
    expect(data(result['__proto__'])).toEqual([10, 11])
  })

  test('an input with an initializer may be left out or given', async () => {
    const session = await InferenceSession.create(
      onnxBytes({ ...table, inputs: [port('ids', 'int64', [1]), port('table', 'float', [3, 2])] })
    )
    expect(data((await session.run({ ids: ids(1) })).rows)).toEqual([10, 11])
    expect(
      data((await session.run({ ids: ids(1), table: new Tensor('float32', [1, 2, 3, 4, 5, 6], [3, 2]) })).rows)
    ).toEqual([3, 4])
  })

  test('all operators that are missing are named together', async () => {
    const session = await InferenceSession.create(
      onnxBytes({
        inputs: [port('x', 'float', [1])],
        outputs: [port('z', 'float')],
        nodes: [node('NoOp1', ['x'], ['y']), node('NoOp2', ['y'], ['z']), node('NoOp3', ['x'], ['dead'])]
      })
    )
    await expect(session.run({ x: new Tensor('float32', [1]) })).rejects.toMatchObject({
      code: 'unsupported-op',
      details: { types: ['ai.onnx::NoOp1-17', 'ai.onnx::NoOp2-17'] }
    })
  })

  test('a budget stops a run before memory is taken', async () => {
    const session = await InferenceSession.create(onnxBytes(table), { maxMemory: 100 })
    await expect(session.run({ ids: ids(...new Array<number>(1000).fill(0)) })).rejects.toMatchObject({
      code: 'limit-exceeded',
      place: { type: 'Gather' }
    })
    expect(data((await session.run({ ids: ids(1) })).rows)).toEqual([10, 11])
  })

  test('can be disposed of twice; runs after that are refused', async () => {
    const session = await InferenceSession.create(onnxBytes(table))
    session.dispose()
    session.dispose()
    await expect(session.run({ ids: ids(0) })).rejects.toThrow('disposed')
  })

  test('an aborted signal rejects the run', async () => {
    const session = await InferenceSession.create(onnxBytes(table))
    await expect(session.run({ ids: ids(0) }, undefined, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'aborted'
    })
  })
})

test('walking a run hands over every node with its values, then the outputs', async () => {
  const session = await InferenceSession.create(
    onnxBytes({
      ...table,
      nodes: [node('Gather', ['table', 'ids'], ['middle']), node('Gather', ['middle', 'ids'], ['rows'])]
    })
  )
  const walk = session.walk({ ids: ids(0) })
  const seen: unknown[] = []
  let step = await walk.next()
  while (!step.done) {
    seen.push([step.value.node.name, data(step.value.outputs[0])])
    step = await walk.next()
  }
  expect(seen).toEqual([
    ['Gather_middle', [0, 1]],
    ['Gather_rows', [0, 1]]
  ])
  expect(data(step.value.rows)).toEqual([0, 1])
})

test('a walk whose time is up, or whose signal is aborted, while its reader pauses goes no further', async () => {
  const chain = {
    ...table,
    nodes: [node('Gather', ['table', 'ids'], ['middle']), node('Gather', ['middle', 'ids'], ['rows'])]
  }
  const session = await InferenceSession.create(onnxBytes(chain))
  const stop = new AbortController()
  const pauses: [object, () => unknown][] = [
    [{ timeout: 20 }, () => new Promise(resolve => setTimeout(resolve, 40))],
    [{ signal: stop.signal }, () => stop.abort()]
  ]
  for (const [options, pause] of pauses) {
    const walk = session.walk({ ids: ids(0) }, options)
    expect((await walk.next()).done).toBe(false)
    await pause()
    await expect(walk.next()).rejects.toMatchObject({ code: 'aborted' })
  }
})

test('walking a run tells onStep of every node, too', async () => {
  const session = await InferenceSession.create(onnxBytes(table))
  const seen: string[] = []
  for await (const { node } of session.walk({ ids: ids(0) }, { onStep: step => seen.push(`told ${step.node.name}`) }))
    seen.push(node.name)
  expect(seen).toEqual(['told Gather_rows', 'Gather_rows'])
})

test('what replaces an output in a walk is read by the nodes after it, also as an output', async () => {
  const session = await InferenceSession.create(
    onnxBytes({
      inputs: [port('x', 'float', [2])],
      outputs: [port('a', 'float', [2]), port('b', 'float', [2])],
      nodes: [node('Neg', ['x'], ['a']), node('Abs', ['a'], ['b'])]
    })
  )
  const walk = session.walk({ x: new Tensor('float32', [1, 2]) })
  let step = await walk.next()
  for (; !step.done; step = await walk.next())
    if (step.value.node.type === 'Neg') step.value.replace(0, new Tensor('float32', [-5, 6]))
  expect([data(step.value.a), data(step.value.b)]).toEqual([
    [-5, 6],
    [5, 6]
  ])
})

describe("a caller's own operator", () => {
  const scale = defineOp({
    name: 'Scale',
    operands: { x: 'tensor' },
    params: params<{ factor: number }>(),
    onnx: [{ domain: 'my.domain', since: 1, bind: { factor: sources.float('factor', 2) } }],
    shape: ({ x }) => [shapes.tensorFact(x.type, x.shape)],
    run({ x }, { factor }, call) {
      const y = call.output().data as Float32Array
      ;(x.data as Float32Array).forEach((value, i) => {
        y[i] = value * factor
      })
    }
  })
  const model = (attributes: { factor?: { float: number } }): Uint8Array =>
    onnxBytes({
      domains: ['my.domain'],
      inputs: [port('x', 'float', [2])],
      outputs: [port('y', 'float')],
      nodes: [node('Scale', ['x'], ['y'], attributes, 'my.domain')]
    })

  test('runs with its attribute or its default', async () => {
    const x = new Tensor('float32', [1, 2])
    expect(data((await (await InferenceSession.create(model({}), { ops: [scale] })).run({ x })).y)).toEqual([2, 4])
    expect(
      data((await (await InferenceSession.create(model({ factor: { float: 3 } }), { ops: [scale] })).run({ x })).y)
    ).toEqual([3, 6])
  })

  test('belongs to its session alone', async () => {
    await InferenceSession.create(model({}), { ops: [scale] })
    const other = await InferenceSession.create(model({}))
    await expect(other.run({ x: new Tensor('float32', [1, 2]) })).rejects.toMatchObject({ code: 'unsupported-op' })
  })
})

test('a small constant result is folded: its node does not run', async () => {
  const session = await InferenceSession.create(
    onnxBytes({
      ...table,
      initializers: [...(table.initializers ?? []), int64s('one', [1], [1])],
      nodes: [node('Gather', ['table', 'one'], ['row']), node('Gather', ['row', 'ids'], ['rows'])]
    })
  )
  const ran: string[] = []
  expect(
    data((await session.run({ ids: ids(0) }, undefined, { onStep: ({ node: { name } }) => ran.push(name) })).rows)
  ).toEqual([10, 11])
  expect(ran).toEqual(['Gather_rows'])
})
