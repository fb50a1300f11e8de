import { expect, test } from 'vitest'
import { CsvColumns, CsvParser } from '../src/formats/csv-parser.ts'
import { writeCsv } from '../src/formats/csv.ts'
import { numbersOfTexts } from '../src/formats/text-numbers.ts'
import { cellOfText, typeOfTexts } from '../src/formats/text.ts'
import { BytesBuilder, cellsOfPacked, type PackedBytes } from '../src/packed.ts'
import { type Field, packedColumn, plainColumn } from '../src/table.ts'

/** The rows of CSV that comes in pieces of so many bytes. */
function parsed(text: string | Uint8Array, size: number): unknown[][] {
  const bytes = Buffer.from(text)
  const parser = new CsvParser()
  let columns: CsvColumns | undefined
  const take = (from: Uint8Array, cells: readonly number[]): void => {
    columns ??= new CsvColumns(cells.length / 3, 100)
    columns.add(from, cells)
  }
  for (let at = 0; at < bytes.length; at += size) parser.parse(bytes.subarray(at, at + size), false, take)
  parser.parse(new Uint8Array(0), true, take)
  const cells = columns?.done().map(cellsOfPacked) ?? []
  return Array.from({ length: columns?.rows ?? 0 }, (_, row) => cells.map(column => column[row]))
}

test.each([1, 2, 3, 5, 1000])('CSV is taken apart as RFC 4180 has it, in pieces of %i bytes', size => {
  expect(parsed('\ufeffa,b\r\n"x, ""y""\n",\n\n,ü\r\n"",last', size)).toEqual([
    ['a', 'b'],
    ['x, "y"\n', ''],
    ['', 'ü'],
    ['', 'last']
  ])
  expect(parsed('a\n1\n', size)).toEqual([['a'], ['1']])
  expect(parsed('a,b\n1,', size)).toEqual([
    ['a', 'b'],
    ['1', '']
  ])
  expect(parsed('', size)).toEqual([])
})

test.each([
  ['a,b\n1\n', /record 2 of CSV has 1 cells/],
  ['a\n1"2\n', /record 2.*quote stands within/],
  ['a\n"1"2\n', /behind a closing quote/],
  ['a\n"1\n', /not closed/],
  [Uint8Array.of(0x61, 0x0a, 0xff, 0x0a), /UTF-8/]
])('CSV that is none is refused: %j', (text, message) => {
  expect(() => parsed(text, 1000)).toThrow(message)
})

const texts = (cells: readonly string[]): PackedBytes => {
  const builder = new BytesBuilder(cells.length)
  for (const cell of cells) builder.add(Buffer.from(cell))
  return builder.done('texts')
}

test('texts say the numbers that JavaScript reads from them, to the last bit', () => {
  const cells = ['0', '-0', '1.5', '-.25', '5.', '007.5', '9007199254740993', '0.1', '1e-7', '-2.5E+3', '+3']
  let seed = 1
  for (let i = 0; i < 500; i++) {
    seed = (seed * 48271) % 2147483647
    const number = (seed / 2 ** 31 - 0.5) * 10 ** (i % 38)
    cells.push(String(number), String(Math.fround(number)), number.toFixed(i % 18))
  }
  expect(cellsOfPacked(numbersOfTexts(texts(cells), false) as never)).toEqual(Float64Array.from(cells, Number))
  const whole = numbersOfTexts(texts(['12', '', '-0', '-9007199254740991']), true)
  expect(Array.from(cellsOfPacked(whole as never))).toEqual([12, null, 0, -9007199254740991])
  for (const other of ['x', '1x', '-', '.', '1.2.3', '0x10', 'Infinity', '1 ', 'NaN'])
    expect([other, numbersOfTexts(texts([other]), false)]).toEqual([other, undefined])
  for (const other of ['007', '1.0', '1e3', '9007199254740992', '-'])
    expect([other, numbersOfTexts(texts([other]), true)]).toEqual([other, undefined])
})

test.each<[string, readonly string[], string]>([
  ['whole numbers of 64 bits', ['1', '', '-9223372036854775808', '1745678901234567890'], 'int64'],
  ['whole numbers beyond them, which floats would round', ['1', '9223372036854775808'], 'string'],
  ['numbers', ['1', ' -.5 ', '2.', '+1e-3', '99999999999999999999.5'], 'float64'],
  ['codes with leading zeros', ['007', '012'], 'string'],
  ['hexadecimal codes', ['0x1F', '0x20'], 'string'],
  ['true and false', ['true', 'FALSE'], 'bool'],
  ['nothing', ['', ''], 'string']
])('texts are taken for what all of them are: %s', (_, cells, type) => {
  const found = typeOfTexts(cells)
  expect(found.kind === 'number' ? found.type : found.kind).toBe(type)
})

test('a text that is no whole number of 64 bits is refused in a column of those', () => {
  const field: Field = { name: 'id', type: { kind: 'number', type: 'int64' } }
  expect(cellOfText('9223372036854775807', field)).toBe(2n ** 63n - 1n)
  for (const other of ['9223372036854775808', '007', '1.5', '1e3'])
    expect(() => cellOfText(other, field)).toThrow(/column "id".*whole numbers/)
})

const written = async (
  names: readonly string[],
  columns: readonly ReturnType<typeof plainColumn>[]
): Promise<string> => {
  const pieces: Uint8Array[] = []
  const sink = { bytes: 0, write: (piece: Uint8Array) => Promise.resolve(void pieces.push(piece)) }
  const fields = names.map((name): Field => ({ name, type: { kind: 'string' } }))
  const writer = writeCsv(sink, fields, 0)
  await writer.write({ rows: 2, columns })
  await writer.end()
  return Buffer.concat(pieces).toString()
}

test('an empty cell that has its line alone is a row', async () => {
  const text = await written(['a'], [plainColumn([null, 'x'])])
  expect(text).toBe('a\n""\nx\n')
  expect(parsed(text, 1000)).toEqual([['a'], [''], ['x']])
})

test('CSV is written with quotes where they are needed, from arrays as from single cells', async () => {
  const names = ['a', 'b,"c"', 'd']
  const plain = await written(names, [
    plainColumn(['x', 'y\n"z"']),
    plainColumn([1.5, null]),
    plainColumn([[1, NaN], true])
  ])
  expect(plain).toBe('a,"b,""c""",d\nx,1.5,"[1,null]"\n"y\n""z""",,true\n')
  const numbers = { kind: 'numbers', rows: 2, values: Float32Array.of(1.5, 0), valid: Uint8Array.of(1, 0) } as const
  const packed = [packedColumn(texts(['x', 'y\n"z"'])), packedColumn(numbers), plainColumn([[1, NaN], true])]
  expect(await written(names, packed)).toBe(plain)
})
