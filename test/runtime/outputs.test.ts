import { beforeAll, describe, expect, test } from 'vitest'
import { InferenceSession, type Sequence, Tensor } from '../../src/index.ts'
import { overlap } from '../../src/runtime/outputs.ts'
import { heapStats, isOnHeap } from '../../src/wasm/heap.ts'
import { int64s, node, onnxBytes, port } from '../fixtures/onnx.ts'

const ROWS = 500
const WIDTH = 32
const raw = (name: string, dims: readonly number[], values: Float32Array): object => ({
  name,
  dims,
  dataType: 1,
  rawData: new Uint8Array(values.buffer)
})
const table = Float32Array.from({ length: ROWS * WIDTH }, (_, i) => i)

/** Rows of a table, added to themselves, under other dims; the rows are an output too. */
const bytes = onnxBytes({
  inputs: [port('ids', 'int64', ['n'])],
  outputs: [port('rows', 'float', ['n', WIDTH]), port('flat', 'float', ['m'])],
  nodes: [
    node('Gather', ['table', 'ids'], ['rows']),
    node('Add', ['rows', 'rows'], ['sum']),
    node('Add', ['sum', 'rows'], ['thrice']),
    node('Flatten', ['thrice'], ['flat'], { axis: 0 })
  ],
  initializers: [raw('table', [ROWS, WIDTH], table)]
})
const create = (): Promise<InferenceSession> => InferenceSession.create(bytes)
const ids = (...values: number[]): Tensor<'int64'> => new Tensor('int64', BigInt64Array.from(values, BigInt))
const many = ids(...Array.from({ length: 100 }, (_, i) => i * 3))
const expected = Array.from({ length: 100 * WIDTH }, (_, i) => Math.floor(i / WIDTH) * 3 * WIDTH + (i % WIDTH))
const data = (value: unknown): number[] => [...(value as Tensor<'float32'>).data]
const liesOnHeap = (value: unknown): boolean => isOnHeap((value as Tensor<'float32'>).data)

