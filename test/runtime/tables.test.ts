import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type ByteSource, bytesSource, fileSource } from '../../src/files/byte-source.ts'
import type { Model } from '../../src/graph/graph.ts'
import { check, InferenceSession } from '../../src/index.ts'
import { loadOnnx } from '../../src/onnx/load.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { floats, node, onnxBytes, port } from '../fixtures/onnx.ts'
import {
  type Counting,
  counting,
  external,
  gathered,
  ids,
  ir,
  MIB,
  onnx,
  outcome,
  random,
  rowsOfTable,
  tableBytes,
  valueAt
} from './table-models.ts'

const folder = mkdtempSync(join(tmpdir(), 'nodewise-tables-'))
afterAll(() => rmSync(folder, { recursive: true }))

const ROWS = 16384
const WIDTH = 1024

/** Comparing element by element takes seconds. */
const areRows = (tensor: unknown, rows: readonly number[], width: number): boolean =>
  Buffer.from((tensor as Tensor<'float32'>).data.buffer).equals(Buffer.from(rowsOfTable(rows, width).buffer))

describe('a table of 64 MiB', () => {
  const bytes = new Uint8Array(64 * MIB + 8)
  bytes.set(tableBytes(ROWS * WIDTH))
  const path = join(folder, 'table.bin')
  const descriptor = openSync(path, 'w')
  writeSync(descriptor, bytes)
  closeSync(descriptor)
  const asked = random(200, ROWS)
  const rowBytes = 4 * WIDTH
  const file = (): Counting => counting(fileSource(path, 'w.bin'))

  const sources: Record<string, (weights: () => Counting) => { model: Model; weights: Counting }> = {
    'external data': make => {
      const weights = make()
      return { model: onnx(gathered({ initializers: [external([ROWS, WIDTH])] }), weights), weights }
    },
    'a .bin': make => {
      const weights = make()
      return { model: ir([ROWS, WIDTH], weights, 'Gather'), weights }
    },
    'an .onnx file': () => {
      const table = { name: 'table', dims: [ROWS, WIDTH], dataType: 1, rawData: bytes.subarray(0, 64 * MIB) }
      const weights = counting(bytesSource('m.onnx', onnxBytes(gathered({ initializers: [table] }))))
      return { model: loadOnnx(weights, { file: 'm.onnx' }), weights }
    }
  }

  test.each(Object.keys(sources))('in %s is read by the row', async name => {
    const { model, weights } = sources[name](file)
    expect(weights.bytes).toBeLessThan(16384)
    const { rows } = await new InferenceSession(model).run({ ids: ids(asked) })
    expect(rows.dims).toEqual([200, WIDTH])
    expect(areRows(rows, asked, WIDTH)).toBe(true)
    expect(weights.bytes).toBeLessThan(2 * 200 * rowBytes)
  })

  test.each(Object.keys(sources))('in %s is not read to check the model', name => {
    const { model, weights } = sources[name](file)
    expect(check(model).findings.filter(finding => finding.severity === 'error')).toEqual([])
    expect(weights.bytes).toBeLessThan(16384)
  })

  test('rows that are asked for twice are read once, near ones together, and no read is large', async () => {
    const { model, weights } = sources['external data'](file)
    await new InferenceSession(model).run({ ids: ids([5, 7, 5, 9, 7, 5]) })
    expect(weights.bytes).toBe(5 * rowBytes)
    expect(weights.largest).toBe(5 * rowBytes)
    await new InferenceSession(model).run({ ids: ids(Array.from({ length: 1024 }, (_, i) => i)) })
    expect(weights.largest).toBe(MIB)
  })

  test('is read whole when rows have cost as much as that, and then held', async () => {
    const { model, weights } = sources['external data'](file)
    const session = new InferenceSession(model)
    let runs = 0
    while (weights.largest < 64 * MIB && runs < 1000) {
      const some = random(200, ROWS, ++runs)
      expect(areRows((await session.run({ ids: ids(some) })).rows, some, WIDTH)).toBe(true)
    }
    expect(runs).toBeGreaterThan(10)
    expect(runs).toBeLessThan(200)
    weights.bytes = 0
    expect(areRows((await session.run({ ids: ids(asked) })).rows, asked, WIDTH)).toBe(true)
    expect(weights.bytes).toBe(0)
  })

  test('is read by the row for ever where it is larger than the budget', async () => {
    const { model, weights } = sources['external data'](file)
    const session = new InferenceSession(model, { maxMemory: 60 * MIB })
    for (let i = 1; i <= 100; i++) await session.run({ ids: ids(random(200, ROWS, i)) })
    expect(weights.largest).toBeLessThanOrEqual(MIB)
  })

  test('gives way when a run needs the memory', async () => {
    const weights = file()
    const model = onnx(
      gathered({
        inputs: [port('ids', 'int64'), port('x', 'float')],
        initializers: [external([ROWS, WIDTH])],
        outputs: [port('rows', 'float'), port('y', 'float')],
        nodes: [node('Gather', ['table', 'ids'], ['rows']), node('Neg', ['x'], ['y'])]
      }),
      weights
    )
    const session = new InferenceSession(model, { maxMemory: 80 * MIB })
    const run = (size: number) => session.run({ ids: ids(asked), x: new Tensor('float32', new Float32Array(size)) })
    for (let i = 0; weights.largest < 64 * MIB && i < 1000; i++) await run(1)
    expect(weights.largest).toBe(64 * MIB)
    expect(areRows((await run(10 * MIB)).rows, asked, WIDTH)).toBe(true)
    weights.bytes = 0
    expect(areRows((await run(1)).rows, asked, WIDTH)).toBe(true)
    expect(weights.bytes).toBeGreaterThan(0)
    expect(weights.bytes).toBeLessThan(2 * 200 * rowBytes)
  })

  test('is refused where all of it is needed and does not fit', async () => {
    const parts = gathered({ initializers: [external([ROWS, WIDTH])], nodes: [node('ReduceSum', ['table'], ['rows'])] })
    const { weights, model } = {
      weights: file(),
      model: (source: ByteSource) => onnx({ ...parts, inputs: [] }, source)
    }
    expect(await outcome(model(weights), {}, { maxMemory: 60 * MIB })).toMatchObject({
      code: 'limit-exceeded',
      // It is read when the kernel asks for it, which has made its result then.
      reason:
        `a constant of type float32 and dims [${ROWS}, ${WIDTH}] takes ${64 * MIB} bytes; ` +
        `4 of ${60 * MIB} are in use`
    })
    expect(weights.bytes).toBe(0)
    expect(await outcome(model(weights), {}, { maxMemory: 65 * MIB })).toMatchObject({ dims: [1, 1] })
  })

  test('is whole where one node needs it whole and another looks rows up', async () => {
    const weights = file()
    const nodes = [node('ReduceMax', ['table'], ['most'], { keepdims: 0 }), node('Gather', ['table', 'ids'], ['rows'])]
    const model = onnx(
      gathered({
        initializers: [external([ROWS, WIDTH])],
        nodes,
        outputs: [port('most', 'float'), port('rows', 'float')]
      }),
      weights
    )
    const { most, rows } = await new InferenceSession(model, { maxMemory: 80 * MIB }).run({
      ids: ids(asked)
    })
    expect([...most.data]).toEqual([65520])
    expect(areRows(rows, asked, WIDTH)).toBe(true)
    expect(weights.bytes).toBe(64 * MIB)
  })

  test('can be fetched itself', async () => {
    const { model } = sources['external data'](file)
    const { table } = await new InferenceSession(model).run({}, ['table'])
    expect(table.dims).toEqual([ROWS, WIDTH])
    expect((table.data as Float32Array)[WIDTH * 3 + 1]).toBe(valueAt(WIDTH * 3 + 1))
  })

  test('is read by the row from inside a body', async () => {
    const weights = file()
    const branch = (name: string, bias: string) => ({
      graph: {
        nodes: [node('Gather', ['table', 'ids'], [`${name}r`]), node('Add', [`${name}r`, bias], [name])],
        outputs: [port(name, 'float')]
      }
    })
    const inner = {
      graph: {
        nodes: [node('If', ['yes'], ['d'], { then_branch: branch('e', 'one'), else_branch: branch('f', 'two') })],
        outputs: [port('d', 'float')]
      }
    }
    const model = onnx(
      {
        inputs: [port('ids', 'int64'), port('yes', 'bool', [])],
        initializers: [external([ROWS, WIDTH]), floats('one', [1], [1]), floats('two', [1], [2])],
        outputs: [port('rows', 'float')],
        nodes: [node('If', ['yes'], ['rows'], { then_branch: inner, else_branch: branch('b', 'two') })]
      },
      weights
    )
    const session = new InferenceSession(model)
    for (const yes of [1, 0]) {
      const { rows } = await session.run<{ rows: Tensor<'float32'> }>({
        ids: ids(asked),
        yes: new Tensor('bool', [yes], [])
      })
      rows.data.forEach((value, i) => {
        rows.data[i] = value - 2 + yes
      })
      expect(areRows(rows, asked, WIDTH)).toBe(true)
    }
    expect(weights.bytes).toBeLessThan(4 * 200 * rowBytes)
  })

  test('serves runs at once, also while it changes from rows to whole', async () => {
    const { model } = sources['a .bin'](file)
    const session = new InferenceSession(model)
    const lists = Array.from({ length: 40 }, (_, i) => random(500, ROWS, i + 1))
    const results = await Promise.all(lists.map(list => session.run({ ids: ids(list) })))
    expect(results.every(({ rows }, i) => areRows(rows, lists[i], WIDTH))).toBe(true)
  })

  test('a step shows the indices as they are, and of the table the rows that were read', async () => {
    const { model } = sources['external data'](file)
    const seen: unknown[] = []
    await new InferenceSession(model).run({ ids: ids([9, 3, 9]) }, undefined, {
      onStep: ({ inputs }) =>
        seen.push(
          inputs.map(input => (input as Tensor).dims),
          (input => [...input.data])(inputs[1] as Tensor)
        )
    })
    expect(seen).toEqual([
      [[2, WIDTH], [3]],
      [9n, 3n, 9n]
    ])
  })
})

describe('constants count', () => {
  test('once, however many runs read them', async () => {
    const parts = {
      inputs: [],
      outputs: [port('y', 'float')],
      initializers: [floats('x', [2000], new Array<number>(2000).fill(1))],
      nodes: [node('Neg', ['x'], ['y'])]
    }
    const session = new InferenceSession(onnx(parts), { maxMemory: 16_000 })
    for (let i = 0; i < 3; i++) expect((await session.run({})).y).toMatchObject({ dims: [2000] })
    await expect(new InferenceSession(onnx(parts), { maxMemory: 15_999 }).run({})).rejects.toMatchObject({
      code: 'limit-exceeded'
    })
  })
})
