import { describe, expect, test } from 'vitest'
import { type ByteSource, bytesSource } from '../../src/files/byte-source.ts'
import type { Model } from '../../src/graph/graph.ts'
import { InferenceSession } from '../../src/index.ts'
import { loadOpenvino } from '../../src/openvino/load.ts'
import type { Tensor } from '../../src/tensor/tensor.ts'
import { int64s, node, port } from '../fixtures/onnx.ts'
import fc from '../fixtures/random-cases.ts'
import { layer, net } from '../openvino/ir.ts'
import {
  BITS,
  type Counting,
  counting,
  external,
  firstOf,
  ids,
  ir,
  MIB,
  onnx,
  outcome,
  random
} from './table-models.ts'

const firstBytes = firstOf(size => {
  const bytes = new Uint8Array(size)
  for (let i = 0; i < size; i++) bytes[i] = (i * 7 + (i >> 9)) % 251
  return bytes
})

/** Bytes of a table, and eight zeros behind it. */
function contentOf(size: number): Uint8Array {
  const bytes = new Uint8Array(size + 8)
  bytes.set(firstBytes(size))
  return bytes
}

describe('a table that is converted before rows are looked up', () => {
  const [height, width] = [4096, 512]
  const bytes = contentOf(height * width)
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
      const halves = Float32Array.from(
        list
          .flatMap(row => [...bytes.subarray((row * width) / 2, ((row + 1) * width) / 2)])
          .flatMap(byte => [byte & 15, byte >> 4])
      )
      for (let i = 0; i < 20; i++) {
        const { rows } = await session.run({ ids: ids(list) })
        // Comparing them element by element takes half a second.
        expect(Buffer.from((rows.data as Float32Array).slice().buffer).equals(Buffer.from(halves.buffer))).toBe(true)
      }
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
      [4096, 128],
      [...random(40, 200).map(row => row + 1000), 4095, 0],
      2 ** 18
    )
    expect(Buffer.compare(bytesOf(rows), whole)).toBe(0)
    expect(bytes).toBeLessThan(bytesIn(4096 * 128, type) / 2)
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
    const { rows, whole } = await bothWays(type, [3, width], [1], 8 * MIB)
    expect(Buffer.compare(bytesOf(rows), whole)).toBe(0)
  })
})
