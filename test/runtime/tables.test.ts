import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { NodewiseError } from '../../src/errors.ts'
import { type ByteSource, bytesSource, fileSource } from '../../src/files/byte-source.ts'
import type { Model } from '../../src/graph/graph.ts'
import { check, InferenceSession, type SessionOptions } from '../../src/index.ts'
import { loadOnnx } from '../../src/onnx/load.ts'
import { loadOpenvino } from '../../src/openvino/load.ts'
import { defaultMemory } from '../../src/runtime/memory.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { floats, int64s, type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'
import fc from '../fixtures/random-cases.ts'
import { layer, net } from '../openvino/ir.ts'

const folder = mkdtempSync(join(tmpdir(), 'nodewise-tables-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A source that counts what is read of it, and never hands out views of memory. */
interface Counting extends ByteSource {
  bytes: number
  largest: number
}

const counting = (source: ByteSource): Counting => ({
  name: source.name,
  size: source.size,
  bytes: 0,
  largest: 0,
  read(offset, length, target) {
    this.bytes += length
    this.largest = Math.max(this.largest, length)
    return source.inMemory ? source.read(offset, length).slice() : source.read(offset, length, target)
  }
})

const external = (dims: readonly number[], offset = 0, dataType = 1): object => ({
  name: 'table',
  dims,
  dataType,
  dataLocation: 1,
  externalData: [
    { key: 'location', value: 'w.bin' },
    { key: 'offset', value: `${offset}` }
  ]
})

const gathered = (parts: Partial<ModelParts> = {}, axis = 0): ModelParts => ({
  inputs: [port('ids', 'int64')],
  outputs: [port('rows', 'float')],
  nodes: [node('Gather', ['table', 'ids'], ['rows'], { axis })],
  ...parts
})

const onnx = (parts: ModelParts, weights?: ByteSource): Model =>
  loadOnnx(bytesSource('m.onnx', onnxBytes(parts)), { file: 'm.onnx', ...(weights && { openExternal: () => weights }) })

/**
 * A Const of the .bin, from its start, whose rows `layers` look up; their axis and default index follow it in the file.
 */
const PRECISION: Readonly<Record<string, string>> = {
  i64: 'I64',
  f32: 'FP32',
  boolean: 'BOOL',
  u1: 'BIN',
  u2: 'U2',
  u3: 'U3',
  u4: 'U4',
  i4: 'I4',
  u6: 'U6',
  nf4: 'NF4'
}
const BITS: Readonly<Record<string, number>> = {
  i64: 64,
  f32: 32,
  boolean: 8,
  u1: 1,
  u2: 2,
  u3: 3,
  u4: 4,
  i4: 4,
  u6: 6,
  nf4: 4
}
function ir(
  dims: readonly number[],
  bin: ByteSource,
  lookup: 'Gather' | 'EmbeddingBagOffsetsSum',
  type = 'f32'
): Model {
  const count = dims.reduce((a, b) => a * b, 1)
  const size = Math.ceil((count * BITS[type]) / 8)
  const constant = (id: number, element: string, shape: string, offset: number, bytes: number, names = ''): string =>
    layer(id, 'Const', {
      ...(names && { names }),
      data: `element_type="${element}" shape="${shape}" offset="${offset}" size="${bytes}"`,
      out: [`0:${PRECISION[element]}[${shape}]`]
    })
  const isBag = lookup !== 'Gather'
  return loadOpenvino(
    bytesSource(
      'm.xml',
      new TextEncoder().encode(
        net(
          [
            constant(0, type, dims.join(','), 0, size, 'table'),
            layer(1, 'Parameter', {
              name: 'ids',
              data: `shape="?" element_type="i64"`,
              out: ['0:I64[-1]'],
              names: 'ids'
            }),
            ...(isBag
              ? [
                  layer(2, 'Parameter', {
                    name: 'offsets',
                    data: 'shape="?" element_type="i64"',
                    out: ['0:I64[-1]'],
                    names: 'offsets'
                  })
                ]
              : []),
            constant(3, 'i64', '', size, 8),
            layer(4, lookup, {
              version: isBag ? 'opset3' : 'opset8',
              ...(!isBag && { data: 'batch_dims="0"' }),
              in: isBag ? ['0', '1', '2', '3'] : ['0', '1', '2'],
              out: [`4:${PRECISION[type]}[-1${',-1'.repeat(dims.length - 1)}]`],
              names: 'rows'
            }),
            layer(5, 'Result', { in: ['0'] })
          ],
          isBag ? ['0:0>4:0', '1:0>4:1', '2:0>4:2', '3:0>4:3', '4:4>5:0'] : ['0:0>4:0', '1:0>4:1', '3:0>4:2', '4:4>5:0']
        )
      )
    ),
    { file: 'm.xml', bin: () => bin }
  )
}

const ids = (values: readonly number[], dims = [values.length]): Tensor => new Tensor('int64', values.map(BigInt), dims)
const random = (count: number, below: number, seed = 1): number[] => {
  let state = seed
  return Array.from({ length: count }, () => (state = (state * 48271) % 0x7fffffff) % below)
}

const ROWS = 16384
const WIDTH = 1024
const MIB = 2 ** 20

/** Element `i` of a table is `i` modulo a prime, so that rows differ. */
const valueAt = (i: number): number => i % 65521
const values = new Float32Array(ROWS * WIDTH)
for (let i = 0; i < values.length; i++) values[i] = valueAt(i)
const bytesOf = (count: number): Uint8Array => new Uint8Array(values.buffer, 0, 4 * count)

function expected(rows: readonly number[], width: number): Float32Array {
  const result = new Float32Array(rows.length * width)
  rows.forEach((row, i) => result.set(values.subarray(row * width, (row + 1) * width), i * width))
  return result
}
/** Comparing element by element takes seconds. */
const areRows = (tensor: unknown, rows: readonly number[], width: number): boolean =>
  Buffer.from((tensor as Tensor<'float32'>).data.buffer).equals(Buffer.from(expected(rows, width).buffer))

/** What a run gives, or its failure. */
async function outcome(model: Model, feeds: Record<string, Tensor>, options: SessionOptions = {}): Promise<unknown> {
  try {
    return (await new InferenceSession(model, options).run(feeds)).rows
  } catch (error) {
    const { code, reason, details } = error as NodewiseError
    return { code, reason, details }
  }
}

describe('a table of 64 MiB', () => {
  const bytes = new Uint8Array(64 * MIB + 8)
  bytes.set(bytesOf(ROWS * WIDTH))
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
      reason:
        `a constant of type float32 and dims [${ROWS}, ${WIDTH}] takes ${64 * MIB} bytes; ` +
        `0 of ${60 * MIB} are in use`
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

describe('a table that is converted before rows are looked up', () => {
  const [height, width] = [4096, 512]
  const bytes = Uint8Array.from({ length: height * width + 8 }, (_, i) =>
    i < height * width ? (i * 7 + (i >> 9)) % 251 : 0
  )
  const rowsOf = (list: readonly number[]): number[] =>
    list.flatMap(row => [...bytes.subarray(row * width, (row + 1) * width)])
  const source = (axis = 0): Counting => {
    const file = bytes.slice()
    file[height * width] = axis
    return counting(bytesSource('w.bin', file))
  }
  const model = (weights: ByteSource, type = 'u8'): Model =>
    loadOpenvino(
      bytesSource(
        'm.xml',
        new TextEncoder().encode(
          net(
            [
              layer(0, 'Const', {
                data: `element_type="${type}" shape="${height},${width}" offset="0" size="${height * width}"`,
                out: [`0:${type.toUpperCase()}[${height},${width}]`]
              }),
              layer(1, 'Convert', {
                data: 'destination_type="f32"',
                in: ['0'],
                out: [`1:FP32[${height},${width}]`],
                names: 'floats'
              }),
              layer(2, 'Parameter', {
                name: 'ids',
                data: 'shape="?" element_type="i64"',
                out: ['0:I64[-1]'],
                names: 'ids'
              }),
              layer(3, 'Const', {
                data: `element_type="i64" shape="" offset="${height * width}" size="8"`,
                out: ['0:I64']
              }),
              layer(4, 'Gather', {
                version: 'opset8',
                data: 'batch_dims="0"',
                in: ['0', '1', '2'],
                out: ['4:FP32[-1,-1]'],
                names: 'rows'
              }),
              layer(5, 'Result', { in: ['0'] })
            ],
            ['0:0>1:0', '1:1>4:0', '2:0>4:1', '3:0>4:2', '4:4>5:0']
          )
        )
      ),
      { file: 'm.xml', bin: () => weights }
    )
  const list = random(50, height)

  /** A whole reading of the table comes first, then rows of it are looked up through a conversion. */
  const runBoth = async (): Promise<{ fused: Tensor; whole: Tensor }> => {
    const [rawType, floatType] = [2, 1]
    const session = new InferenceSession(
      onnx(
        {
          inputs: [port('ids', 'int64')],
          outputs: [port('whole', 'uint8'), port('fused', 'float')],
          initializers: [external([height, width], 0, rawType), int64s('all', [1], [height * width])],
          nodes: [
            node('Reshape', ['table', 'all'], ['whole']),
            node('Cast', ['table'], ['floats'], { to: floatType }),
            node('Gather', ['floats', 'ids'], ['fused'])
          ]
        },
        source()
      )
    )
    return session.run<{ fused: Tensor; whole: Tensor }>({ ids: ids([3, 9]) })
  }

  test('is not converted: the rows are', async () => {
    const weights = source()
    const session = new InferenceSession(model(weights), { maxMemory: 2 ** 20 })
    const { rows } = await session.run({ ids: ids([...list, height]) })
    expect([...rows.data]).toEqual([...rowsOf(list), ...new Array<number>(width).fill(0)])
    expect(weights.bytes).toBeLessThan(20 * 50 * width)
  })

  test('is converted whole where somebody watches: every node is seen with its values', async () => {
    const session = new InferenceSession(model(source()))
    const seen: [string, readonly number[]][] = []
    const { rows } = (await session.run({ ids: ids([...list, height]) }, undefined, {
      onStep: ({ node: { type }, outputs }) => seen.push([type, (outputs[0] as Tensor).dims])
    })) as Record<string, Tensor>
    expect([...rows.data]).toEqual([...rowsOf(list), ...new Array<number>(width).fill(0)])
    expect(seen).toEqual([
      ['Convert', [height, width]],
      ['Gather', [list.length + 1, width]]
    ])
  })

  test('is found where another node has read it whole, unconverted', async () => {
    const { fused, whole } = await runBoth()
    expect([...fused.data]).toEqual(rowsOf([3, 9]))
    expect([...whole.data.slice(0, 3)]).toEqual([...bytes.subarray(0, 3)])
  })

  test.each([2 ** 20, 4 * 2 ** 20])(
    'is not converted where it is packed, either, by the row and once it is held: %d bytes',
    async maxMemory => {
      const weights = source()
      const session = new InferenceSession(model(weights, 'u4'), { maxMemory })
      const halves = list
        .flatMap(row => [...bytes.subarray((row * width) / 2, ((row + 1) * width) / 2)])
        .flatMap(byte => [byte & 15, byte >> 4])
      for (let i = 0; i < 20; i++) expect([...(await session.run({ ids: ids(list) })).rows.data]).toEqual(halves)
      weights.bytes = 0
      await session.run({ ids: ids(list) })
      expect(weights.bytes > 0).toBe(maxMemory === 2 ** 20)
    }
  )

  test('is held as it is in the file once that is better', async () => {
    const weights = source()
    const session = new InferenceSession(model(weights), { maxMemory: 3 * 2 ** 20 })
    for (let i = 0; i < 100; i++) await session.run({ ids: ids(list) })
    weights.bytes = 0
    const { rows } = await session.run({ ids: ids(list) })
    expect([...rows.data]).toEqual(rowsOf(list))
    expect(weights.bytes).toBe(0)
  })

  test('is converted whole along another axis, and where it is fetched', async () => {
    const session = new InferenceSession(model(source(1)))
    const { rows } = await session.run({ ids: ids([3, 9]) })
    expect([...rows.data.slice(0, 4)]).toEqual([bytes[3], bytes[9], bytes[width + 3], bytes[width + 9]])
    const { floats: all } = await session.run({}, ['floats'])
    expect(all).toMatchObject({ type: 'float32', dims: [height, width] })
  })
})

describe('a table whose elements lie otherwise in the file than in memory', () => {
  const TYPES = Object.keys(BITS).filter(type => BITS[type] <= 8)
  const contentOf = (size: number): Uint8Array =>
    Uint8Array.from({ length: size + 8 }, (_, i) => (i < size ? (i * 7 + (i >> 9)) % 251 : 0))
  const bytesIn = (count: number, type: string): number => Math.ceil((count * BITS[type]) / 8)
  const bytesOf = ({ data }: Tensor): Uint8Array =>
    new Uint8Array((data as Int8Array).buffer, (data as Int8Array).byteOffset, data.length)
  /** Rows read alone, as memory has no room for more; and as the whole table has them. */
  const bothWays = async (
    type: string,
    dims: readonly [number, number],
    list: readonly number[],
    maxMemory: number
  ) => {
    const weights = bytesSource('w.bin', contentOf(bytesIn(dims[0] * dims[1], type)))
    const alone = counting(weights)
    const rows = await outcome(ir(dims, alone, 'Gather', type), { ids: ids(list) }, { maxMemory })
    const { table } = (await new InferenceSession(ir(dims, weights, 'Gather', type)).run({}, ['table'])) as Record<
      string,
      Tensor
    >
    const all = bytesOf(table)
    const whole = Buffer.concat(list.map(row => all.subarray(row * dims[1], (row + 1) * dims[1])))
    return { rows: rows as Tensor, whole, bytes: alone.bytes }
  }

  test.each(TYPES)('is read by the row: %s', async type => {
    const { rows, whole, bytes } = await bothWays(
      type,
      [4096, 512],
      [...random(40, 200).map(row => row + 1000), 4095, 0],
      2 ** 20
    )
    expect(Buffer.compare(bytesOf(rows), whole)).toBe(0)
    expect(bytes).toBeLessThan(bytesIn(4096 * 512, type) / 2)
  })

  test.each(TYPES)('is read by the row where rows fill whole bytes, else all of it: %s', type =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.nat(999), { maxLength: 8 }),
        async (width, list) => {
          const { rows, whole } = await bothWays(type, [1000, width], list, 1000 * width - 1)
          const fillsBytes = (width * BITS[type]) % (BITS[type] % 3 === 0 ? 24 : 8) === 0
          expect(fillsBytes ? [...bytesOf(rows)] : rows).toEqual(
            fillsBytes ? [...whole] : expect.objectContaining({ code: 'limit-exceeded' })
          )
        }
      ),
      { numRuns: 60 }
    )
  )

  test.each(['boolean', 'u3', 'u4'])('has rows that are read in pieces: %s', async type => {
    const width = 3 * 2 ** 20
    const { rows, whole } = await bothWays(type, [4, width], [2], 10 * MIB)
    expect(Buffer.compare(bytesOf(rows), whole)).toBe(0)
  })
})

describe('a file beyond 4 GiB', () => {
  const path = join(folder, 'huge.bin')
  const rows = 5 * 2 ** 20
  const row = (i: number): Float32Array => Float32Array.from({ length: 256 }, (_, j) => i + j)
  const descriptor = openSync(path, 'w')
  // Only what is written takes room on the disk.
  ftruncateSync(descriptor, rows * 1024 + 8)
  for (const i of [0, 3 * 2 ** 20, rows - 1]) writeSync(descriptor, row(i), 0, 1024, i * 1024)
  closeSync(descriptor)

  test.each(['external data', 'a .bin'])('is read by the row as %s', async kind => {
    const weights = counting(fileSource(path, 'w.bin'))
    const model =
      kind === 'a .bin'
        ? ir([rows, 256], weights, 'Gather')
        : onnx(gathered({ initializers: [external([rows, 256])] }), weights)
    const result = (await new InferenceSession(model).run({ ids: ids([rows - 1, 0, -1, 3 * 2 ** 20, 1]) })).rows
    expect(result.data).toEqual(
      Float32Array.from(
        [row(rows - 1), row(0), row(rows - 1), row(3 * 2 ** 20), new Float32Array(256)].flatMap(part => [...part])
      )
    )
    expect(weights.bytes).toBeLessThan(10_000)
  })

  test('holds a tensor that begins beyond 4 GiB', async () => {
    const weights = counting(fileSource(path, 'w.bin'))
    const model = onnx(gathered({ initializers: [external([2048, 256], (rows - 2048) * 1024)] }), weights)
    expect((await new InferenceSession(model).run({ ids: ids([2047]) })).rows).toMatchObject({ data: row(rows - 1) })
  })
})

describe('rows that are read alone', () => {
  const bytes = new Uint8Array(65536 + 8)
  bytes.set(bytesOf(16384))
  const inPlace = bytesSource('w.bin', bytes)
  /** More than any run needs here, and less than the table takes. */
  const small = { maxMemory: 60000 }
  const widths = fc.constantFrom(1, 3, 64, 256)
  /** Mostly in range. */
  const indices = (rows: number) =>
    fc.array(
      fc.oneof(
        { weight: 30, arbitrary: fc.integer({ min: 0, max: rows - 1 }) },
        fc.integer({ min: -rows - 1, max: rows })
      ),
      { maxLength: 6 }
    )
  const lookups = widths.chain(width => {
    const rows = Math.floor(16384 / width)
    return fc.record({ width: fc.constant(width), rows: fc.constant(rows), list: indices(rows) })
  })
  const same = async (of: (weights: ByteSource) => Model, feeds: Record<string, Tensor>): Promise<void> => {
    expect(await outcome(of(counting(inPlace)), feeds, small)).toEqual(await outcome(of(inPlace), feeds))
  }

  test('are those of the whole table, and indices fail alike: ONNX Gather', () =>
    fc.assert(
      fc.asyncProperty(lookups, fc.constantFrom(0, 1, -2), async ({ width, rows, list }, axis) => {
        const dims = axis === 1 ? [1, rows, width] : [rows, width]
        await same(weights => onnx(gathered({ initializers: [external(dims)] }, axis), weights), {
          ids: ids(list, [1, list.length])
        })
      })
    ))

  test('are those of the whole table, and zeros out of range: OpenVINO Gather', () =>
    fc.assert(
      fc.asyncProperty(lookups, async ({ width, rows, list }) => {
        await same(weights => ir([rows, width], weights, 'Gather'), { ids: ids(list) })
      })
    ))

  test.each(['f32', 'i64'] as const)(
    'are those of the whole table, default rows too: OpenVINO EmbeddingBagOffsetsSum of %s',
    type =>
      fc.assert(
        fc.asyncProperty(
          lookups,
          fc.array(fc.nat(7)),
          fc.integer({ min: -2, max: 300 }),
          async ({ width, rows, list }, offsets, fallback) => {
            const dims = [type === 'i64' ? rows >> 1 : rows, width]
            // The default index lies behind the table.
            new DataView(bytes.buffer).setBigInt64(dims[0] * width * (type === 'i64' ? 8 : 4), BigInt(fallback), true)
            await same(weights => ir(dims, weights, 'EmbeddingBagOffsetsSum', type), {
              ids: ids(list),
              offsets: ids([...offsets].sort())
            })
            bytes.set(bytesOf(16384))
          }
        )
      )
  )

  test('need not lie at a multiple of their size', async () => {
    const model = onnx(gathered({ initializers: [external([100, 4], 3)] }), counting(inPlace))
    const whole = new Float32Array(bytes.slice(3, 3 + 1600).buffer)
    expect(await outcome(model, { ids: ids([7, 2]) }, { maxMemory: 1000 })).toMatchObject({
      data: Float32Array.of(...whole.subarray(28, 32), ...whole.subarray(8, 12))
    })
  })

  test('are not of an axis along which they lie in pieces: then the table has to fit', async () => {
    const model = onnx(gathered({ initializers: [external([128, 128])] }, 1), counting(inPlace))
    expect(await outcome(model, { ids: ids([7]) }, small)).toMatchObject({ code: 'limit-exceeded' })
    expect(await outcome(model, { ids: ids([7]) })).toMatchObject({ dims: [128, 1] })
  })

  test('a table of bytes that the caller gave is used where it lies', async () => {
    const model = onnx(gathered({ initializers: [external([64, 256])] }), inPlace)
    expect(await outcome(model, { ids: ids([7]) }, { maxMemory: 2000 })).toMatchObject({ data: expected([7], 256) })
    const misplaced = onnx(
      gathered({ nodes: [node('Neg', ['table'], ['rows'])], inputs: [], initializers: [external([64, 240], 1)] }),
      inPlace
    )
    expect(await outcome(misplaced, {}, { maxMemory: 64 * 240 * 4 })).toMatchObject({
      code: 'limit-exceeded',
      reason: expect.stringContaining('a float32 tensor')
    })
  })

  test('of a file that has become too short fail as the whole table does', async () => {
    const parts = gathered({ initializers: [external([64, 256], 4096)] })
    const reason = 'tensor "table": w.bin has 65544 bytes; 65536 bytes at 4096 are not inside it'
    for (const options of [small, {}])
      expect(await outcome(onnx(parts, counting(inPlace)), { ids: ids([7]) }, options)).toMatchObject({
        code: 'invalid-file',
        reason: expect.stringContaining(reason.slice(0, 30))
      })
  })
})

describe('what may be held by default', () => {
  const gib = 2 ** 30
  const report = (available: number, constrained: number) => ({
    availableMemory: () => available * gib,
    constrainedMemory: () => constrained,
    memoryUsage: { rss: () => gib }
  })

  test('is what the machine has free', () => {
    expect(defaultMemory(report(6, 0))).toBe(6 * gib)
    expect(defaultMemory(report(6, 2 ** 64))).toBe(6 * gib)
  })

  test('is what a container has, whatever of it holds cached files', () =>
    expect(defaultMemory(report(1, 8 * gib))).toBe(7 * gib))

  test('is 4 GiB where nobody knows', () => {
    expect(defaultMemory({})).toBe(4 * gib)
    expect(defaultMemory(report(0, 0))).toBe(4 * gib)
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
