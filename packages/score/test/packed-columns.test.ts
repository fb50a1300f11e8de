import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Encoding, parquetReadObjects, type SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { afterAll, describe, expect, test } from 'vitest'
import { tensorOf } from '../src/feeds.ts'
import { openInput } from '../src/formats/input.ts'
import { readHybrid, writeHybrid } from '../src/formats/parquet-levels.ts'
import { readParquet } from '../src/formats/parquet-read.ts'
import { writeParquet } from '../src/formats/parquet-write.ts'
import { packedTensor } from '../src/packed-feeds.ts'
import { cellsOfPacked, concatPacked, evenOffsets, type Packed, slicePacked, takePacked } from '../src/packed.ts'
import { type Batch, jsonCell, packedColumn, plainColumn, type Sink } from '../src/table.ts'

const folder = mkdtempSync(join(tmpdir(), 'nodewise-columns-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ROWS = 1000
const rows = Array.from({ length: ROWS }, (_, i) => i)
const leaf = (name: string, rest: Partial<SchemaElement>): SchemaElement => ({
  name,
  repetition_type: 'OPTIONAL',
  ...rest
})
const list = (name: string, item: SchemaElement): SchemaElement[] => [
  { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  { ...item, name: 'element' }
]
const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const

/** Columns of all kinds that lie in few arrays: what they declare, their cells, and encodings they may have. */
const COLUMNS: readonly [SchemaElement[], (row: number) => unknown, ...Encoding[]][] = [
  [[leaf('float', { type: 'FLOAT' })], i => i / 4, 'PLAIN', 'BYTE_STREAM_SPLIT'],
  [[leaf('null', { type: 'DOUBLE' })], i => (i % 3 === 0 ? null : i * 1.1), 'PLAIN', 'BYTE_STREAM_SPLIT'],
  [
    [leaf('needed', { type: 'INT64', repetition_type: 'REQUIRED' })],
    i => BigInt(i) - 7n,
    'PLAIN',
    'DELTA_BINARY_PACKED'
  ],
  [[leaf('few', { type: 'INT32' })], i => (i % 7 === 0 ? null : (i % 5) - 2), 'RLE_DICTIONARY', 'DELTA_BINARY_PACKED'],
  [[leaf('unsigned', { type: 'INT32', converted_type: 'UINT_32' })], i => 4e9 + i, 'PLAIN'],
  [[leaf('large', { type: 'INT64', converted_type: 'UINT_64' })], i => 2n ** 63n + BigInt(i), 'PLAIN'],
  [[leaf('flag', { type: 'BOOLEAN' })], i => (i % 11 === 0 ? null : i % 2 === 0), 'PLAIN', 'RLE'],
  [[leaf('word', text)], i => (i % 9 === 0 ? null : `ü${i % 40}`), 'PLAIN', 'RLE_DICTIONARY'],
  [[leaf('text', text)], i => 'x'.repeat(i % 90) + i, 'PLAIN', 'DELTA_LENGTH_BYTE_ARRAY', 'DELTA_BYTE_ARRAY'],
  [[leaf('bytes', { type: 'BYTE_ARRAY' })], i => Uint8Array.of(i, 255, i >> 8), 'PLAIN', 'RLE_DICTIONARY'],
  [[leaf('fixed', { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 3 })], i => Uint8Array.of(1, i, 2), 'PLAIN'],
  [[leaf('day', { type: 'INT32', converted_type: 'DATE' })], i => new Date(i * 864e5), 'PLAIN'],
  [[leaf('time', { type: 'INT64', converted_type: 'TIMESTAMP_MICROS' })], i => new Date(i * 1000 + 1), 'PLAIN'],
  [list('floats', leaf('', { type: 'FLOAT' })), i => (i % 8 === 0 ? null : [i, i / 2]), 'PLAIN'],
  [
    list('words', leaf('', text)),
    i => Array.from({ length: i % 4 }, (_, k) => (k === 1 ? null : `w${i % 9}`)),
    'PLAIN'
  ],
  [list('lists', leaf('', { type: 'INT32', repetition_type: 'REQUIRED' })), i => [i % 3, 1, 2], 'RLE_DICTIONARY'],
  [
    [{ name: 'struct', repetition_type: 'OPTIONAL', num_children: 2 }, leaf('a', { type: 'INT32' }), leaf('b', text)],
    i => ({ a: i, b: `b${i}` }),
    'PLAIN'
  ]
]

/** A table of all columns, each in one of its encodings, in pages that are not those of others. */
function tableOf(choice: number): Uint8Array {
  const buffer = new ByteWriter()
  const schema = [{ name: 'root', num_children: COLUMNS.length }, ...COLUMNS.flatMap(([elements]) => elements)]
  const writer = new ParquetWriter({ writer: buffer, schema })
  for (const pageSize of [900, 2 ** 20]) {
    const columnData = COLUMNS.map(([[{ name }], cellOf, ...encodings]) => ({
      name,
      data: rows.map(cellOf),
      encoding: encodings[choice % encodings.length]
    }))
    void writer.write({ columnData, rowGroupSize: ROWS, pageSize })
  }
  void writer.finish()
  return buffer.getBytes().slice()
}

const cellsIn = (batches: readonly Batch[], at: number): string[] =>
  batches.flatMap(({ columns }) => Array.from(columns[at].cells, jsonCell))

async function read(path: string, skip = 0): Promise<{ batches: Batch[]; fields: readonly { name: string }[] }> {
  const reader = await readParquet(await openInput(path), skip)
  const batches: Batch[] = []
  try {
    for await (const batch of reader.batches()) batches.push(batch)
  } finally {
    await reader.close()
  }
  return { batches, fields: reader.fields }
}

/** Tells the first cell that differs: how long lists differ takes long to tell. */
function expectSame(name: string, cells: readonly string[], expected: readonly string[]): void {
  const row = expected.findIndex((cell, i) => cell !== cells[i])
  expect([name, row, cells.length, cells[row]]).toEqual([name, -1, expected.length, expected[row]])
}

describe('columns of Parquet in few arrays', () => {
  test.each([0, 1, 2])('have the cells that hyparquet reads, whatever their encoding (%i)', async choice => {
    const bytes = tableOf(choice)
    const path = join(folder, `table${choice}.parquet`)
    writeFileSync(path, bytes)
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer
    const expected = await parquetReadObjects({ file, utf8: false })
    const { batches, fields } = await read(path)
    fields.forEach(({ name }, at) => {
      expectSame(
        name,
        cellsIn(batches, at),
        expected.map(row => jsonCell(row[name]))
      )
    })
    const packed = batches[0].columns.map(({ packed: one, stored }) => (one ?? stored) !== undefined)
    expect(packed).toEqual(COLUMNS.map(([[{ name }]]) => name !== 'struct'))
    const rest = await read(path, 1401)
    expectSame('rest', cellsIn(rest.batches, 2), cellsIn(batches, 2).slice(1401))
  })

  test('are written as the same cells, from arrays and from single cells', async () => {
    const table = join(folder, 'table.parquet')
    writeFileSync(table, tableOf(1))
    const { batches, fields } = await read(table)
    const written = async (columns: (batch: Batch) => Batch['columns']): Promise<Uint8Array> => {
      const pieces: Uint8Array[] = []
      const sink: Sink = { bytes: 0, write: piece => Promise.resolve(void pieces.push(piece)) }
      const writer = await writeParquet(sink, fields as never, 0, undefined)
      for (const batch of batches) await writer.write({ rows: batch.rows, columns: columns(batch) })
      await writer.end()
      return Buffer.concat(pieces)
    }
    const bytes = await written(({ columns }) => columns)
    const plain = await written(({ columns }) => columns.map(({ cells }) => plainColumn(cells)))
    expect(Buffer.compare(bytes, plain)).toBe(0)
    const path = join(folder, 'again.parquet')
    writeFileSync(path, bytes)
    const again = await read(path)
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer
    const objects = await parquetReadObjects({ file, utf8: false })
    fields.forEach(({ name }, at) => {
      const expected = cellsIn(batches, at)
      expectSame(name, cellsIn(again.batches, at), expected)
      expectSame(
        name,
        objects.map(row => jsonCell(row[name])),
        expected
      )
    })
  })

  test('that are damaged anywhere are refused or read, and never take memory without end', async () => {
    const bytes = tableOf(0)
    const path = join(folder, 'damaged.parquet')
    let refused = 0
    for (let at = 5; at < bytes.length; at += Math.ceil(bytes.length / 60)) {
      const damaged = Buffer.from(bytes)
      damaged.fill(0xf7, at, at + 3)
      writeFileSync(path, damaged)
      await read(path).catch((error: { code?: string }) => {
        expect(['invalid-file', 'limit-exceeded']).toContain(error.code)
        refused++
      })
    }
    expect(refused).toBeGreaterThan(10)
  })
})

test('runs of levels come back as they were written, of every width', () => {
  for (let width = 1; width <= 24; width++) {
    const values = Int32Array.from({ length: 1001 }, (_, i) => Math.imul(i, 2654435761) & ((1 << width) - 1))
    for (const one of [values, values.fill(1, 0, 500), new Int32Array(77).fill(1)]) {
      const bytes = writeHybrid(one, width)
      const out = new Int32Array(one.length)
      readHybrid(bytes, 0, bytes.length, width, out)
      expect(out).toEqual(one)
    }
  }
  const wide = Buffer.from([3, 0xff, 0xff, 0xff, 0x3f, 1, 0, 0, 0xc0, 0xff, 0xff, 0xff, 0x0f])
  const out = new Int32Array(2)
  readHybrid(Buffer.concat([wide, Buffer.alloc(40)]), 0, 53, 30, out)
  expect([...out]).toEqual([2 ** 30 - 1, 4])
})

const numbers = (values: Float32Array | Int32Array | BigInt64Array): Packed => ({
  kind: 'numbers',
  rows: values.length,
  values
})
const words: Packed = {
  kind: 'texts',
  rows: 3,
  bytes: Buffer.from('aüb'),
  offsets: Int32Array.of(0, 1, 3, 4),
  valid: Uint8Array.of(1, 1, 0)
}
const lists: Packed = {
  kind: 'lists',
  rows: 3,
  items: numbers(Int32Array.of(1, 2, 3, 4, 5, 6)),
  offsets: evenOffsets(3, 2)
}

test('rows in few arrays are cut out, taken and joined as single cells are', () => {
  for (const packed of [words, lists, numbers(Float32Array.of(1, 2, 3))]) {
    const cells = (some: Packed): string[] => Array.from(cellsOfPacked(some), jsonCell)
    const all = cells(packed)
    expect(cells(slicePacked(packed, 1, 3))).toEqual(all.slice(1))
    expect(cells(takePacked(packed, [2, 0, 2]))).toEqual([all[2], all[0], all[2]])
    const joined = concatPacked([slicePacked(packed, 2, 3), packed, slicePacked(packed, 0, 0)])
    expect(cells(joined)).toEqual([all[2], ...all])
  }
})

test.each([
  ['float32', [null, 2], [numbers(Float32Array.of(1, 2, 3)), numbers(BigInt64Array.of(4n, 5n, -6n))]],
  ['float64', [null], [numbers(Int32Array.of(1, -2, 3))]],
  ['int64', [null, null], [numbers(Int32Array.of(1, -2, 3)), numbers(Float32Array.of(7, 8, 9))]],
  ['uint8', [null, 1], [numbers(BigInt64Array.of(0n, 255n, 3n))]],
  ['int32', [null, 2], [lists]],
  ['float32', [null, 1, 2], [lists]],
  ['string', [null], [{ ...words, valid: undefined }]]
] as const)('inputs of %s %j are filled from arrays as from single cells', (type, dims, packed) => {
  const input = { name: 'x', type, dims: dims.map(dim => dim ?? undefined), columns: packed.map((_, i) => i) }
  const fast = packedTensor(input, { rows: 3, columns: packed.map(packedColumn) })
  const slow = tensorOf(
    input,
    { rows: 3, columns: packed.map(one => plainColumn(Array.from(cellsOfPacked(one)))) },
    undefined
  )
  expect(slow.bad).toEqual([])
  expect(fast).toEqual({ tensor: slow.tensor, shape: slow.shape })
})

test.each([
  ['int8', numbers(Int32Array.of(1, 128, 2))],
  ['int64', numbers(Float32Array.of(1, 1.5, 2))],
  ['uint64', numbers(BigInt64Array.of(1n, -1n, 2n))],
  ['float32', { ...numbers(Float32Array.of(1, 2, 3)), valid: Uint8Array.of(1, 0, 1) }],
  ['int32', { ...lists, offsets: Int32Array.of(0, 1, 4, 6) }]
] as const)('inputs of %s look at single cells where one may not fit', (type, packed) => {
  const input = { name: 'x', type, dims: [undefined], columns: [0] }
  expect(packedTensor(input, { rows: 3, columns: [packedColumn(packed)] })).toBeUndefined()
})