describe('outputs', () => {
  test("are the caller's own arrays", async () => {
    const session = await create()
    const [first, second] = [await session.run({ ids: many }), await session.run({ ids: ids(1) })]
    expect(data(first.rows)).toEqual(expected)
    expect(data(first.flat)).toEqual(expected.map(value => 3 * value))
    expect(data(second.rows)).toEqual([...table.slice(WIDTH, 2 * WIDTH)])
    for (const output of Object.values(first)) expect(liesOnHeap(output)).toBe(false)
  })

  test('of any size have memory of their own, that of later runs is another one', async () => {
    const session = await create()
    const rows = ids(...Array.from({ length: 2000 }, (_, i) => i % ROWS))
    const all = Array.from({ length: 2000 * WIDTH }, (_, i) => i % (ROWS * WIDTH))
    const seen = new Set<unknown>()
    // The third run is recorded, and others repeat it.
    for (let run = 0; run < 5; run++) {
      const outputs = await session.run({ ids: rows })
      expect(data(outputs.rows)).toEqual(all)
      for (const { data: array } of Object.values(outputs)) {
        const { buffer, byteOffset, byteLength } = array as Float32Array
        expect([buffer instanceof ArrayBuffer, byteOffset, buffer.byteLength]).toEqual([true, 0, byteLength])
        expect(seen.has(buffer)).toBe(false)
        seen.add(buffer)
      }
    }
  })

  test('are written into tensors that the caller gives, which are returned', async () => {
    const session = await create()
    const rows = new Tensor('float32', new Float32Array(100 * WIDTH).fill(7), [100, WIDTH])
    const flat = { type: 'float32', dims: [1, 100 * WIDTH], data: new Float32Array(100 * WIDTH) } as const
    const outputs = await session.run({ ids: many }, { rows, flat })
    expect(outputs.rows).toBe(rows)
    expect(outputs.flat).toBe(flat)
    expect(data(rows)).toEqual(expected)
    expect([...flat.data]).toEqual(expected.map(value => 3 * value))
  })

  test('are fresh where null is given', async () => {
    const outputs = await (await create()).run({ ids: ids(2) }, { rows: null })
    expect(Object.keys(outputs)).toEqual(['rows'])
    expect(data(outputs.rows)).toEqual([...table.slice(2 * WIDTH, 3 * WIDTH)])
  })

  test('are all returned where options stand in second place', async () => {
    const session = await create()
    const types: string[] = []
    const outputs = await session.run({ ids: ids(2) }, { onStep: ({ node }) => types.push(node.type) })
    expect(Object.keys(outputs)).toEqual(['rows', 'flat'])
    expect(types).toContain('Gather')
    expect(Object.keys(await session.run({ ids: ids(2) }, {}))).toEqual(['rows', 'flat'])
    const zeros = await session.run({ ids: ids(ROWS) }, { outOfRange: 'zero' })
    expect(data(zeros.rows)).toEqual(data(new Tensor('float32', new Float32Array(WIDTH), [1, WIDTH])))
    const aborted = session.run({ ids: ids(2) }, { signal: AbortSignal.abort() })
    await expect(aborted).rejects.toMatchObject({ code: 'aborted' })
    for await (const { node } of session.walk({ ids: ids(2) }, { outOfRange: 'error' })) types.push(node.type)
    expect(types.filter(type => type === 'Gather').length).toBe(2)
  })

  test('of any type are written into what is given, whatever that held', async () => {
    const session = await InferenceSession.create(
      onnxBytes({
        inputs: [port('x', 'int64', [3]), port('words', 'string', [3])],
        outputs: [port('y', 'int64', [3]), port('taken', 'string', [3])],
        nodes: [node('Transpose', ['x'], ['y']), node('Gather', ['words', 'x'], ['taken'])]
      })
    )
    const y = new Tensor('int64', [7n, 7n, 7n])
    const taken = new Tensor('string', ['old', 'old', 'old'])
    await session.run(
      { x: ids(2, 5, 0), words: new Tensor('string', ['a', 'b', 'c']) },
      { y, taken },
      { outOfRange: 'zero' }
    )
    expect([...y.data]).toEqual([2n, 5n, 0n])
    expect(taken.data).toEqual(['c', '', 'a'])
  })

  test('of many texts are written into what is given', async () => {
    const parts = {
      inputs: [port('words', 'string', ['n'])],
      outputs: [port('same', 'string', ['n'])],
      nodes: [node('Identity', ['words'], ['same'])]
    }
    const session = await InferenceSession.create(onnxBytes(parts))
    const count = 300_000
    const same = new Tensor('string', new Array<string>(count).fill(''), [count])
    await session.run({ words: new Tensor('string', new Array<string>(count).fill('a'), [count]) }, { same })
    expect(same.data.every(text => text === 'a')).toBe(true)
  })

  test('do not go into a list of numbers, of which there would be a copy', async () => {
    const rows = { type: 'float32', dims: [1, WIDTH], data: new Array<number>(WIDTH).fill(0) } as const
    const run = (await create()).run({ ids: ids(1) }, { rows })
    await expect(run).rejects.toMatchObject({ code: 'type-mismatch', message: /a list is given to write "rows"/ })
  })

  test.each([undefined, 5])('do not go into %s', async given => {
    const run = (await create()).run({ ids: ids(1) }, { rows: given as never, flat: null })
    await expect(run).rejects.toMatchObject({ code: 'type-mismatch', message: /is given to write "rows" into/ })
  })

  test('do not go into a tensor of another type or other dims', async () => {
    const session = await create()
    const run = (target: Tensor): Promise<unknown> => session.run({ ids: ids(1) }, { rows: target })
    await expect(run(new Tensor('float64', new Float64Array(WIDTH), [1, WIDTH]))).rejects.toMatchObject({
      code: 'type-mismatch'
    })
    await expect(run(new Tensor('float32', new Float32Array(WIDTH), [WIDTH]))).rejects.toMatchObject({
      code: 'shape-mismatch'
    })
  })

  test('are right where the tensor given overlaps an input or another one', async () => {
    const session = await InferenceSession.create(
      onnxBytes({
        inputs: [port('x', 'float', [4]), port('ids', 'int64', [4])],
        outputs: [port('y', 'float', [4]), port('z', 'float', [4])],
        nodes: [node('Gather', ['x', 'ids'], ['y']), node('Neg', ['x'], ['z'])]
      })
    )
    const x = new Tensor('float32', [1, 2, 3, 4])
    const reversed = await session.run({ x, ids: ids(3, 2, 1, 0) }, { y: x })
    expect(data(reversed.y)).toEqual([4, 3, 2, 1])
    const memory = new Float32Array(6)
    const [y, z] = [new Tensor('float32', memory.subarray(0, 4)), new Tensor('float32', memory.subarray(2))]
    await session.run({ x, ids: ids(0, 0, 0, 0) }, { y, z })
    expect([...memory]).toEqual([4, 4, -4, -3, -2, -1])
  })

  test('lie apart where one begins where the other ends', () => {
    const memory = new Float32Array(8)
    const [first, second, middle] = [memory.subarray(0, 4), memory.subarray(4), memory.subarray(3, 5)]
    for (const [a, b] of [
      [first, second],
      [second, first]
    ] as const)
      expect(overlap(a, b)).toBe(false)
    for (const part of [first, second]) expect([overlap(part, middle), overlap(middle, part)]).toEqual([true, true])
  })

  test('are right where another one is written into the memory of an input that is an output itself', async () => {
    const session = await InferenceSession.create(
      onnxBytes({
        inputs: [port('x', 'float', ['n']), port('w', 'float', ['n'])],
        outputs: [port('y', 'float', ['n']), port('rows', 'float', [1, 'n']), port('x', 'float', ['n'])],
        nodes: [node('Neg', ['x'], ['y']), node('Unsqueeze', ['x', 'first'], ['rows'])],
        initializers: [int64s('first', [1], [0])]
      })
    )
    const [x, w] = [new Tensor('float32', [1, 2, 3]), new Tensor('float32', [4, 5, 6])]
    const negated = await session.run({ x, w }, { y: x, rows: null, x: null })
    expect([data(negated.y), data(negated.rows), data(negated.x)]).toEqual([
      [-1, -2, -3],
      [1, 2, 3],
      [1, 2, 3]
    ])
    await session.run({ x, w }, { x: w, w: x })
    expect([data(x), data(w)]).toEqual([
      [4, 5, 6],
      [-1, -2, -3]
    ])
  })

  test('are right where the tensor given overlaps the input that it is to hold, over several pieces', async () => {
    const session = await InferenceSession.create(
      onnxBytes({
        inputs: [port('x', 'float', ['n'])],
        outputs: [port('rows', 'float', [1, 'n'])],
        nodes: [node('Unsqueeze', ['x', 'first'], ['rows'])],
        initializers: [int64s('first', [1], [0])]
      })
    )
    const count = 200_000
    const memory = Float32Array.from({ length: count + 1 }, (_, i) => i)
    const x = new Tensor('float32', memory.subarray(0, count))
    await session.run({ x }, { rows: new Tensor('float32', memory.subarray(1), [1, count]) })
    expect(memory.findIndex((value, i) => value !== Math.max(i - 1, 0))).toBe(-1)
  })

  test('may be views, which hold until the next run that asks for views', async () => {
    const session = await create()
    const views = await session.run({ ids: many }, undefined, { views: true })
    expect(liesOnHeap(views.rows)).toBe(true)
    await session.run({ ids: ids(1, 2, 3) })
    expect(data(views.rows)).toEqual(expected)
    expect(data(views.flat)).toEqual(expected.map(value => 3 * value))
    const { blocks } = heapStats()
    await session.run({ ids: many }, undefined, { views: true })
    expect(heapStats().blocks).toBe(blocks)
    session.dispose()
  })
})

