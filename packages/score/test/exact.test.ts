import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  Field as ArrowField,
  type Data,
  type DataType,
  Decimal,
  Dictionary,
  DurationMicrosecond,
  FixedSizeList,
  Float32,
  Int32,
  Int8,
  LargeList,
  List,
  makeData,
  makeVector,
  Struct,
  Table,
  tableFromIPC,
  tableToIPC,
  TimeMillisecond,
  TimestampMicrosecond,
  Utf8,
  type Vector,
  vectorFromArray
} from 'apache-arrow'
import { afterAll, expect, test } from 'vitest'
import { score } from '../src/score.ts'
import { FOREVER, OLD_TIMES, VIEWS } from './written.ts'

const folder = mkdtempSync(join(tmpdir(), 'nodewise-exact-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const at = (name: string): string => join(folder, name)
writeFileSync(
  at('same.onnxtxt'),
  '<ir_version: 9, opset_import: ["" : 21]> g (float[n] x) => (float[n] y) { y = Identity (x) }'
)
const model = at('same.onnxtxt')
const file = (name: string, bytes: Uint8Array): string => {
  writeFileSync(at(name), bytes)
  return at(name)
}

const lines = (path: string): Record<string, unknown>[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>)

const item = (type: DataType): ArrowField => new ArrowField('item', type, true)
/** Microseconds, all of whose digits count. */
const micros = (): Data => makeData({ type: new TimestampMicrosecond(), data: BigInt64Array.of(17_123_456n, -5n, 7n) })
const lists = (type: DataType, child: Data, valueOffsets: unknown): Data =>
  makeData({ type: type as never, length: 3, valueOffsets, child } as never)

const COLUMNS: Readonly<Record<string, Vector>> = {
  times: makeVector(micros()),
  decimals: vectorFromArray(
    [Uint32Array.of(123, 0, 0, 0), null, Uint32Array.of(-5, -1, -1, -1)],
    new Decimal(2, 10, 128)
  ),
  structs: makeVector(
    makeData({ type: new Struct([new ArrowField('t', new TimestampMicrosecond())]), length: 3, children: [micros()] })
  ),
  lists: makeVector(lists(new List(item(new TimestampMicrosecond())), micros(), Int32Array.of(0, 2, 2, 3))),
  large: makeVector(lists(new LargeList(item(new TimestampMicrosecond())), micros(), BigInt64Array.of(0n, 1n, 1n, 3n))),
  fixed: makeVector(
    makeData({
      type: new FixedSizeList(1, item(new TimestampMicrosecond())),
      length: 3,
      child: micros()
    } as never) as Data
  ),
  words: vectorFromArray([['a', 'b'], ['b'], null], new List(item(new Dictionary(new Utf8(), new Int32(), 7)))),
  bools: vectorFromArray([[true], [false, null], [true, true]])
}

test.each(Object.keys(COLUMNS))('rows of Arrow that stay when others are skipped are as they were: %s', async name => {
  const column = COLUMNS[name]
  const x = vectorFromArray([1, null, 3], new Float32())
  const from = file('in.arrows', tableToIPC(new Table({ column, x } as never), 'stream'))
  expect(await score({ model, from, to: at('out.arrows'), onError: 'skip' })).toMatchObject({ failed: 1 })
  const out = tableFromIPC(readFileSync(at('out.arrows'))).getChild('column') as Vector
  const before = tableFromIPC(readFileSync(from)).getChild('column') as Vector
  expect(String(out.type)).toBe(String(before.type))
  const plain = (cell: unknown): unknown => JSON.stringify(cell)
  expect([...out].map(plain)).toEqual([plain(before.get(0)), plain(before.get(2))])
})

test('lists with long offsets, times of day and durations of Arrow go to Parquet as lists and numbers', async () => {
  const columns = {
    x: vectorFromArray([1, 2, 3], new Float32()),
    large: makeVector(
      lists(new LargeList(item(new Int8())), vectorFromArray([1, 2, 3], new Int8()).data[0] as Data, [0n, 2n, 2n, 3n])
    ),
    day: makeVector(makeData({ type: new TimeMillisecond(), data: Int32Array.of(1, 2, 3) })),
    passed: makeVector(makeData({ type: new DurationMicrosecond(), data: BigInt64Array.of(1n, 2n, 3n) }))
  }
  const from = file('types.arrows', tableToIPC(new Table(columns as never), 'stream'))
  await score({ model, from, to: at('types.parquet') })
  await score({ model, from: at('types.parquet'), to: at('types.ndjson'), as: { y: 'z' } })
  expect(lines(at('types.ndjson')).map(({ large, day, passed }) => [large, day, passed])).toEqual([
    [[1, 2], 1, 1],
    [[], 2, 2],
    [[3], 3, 3]
  ])
})

test('views of Arrow are texts and bytes in Parquet', async () => {
  await score({ model, from: file('views.arrows', VIEWS), to: at('views.parquet') })
  await score({ model, from: at('views.parquet'), to: at('views.ndjson'), as: { y: 'z' } })
  expect(lines(at('views.ndjson')).map(({ s, b }) => [s, b])).toEqual([
    ['a', 'AA=='],
    ['b'.repeat(20), Buffer.from('b'.repeat(20)).toString('base64')]
  ])
})

test('times of 96 bits in Parquet are written as the same times, in lists too', async () => {
  const from = file('old.parquet', OLD_TIMES)
  await score({ model, from, to: at('new.parquet') })
  for (const [i, table] of [from, at('new.parquet')].entries()) {
    await score({ model, from: table, to: at('times.ndjson'), as: { y: `y${i}` } })
    expect(lines(at('times.ndjson')).map(({ t, l }) => [t, l])).toEqual([
      ['2023-11-14T22:13:20.123Z', ['1969-12-31T23:59:59.999Z']],
      ['1969-12-31T23:59:59.999Z', ['2023-11-14T22:13:20.123Z']]
    ])
  }
})

test('decimals of Parquet have no digits that nobody wrote, and UUIDs are texts without quotes', async () => {
  await score({ model, from: file('old.parquet', OLD_TIMES), to: at('old.arrow'), keep: ['u', 'd', 'e'] })
  const rows = tableFromIPC(readFileSync(at('old.arrow')))
  const uuid = '00010203-0405-0607-0809-0a0b0c0d0e0f'
  expect([...(rows.getChild('u') as Vector)]).toEqual([uuid, uuid])
  expect([...(rows.getChild('d') as Vector)]).toEqual([0.57, -1.1])
  expect(JSON.stringify([...(rows.getChild('e') as Vector)])).toBe('[[0.57],[]]')
})

test.each([
  ['csv', 'x,t,y\n1,,1\n2,1969-12-31T23:59:59.999Z,2\n'],
  ['ndjson', '{"x":1,"t":null,"y":1}\n{"x":2,"t":"1969-12-31T23:59:59.999Z","y":2}\n']
])('a time beyond those of JavaScript is nothing in %s', async (suffix, text) => {
  await score({ model, from: file('forever.parquet', FOREVER), to: at(`forever.${suffix}`) })
  expect(readFileSync(at(`forever.${suffix}`), 'utf8')).toBe(text)
})

test('a time beyond those of JavaScript is null in Arrow, and stays in Parquet', async () => {
  const from = file('forever.parquet', FOREVER)
  await score({ model, from, to: at('forever.arrow') })
  expect((tableFromIPC(readFileSync(at('forever.arrow'))).getChild('t') as Vector).get(0)).toBeNull()
  await score({ model, from, to: at('again.parquet') })
  expect(readFileSync(at('again.parquet')).includes(Buffer.from('ffffffffffffff7f', 'hex'))).toBe(true)
})
