import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import {
  Field as ArrowField,
  Decimal,
  Float16,
  Int8,
  Struct,
  Table,
  tableToIPC,
  Uint64,
  Utf8,
  type Vector,
  vectorFromArray
} from 'apache-arrow'
import { parquetMetadata } from 'hyparquet'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { schemaElements } from '../src/formats/parquet-types.ts'
import { score } from '../src/score.ts'

const folder = mkdtempSync(join(tmpdir(), 'nodewise-formats-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const at = (name: string): string => join(folder, name)
writeFileSync(
  at('abs.onnxtxt'),
  '<ir_version: 9, opset_import: ["" : 21]> g (float[n] x) => (float[n] y) { y = Abs(x) }'
)
const model = at('abs.onnxtxt')

/** The cells of a column that was written in a format beside `x`, and read from there as lines. */
async function through(column: Vector, suffix: string): Promise<unknown[]> {
  const x = vectorFromArray([-1, -2], new Float16())
  writeFileSync(at('in.arrows'), tableToIPC(new Table({ column, x }), 'stream'))
  await score({ model, from: at('in.arrows'), to: at(`out.${suffix}`) })
  await score({ model, from: at(`out.${suffix}`), to: at('end.ndjson'), as: { y: 'z' } })
  const rows = readFileSync(at('end.ndjson'), 'utf8').trimEnd().split('\n')
  return rows.map((line, row) => {
    const { column: cell, y, z } = JSON.parse(line) as Record<string, unknown>
    expect([y, z]).toEqual([row + 1, row + 1])
    return cell
  })
}

const decimals = [Uint32Array.of(25, 0, 0, 0), Uint32Array.of(-25, -1, -1, -1)]
const struct = new Struct([new ArrowField('a', new Int8()), new ArrowField('b', new Utf8())])

test.each(['parquet', 'arrow', 'arrows', 'ndjson'])(
  'halves, decimals and structs go to %s as what they are',
  async to => {
    expect(await through(vectorFromArray(decimals, new Decimal(2, 10, 128)), to)).toEqual([0.25, -0.25])
    const cells = await through(vectorFromArray([{ a: 1, b: 'q' }, null], struct), to)
    const parsed = cells.map(cell => (typeof cell === 'string' ? (JSON.parse(cell) as unknown) : cell))
    expect(parsed).toEqual([{ a: 1, b: 'q' }, null])
    expect(await through(vectorFromArray([5n, 2n ** 63n], new Uint64()), to)).toEqual([5, 2 ** 63])
  }
)

test('whole numbers of Parquet keep their size, said in the one way that all readers know', async () => {
  await through(vectorFromArray([1, -1], new Int8()), 'parquet')
  await score({ model, from: at('out.parquet'), to: at('again.parquet'), as: { y: 'z' } })
  const bytes = readFileSync(at('again.parquet'))
  const { schema } = parquetMetadata(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
  expect(schema.find(({ name }) => name === 'column')).toMatchObject({ type: 'INT32', converted_type: 'INT_8' })
  const logical_type = { type: 'INTEGER', bitWidth: 64, isSigned: false } as const
  const read = { name: 'n', type: 'INT64', logical_type } as const
  expect(schemaElements({ name: 'n', type: { kind: 'number', type: 'uint64' }, parquet: [read] })).toEqual([
    { name: 'n', type: 'INT64', converted_type: 'UINT_64' }
  ])
})

describe('damaged Arrow is refused, and nothing stays open', () => {
  const table = new Table({ x: vectorFromArray([1, 2], new Float16()), list: vectorFromArray([[1], [2]]) })
  /** How often this process has a file open, where the system says so. */
  const timesOpen = (path: string): number =>
    existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').filter(fd => linkOf(fd) === path).length : 0
  const linkOf = (fd: string): string => {
    try {
      return readlinkSync(join('/proc/self/fd', fd))
    } catch {
      // It was open for reading the folder.
      return ''
    }
  }
  const expectRefused = async (from: string | Readable, fromFormat: 'arrow' | 'arrow-stream'): Promise<void> => {
    const refused = score({ model, from, fromFormat, to: at('refused.ndjson') })
    await expect(refused).rejects.toMatchObject({ name: 'NodewiseError', code: 'invalid-file' })
  }

  test('whose batch is marked as a schema', async () => {
    const bytes = Buffer.from(tableToIPC(table, 'file'))
    // The kind of the first message, a batch.
    expect(bytes[51]).toBe(3)
    bytes[51] = 1
    writeFileSync(at('again.arrow'), bytes)
    await expectRefused(at('again.arrow'), 'arrow')
    await expectRefused(Readable.from([bytes.subarray(0, 100), bytes.subarray(100)]), 'arrow')
  })

  test.each(['file', 'stream'] as const)('whose lists are of nothing, as a %s', async kind => {
    const bytes = Buffer.from(tableToIPC(table, kind))
    for (let name = bytes.indexOf('list'); name >= 0; name = bytes.indexOf('list', name + 1)) {
      expect(bytes.readInt32LE(name + 8)).toBe(1)
      bytes.writeInt32LE(0, name + 8)
    }
    writeFileSync(at('list.arrow'), bytes)
    await expectRefused(at('list.arrow'), kind === 'file' ? 'arrow' : 'arrow-stream')
    await vi.waitFor(() => expect(timesOpen(at('list.arrow'))).toBe(0))
  })
})