describe('memory of the session', () => {
  // What the kernels themselves keep is there from now on.
  beforeAll(async () => {
    const session = await create()
    await session.run({ ids: session.allocate('int64', [1000]) })
    session.dispose()
  })

  test('is lent until it is freed', async () => {
    const session = await create()
    const { blocks } = heapStats()
    const [own, target] = [session.allocate('int64', [1000]), session.allocate('float32', [1000, WIDTH])]
    expect(liesOnHeap(own) && liesOnHeap(target)).toBe(true)
    expect(own.data.every(value => value === 0n)).toBe(true)
    own.data.fill(3n)
    await session.run({ ids: own }, { rows: target })
    expect(data(target).slice(-WIDTH)).toEqual([...table.slice(3 * WIDTH, 4 * WIDTH)])
    session.free(own)
    session.free(target)
    session.free(target)
    // What is left is the table, which the run has read.
    expect(heapStats().blocks).toBeLessThanOrEqual(blocks + 1)
  })

  test('comes back when a run ends, fails or is aborted, and when the session is disposed of', async () => {
    const { blocks } = heapStats()
    const session = await create()
    for (let i = 0; i < 3; i++) {
      await session.run({ ids: many })
      await expect(session.run({ ids: ids(ROWS) })).rejects.toMatchObject({ code: 'index-out-of-range' })
      await expect(session.run({ ids: many }, undefined, { signal: AbortSignal.abort() })).rejects.toMatchObject({
        code: 'aborted'
      })
      for await (const _ of session.walk({ ids: many })) break
    }
    expect(heapStats().blocks).toBeLessThanOrEqual(blocks + 1)
    session.allocate('float32', [5000])
    session.dispose()
    expect(heapStats().blocks).toBe(blocks)
  })

  test('stays while a run needs it, though the session is disposed of', async () => {
    const session = await create()
    const running = session.run({ ids: many })
    session.dispose()
    expect(data((await running).flat)).toEqual(expected.map(value => 3 * value))
  })

  test.each(['a run', 'a run with views', 'a walk'])('comes back where it is disposed of in %s', async how => {
    const { blocks } = heapStats()
    const session = await create()
    const onStep = (): void => session.dispose()
    if (how === 'a walk') for await (const _ of session.walk({ ids: many })) session.dispose()
    else {
      const running = session.run({ ids: many }, how === 'a run' ? { onStep } : { views: true })
      session.dispose()
      expect(data((await running).flat)).toEqual(expected.map(value => 3 * value))
    }
    expect(heapStats().blocks).toBe(blocks)
  })

  test('keeps the runs of 16 calls at once apart', async () => {
    const session = await create()
    const runs = await Promise.all(
      Array.from({ length: 16 }, (_, i) => session.run({ ids: ids(...new Array<number>(200).fill(i)) }))
    )
    runs.forEach((outputs, i) => {
      expect(data(outputs.flat).slice(0, WIDTH)).toEqual(
        Array.from(table.slice(i * WIDTH, (i + 1) * WIDTH), value => 3 * value)
      )
    })
  })

  test('values of events stay as they were', async () => {
    const seen: Tensor[] = []
    await (await create()).run({ ids: many }, undefined, { onStep: ({ outputs }) => seen.push(outputs[0] as Tensor) })
    expect(data(seen[1])).toEqual(expected.map(value => 2 * value))
  })
})

test.each([
  ['', {}],
  [', where steps are watched', { onStep: () => undefined }],
  [', as views', { views: true }]
])('elements of a sequence are each an array of their own%s', async (_, options) => {
  const session = await InferenceSession.create(
    onnxBytes({
      inputs: [port('x', 'float', ['n'])],
      outputs: [{ name: 'twice', type: { sequenceType: { elemType: { tensorType: { elemType: 1 } } } } }],
      nodes: [node('Abs', ['x'], ['y']), node('SequenceConstruct', ['y', 'y'], ['twice'])]
    })
  )
  const x = new Tensor('float32', new Float32Array(5000).fill(-1), [5000])
  const { twice } = (await session.run({ x }, options)) as unknown as { twice: Sequence }
  const [first, second] = twice.values as Tensor<'float32'>[]
  first.data.fill(2)
  expect(second.data.every(value => value === 1)).toBe(true)
  session.dispose()
})
