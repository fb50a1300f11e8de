import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Tensor } from 'nodewise'
import { afterAll, describe, expect, test } from 'vitest'
import { floats, node, onnxBytes, port } from '../../../test/fixtures/onnx.ts'
import { score } from '../src/score.ts'

const folder = mkdtempSync(join(tmpdir(), 'nodewise-score-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const at = (name: string): string => join(folder, name)
const lines = (path: string): Record<string, unknown>[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>)

/** Looks a row of [10, 20, 30] up for each id. */
const gather = file(
  'gather.onnx',
  onnxBytes({
    inputs: [port('id', 'int64', ['n'])],
    outputs: [port('found', 'float', ['n'])],
    initializers: [floats('table', [3], [10, 20, 30])],
    nodes: [node('Gather', ['table', 'id'], ['found'])]
  })
)
/** Doubles rows of any length. */
const double = file(
  'double.onnx',
  onnxBytes({
    inputs: [port('x', 'float', ['n', 'length'])],
    outputs: [port('y', 'float', ['n', 'length'])],
    nodes: [node('Add', ['x', 'x'], ['y'])]
  })
)

const TABLE = [
  '{"id":0,"name":"a","big":9007199254740993,"list":[1,2],"flag":true}',
  '{"id":2,"name":"b","big":null,"list":[3],"flag":false}',
  '{"name":null,"id":1,"big":-1,"list":[],"flag":null}'
]

describe('every format', () => {
  const formats = ['ndjson', 'csv', 'parquet', 'arrow', 'arrows']
  test.each(formats)('to %s and from there to every other keeps the rows', async to => {
    const table = at(`table.${to}`)
    await score({ model: gather, from: file('source.ndjson', TABLE.join('\n')), to: table })
    for (const next of formats) {
      const again = at(`again-${to}.${next}`)
      await score({ model: gather, from: table, to: again, as: { found: 'second' } })
      const end = at(`end-${to}-${next}.ndjson`)
      await score({ model: gather, from: again, to: end, as: { found: 'third' } })
      const rows = lines(end)
      expect(rows.map(row => [row.id, row.found, row.second, row.third, row.flag])).toEqual([
        [0, 10, 10, 10, true],
        [2, 30, 30, 30, false],
        [1, 20, 20, 20, null]
      ])
      expect(rows.map(({ name }) => name ?? '')).toEqual(['a', 'b', ''])
      if (to !== 'csv' && next !== 'csv') expect(rows.map(({ list }) => list)).toEqual([[1, 2], [3], []])
    }
  })

  test('of lines keeps what a row says, digits and unknown columns too', async () => {
    const from = file('digits.ndjson', `${TABLE[0]}\n{"id":1,"more":{"a":[1.50]}}\n`)
    await score({ model: gather, from, to: at('digits-out.ndjson') })
    expect(readFileSync(at('digits-out.ndjson'), 'utf8')).toBe(
      `${TABLE[0].slice(0, -1)},"found":10}\n{"id":1,"more":{"a":[1.50]},"found":20}\n`
    )
    const csv = file('digits.csv', 'id,code\n1,007\n0,1.50\n')
    await score({ model: gather, from: csv, to: at('digits-out.csv') })
    expect(readFileSync(at('digits-out.csv'), 'utf8')).toBe('id,code,found\n1,007,20\n0,1.50,10\n')
  })

  test('of lines and of CSV keeps whole numbers that doubles do not have', async () => {
    const same = '<ir_version: 9, opset_import: ["" : 21]> g (int64[n] id) => (int64[n] y) { y = Identity(id) }'
    const model = file('same.onnxtxt', same)
    const ids = ['1745678901234567890', '-9007199254740993', '5']
    const rows = ids.map(id => `{"id":${id},"text":"\\"9007199254740993","list":[${id}]}`)
    const lined = file('ids.ndjson', rows.join('\n'))
    for (const from of [lined, file('ids.csv', `id\n${ids.join('\n')}\n`)])
      for (const suffix of ['parquet', 'arrow']) {
        const to = at(`ids.${suffix}`)
        await score({ model, from, to })
        await score({ model, from: to, to: at('ids-back.csv'), as: { y: 'z' }, keep: ['id', 'y'] })
        expect(readFileSync(at('ids-back.csv'), 'utf8')).toBe(
          `id,y,z\n${ids.map(id => `${id},${id},${id}\n`).join('')}`
        )
      }
    await score({ model, from: lined, to: at('kept.csv'), outputs: ['y'], keep: ['text', 'list'] })
    expect(readFileSync(at('kept.csv'), 'utf8').split('\n')[1]).toBe(
      '"""9007199254740993",[1745678901234567890],1745678901234567890'
    )
  })

  test('comes from a stream and goes to one, told by its first bytes', async () => {
    const from = at('stream.arrows')
    await score({ model: gather, from: file('s.ndjson', TABLE.join('\n')), to: from })
    const pieces: Uint8Array[] = []
    const to = (bytes: Uint8Array): Promise<void> => Promise.resolve(void pieces.push(bytes.slice()))
    const bytes = readFileSync(from)
    const source = Readable.from([bytes.subarray(0, 3), bytes.subarray(3)])
    await score({ model: gather, from: source, to, as: { found: 'again' } })
    const back = file('back.arrows', Buffer.concat(pieces))
    await score({ model: gather, from: back, to: at('back.ndjson'), as: { found: 'third' } })
    expect(lines(at('back.ndjson')).map(({ again }) => again)).toEqual([10, 30, 20])
  })

  test('of text in a stream that is no NDJSON is CSV', async () => {
    const to = at('streamed.ndjson')
    await score({ model: gather, from: Readable.from([Buffer.from('id\n2\n')]), to })
    expect(lines(to)).toEqual([{ id: 2, found: 30 }])
    const noise = Readable.from([Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7, 8)])
    await expect(score({ model: gather, from: noise, to })).rejects.toMatchObject({ code: 'bad-usage' })
  })

  test.each([
    ['bytes.parquet', Uint8Array.from([...'PAR1'].map(c => c.charCodeAt(0)).concat(Array(40).fill(255) as number[]))],
    ['bytes.arrow', Uint8Array.from([...'ARROW1\0\0'].map(c => c.charCodeAt(0)).concat(Array(40).fill(7) as number[]))],
    ['bytes.arrows', Uint8Array.from([255, 255, 255, 255, 255, 255, 255, 127, 1, 2, 3])],
    ['bytes.ndjson', '{"id": 1}\n[1]\n'],
    ['broken.ndjson', '{"id": 1}\n{"id": \n'],
    ['cells.csv', 'id,name\n1,a\n2\n'],
    ['twice.csv', 'id,id\n1,2\n'],
    ['latin.ndjson', Uint8Array.from([0x7b, 0xff, 0xfe, 0x7d])]
  ])('that is damaged is invalid-file, and leaves nothing: %s', async (name, content) => {
    const to = at(`${name}.out.ndjson`)
    await expect(score({ model: gather, from: file(name, content), to })).rejects.toMatchObject({
      code: 'invalid-file'
    })
    expect([existsSync(to), existsSync(`${to}.part`)]).toEqual([false, false])
  })
})

describe('inputs', () => {
  const scored = async (model: string, rows: readonly object[], options: object = {}): Promise<unknown[]> => {
    const to = at('inputs-out.ndjson')
    const text = rows.map(row => JSON.stringify(row)).join('\n')
    await score({ model, from: file('inputs.ndjson', text), to, ...options })
    return lines(to)
  }
  const taking = (name: string, type: string): string =>
    file(`${name}.onnxtxt`, `<ir_version: 9, opset_import: ["" : 21]> g (${type} x) => (${type} y) { y = Identity(x) }`)

  test('are filled from columns side by side, from lists, and from single cells', async () => {
    expect(await scored(double, [{ a: 1, b: 2 }], { map: { x: ['b', 'a'] } })).toEqual([{ a: 1, b: 2, y: [4, 2] }])
    expect(await scored(double, [{ x: [1, 2] }, { x: [3, 4] }])).toMatchObject([{ y: [2, 4] }, { y: [6, 8] }])
    expect(await scored(double, [{ x: 1 }, { x: 2 }])).toMatchObject([{ y: [2] }, { y: [4] }])
  })

  test('of a flat list take the dims that the model fixes', async () => {
    const squares = taking('squares', 'float[n,2,2]')
    expect(await scored(squares, [{ x: [1, 2, 3, 4] }])).toMatchObject([
      {
        y: [
          [1, 2],
          [3, 4]
        ]
      }
    ])
  })

  test('of several lengths are padded where that is asked for, and bad rows else', async () => {
    const rows = [{ x: [1] }, { x: [1, 2, 3] }]
    expect(await scored(double, rows, { pad: 0 })).toMatchObject([{ y: [2, 0, 0] }, { y: [2, 4, 6] }])
    await expect(scored(double, rows)).rejects.toMatchObject({
      code: 'shape-mismatch',
      message: expect.stringMatching(/row 1: .*--pad 0/) as string
    })
    const whole = taking('whole', 'uint8[n,m]')
    expect(await scored(whole, rows, { pad: 7 })).toMatchObject([{ y: [1, 7, 7] }, { y: [1, 2, 3] }])
    for (const [pad, message] of [
      ['x', /--pad x: input "x" is uint8; "x" is no whole number/],
      [0.5, /0.5 is no whole number/],
      [300, /300 is not in 0/]
    ] as const) {
      const failure = { code: 'bad-usage', message: expect.stringMatching(message) as string }
      await expect(scored(whole, rows, { pad })).rejects.toMatchObject(failure)
      expect(await scored(whole, [{ x: [1] }, { x: [2] }], { pad })).toMatchObject([{ y: [1] }, { y: [2] }])
    }
  })

  test('of a fixed first dim are filled up, and of no such dim run row by row', async () => {
    const three = taking('three', 'float[3,2]')
    const rows = Array.from({ length: 5 }, (_, i) => ({ x: [i, i + 0.5] }))
    expect(await scored(three, rows)).toMatchObject(rows.map(({ x }) => ({ y: x })))
    const one = taking('one', 'float[2]')
    expect(await scored(one, rows)).toMatchObject(rows.map(({ x }) => ({ y: x })))
  })

  test.each([
    ['int8', 127, 128, /not in -128 … 127/],
    ['uint64', 5, -1, /not in 0/],
    ['int64', '12', 1.5, /no whole number/],
    ['float16', 1.5, 'word', /no number/],
    ['bfloat16', 2, null, /no value/],
    ['double', '1e3', [1, 2], /dims \[2\]/],
    ['bool', true, 'maybe', /neither true nor false/],
    ['string', 'word', { a: 1 }, /no text/]
  ] as const)('of type %s take %j and refuse %j', async (type, good, bad, message) => {
    const model = taking(`type-${type}`, `${type}[n]`)
    const [row] = (await scored(model, [{ x: good }])) as { y: unknown }[]
    expect(String(row.y)).toBe(String(type === 'double' ? 1000 : good))
    await expect(scored(model, [{ x: good }, { x: bad }])).rejects.toMatchObject({
      message: expect.stringMatching(message) as string,
      details: { row: 1 }
    })
  })

  test('and outputs and columns that are not there are told by name', async () => {
    const rows = [{ a: 1 }]
    const refused = async (options: object): Promise<string> =>
      scored(gather, rows, options).then(String, (error: Error) => error.message)
    expect(await refused({})).toMatch(/no column is named as input "id"; the table has "a".*--map id=a/)
    expect(await refused({ map: { id: ['b'] } })).toMatch(/no column "b"/)
    for (const mark of [';', '\t'])
      expect(await scored(gather, [{ [`id${mark}x`]: 1 }]).catch(String)).toMatch(
        `; the table has ${JSON.stringify(`id${mark}x`)}, as one column: columns of a CSV are parted by ","`
      )
    expect(await refused({ map: { ids: ['a'] } })).toMatch(/no such input; it has id/)
    expect(await refused({ map: { id: ['a'] }, outputs: ['lost'] })).toMatch(/no output "lost"; it has found/)
    expect(await refused({ map: { id: ['a'] }, as: { found: 'a' } })).toMatch(/a column "a" already/)
    expect(await refused({ map: { id: ['a'] }, keep: ['b'] })).toMatch(/no column "b"/)
  })

  test('and the example of columns has as many as the input', async () => {
    const message = async (type: string): Promise<string> =>
      scored(taking(`wide-${type}`, type), [{ a: 1, b: 2, c: 3, d: 4, e: 5 }]).then(
        String,
        (error: Error) => error.message
      )
    expect(await message('float[n,4]')).toMatch(/as in --map x=a,b,c,d$/)
    expect(await message('float[n]')).toMatch(/as in --map x=a$/)
    expect(await message('float[n,m]')).toMatch(/as in --map x=a,b,c$/)
    expect(await message('float[n,784]')).toMatch(/as in --map x=a,b,c$/)
  })

  test('and a table that is not there is told once', async () => {
    const lost = score({ model: gather, from: at('lost.csv'), to: at('lost-out.csv') })
    await expect(lost).rejects.toMatchObject({ code: 'missing-file', message: `${at('lost.csv')}: does not exist` })
  })

  test('may leave columns behind', async () => {
    expect(await scored(gather, [{ id: 1, more: 2 }], { keep: ['more'] })).toEqual([{ more: 2, found: 20 }])
    expect(await scored(gather, [{ id: 1, more: 2 }], { keep: [] })).toEqual([{ found: 20 }])
  })
})

describe('rows that fail', () => {
  const text = [0, 7, 1, null, 2].map(id => JSON.stringify({ id })).join('\n')
  const from = (): string => file('bad.ndjson', text)

  test('end it with the first of them', async () => {
    await expect(score({ model: gather, from: from(), to: at('bad-out.ndjson') })).rejects.toMatchObject({
      details: { row: 3 }
    })
    expect(existsSync(at('bad-out.ndjson'))).toBe(false)
  })

  test('are skipped, or null, and told in a file of their own', async () => {
    const to = at('skipped.ndjson')
    expect(await score({ model: gather, from: from(), to, onError: 'skip' })).toMatchObject({ rows: 5, failed: 2 })
    expect(lines(to)).toEqual([
      { id: 0, found: 10 },
      { id: 1, found: 20 },
      { id: 2, found: 30 }
    ])
    expect(lines(`${to}.errors.ndjson`)).toEqual([
      { row: 1, code: 'index-out-of-range', message: expect.any(String) as string, values: { id: 7 } },
      { row: 3, code: 'type-mismatch', message: expect.any(String) as string, values: { id: null } }
    ])
    for (const suffix of ['ndjson', 'parquet', 'arrow']) {
      const nulls = at(`nulls.${suffix}`)
      await score({ model: gather, from: from(), to: nulls, onError: 'null', errors: at('told.ndjson') })
      await score({
        model: gather,
        from: nulls,
        to: at('n.ndjson'),
        map: { id: ['id'] },
        as: { found: 'b' },
        onError: 'null'
      })
      expect(lines(at('n.ndjson')).map(({ found }) => found)).toEqual([10, null, 20, null, 30])
    }
  })

  test('of the model are not looked for row by row', async () => {
    const unknown = file(
      'unknown.onnx',
      onnxBytes({
        inputs: [port('id', 'int64', ['n'])],
        outputs: [port('y', 'float')],
        nodes: [node('Lost', ['id'], ['y'])]
      })
    )
    await expect(
      score({ model: unknown, from: from(), to: at('never.ndjson'), onError: 'skip' })
    ).rejects.toMatchObject({ code: 'unsupported-op' })
  })
})

describe('a run that was stopped', () => {
  const rows = 150_000
  const table = file('many.csv', `id\n${Array.from({ length: rows }, (_, i) => i % 3).join('\n')}\n`)

  test.each(['csv', 'ndjson', 'arrows', 'arrow', 'parquet'])('goes on to the same bytes in %s', async suffix => {
    const [whole, to] = [at(`whole.${suffix}`), at(`stopped.${suffix}`)]
    await score({ model: gather, from: table, to: whole })
    const stop = new AbortController()
    const onProgress = ({ rows: done }: { rows: number }): void => {
      if (done > 140_000) stop.abort()
    }
    const options = { model: gather, from: table, to }
    const before = new Date()
    utimesSync(gather, before, before)
    await expect(score({ ...options, signal: stop.signal, onProgress })).rejects.toMatchObject({
      code: 'aborted',
      message: expect.stringMatching(/--resume goes on/) as string
    })
    expect([existsSync(to), existsSync(`${to}.part`)]).toEqual([false, true])
    await expect(score({ ...options, keep: [], resume: true })).rejects.toMatchObject({ code: 'bad-usage' })
    utimesSync(gather, before, new Date(before.getTime() + 5000))
    await expect(score({ ...options, resume: true })).rejects.toMatchObject({ code: 'bad-usage' })
    utimesSync(gather, before, before)
    const result = await score({ ...options, resume: true })
    expect(result.rows).toBe(rows)
    expect(result.resumed).toBeGreaterThan(0)
    expect(readFileSync(to).equals(readFileSync(whole))).toBe(true)
    expect([existsSync(`${to}.part`), existsSync(`${to}.part.json`)]).toEqual([false, false])
  })

  test('goes on only with the same values for all rows', async () => {
    const add = file(
      'add.onnx',
      onnxBytes({
        inputs: [port('id', 'float', ['n']), port('by', 'float', [])],
        outputs: [port('sum', 'float', ['n'])],
        nodes: [node('Add', ['id', 'by'], ['sum'])]
      })
    )
    const stop = new AbortController()
    const feeds = { by: new Tensor('float32', [1], []) }
    const options = { model: add, from: table, to: at('fed.ndjson'), feeds }
    const onProgress = ({ rows: done }: { rows: number }): void => {
      if (done > 20_000) stop.abort()
    }
    await expect(score({ ...options, signal: stop.signal, onProgress })).rejects.toMatchObject({ code: 'aborted' })
    const other = { by: new Tensor('float32', [2], []) }
    await expect(score({ ...options, feeds: other, resume: true })).rejects.toMatchObject({ code: 'bad-usage' })
    expect((await score({ ...options, resume: true })).resumed).toBeGreaterThan(0)
  })
})
