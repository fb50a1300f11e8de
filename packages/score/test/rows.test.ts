import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { score } from '../src/score.ts'

const folder = mkdtempSync(join(tmpdir(), 'nodewise-rows-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const at = (name: string): string => join(folder, name)
const file = (name: string, content: string): string => {
  writeFileSync(at(name), content)
  return at(name)
}
const modelOf = (name: string, dims: string): string =>
  file(
    `${name}.onnxtxt`,
    `<ir_version: 9, opset_import: ["" : 21]> g (float[${dims}] x) => (float[${dims}] y) { y = Abs (x) }`
  )
const rows = modelOf('rows', 'n,2')
const single = modelOf('single', '2')
const column = modelOf('column', 'n')

const outputs = (path: string): unknown[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => (JSON.parse(line) as { y: unknown }).y)

const NULL = '{"x":null}'
const SHORT = '{"x":[1]}'
const GOOD = '{"x":[-1,2]}'

describe('a row that the model does not take', () => {
  test.each([
    [
      'the first',
      [SHORT, GOOD, GOOD],
      [
        [1, 2],
        [1, 2]
      ]
    ],
    ['the first of another depth', ['{"x":5}', GOOD], [[1, 2]]],
    [
      'one in between',
      [GOOD, '{"x":[1,2,3]}', GOOD],
      [
        [1, 2],
        [1, 2]
      ]
    ],
    ['every one', [NULL, NULL], []],
    ['every one, for several reasons', [NULL, SHORT], []]
  ])('is skipped alone: %s', async (_, table, expected) => {
    const to = at('out.ndjson')
    const done = await score({ model: rows, from: file('in.ndjson', table.join('\n')), to, onError: 'skip' })
    expect(done).toMatchObject({ rows: table.length, failed: table.length - expected.length })
    expect(outputs(to)).toEqual(expected)
  })

  test('is skipped alone where lists are padded and one is too long', async () => {
    const from = file('in.ndjson', [SHORT, '{"x":[1,2,3]}', GOOD].join('\n'))
    expect(await score({ model: rows, from, to: at('out.ndjson'), onError: 'skip', pad: 0 })).toMatchObject({
      failed: 1
    })
    expect(outputs(at('out.ndjson'))).toEqual([
      [1, 0],
      [1, 2]
    ])
  })

  test('ends it by its number and reason, also where no other row is there', async () => {
    const from = file('in.ndjson', NULL)
    await expect(score({ model: rows, from, to: at('never.ndjson') })).rejects.toMatchObject({
      code: 'type-mismatch',
      reason: expect.stringMatching(/^row 0: .*null is no value/) as string
    })
  })

  test('does not say how the others fill the input', async () => {
    const from = file('in.ndjson', [NULL, GOOD, GOOD].join('\n'))
    expect(await score({ model: single, from, to: at('out.ndjson'), onError: 'skip' })).toMatchObject({ failed: 1 })
    expect(outputs(at('out.ndjson'))).toEqual([
      [1, 2],
      [1, 2]
    ])
  })
})

describe('what is written', () => {
  test('never takes the place of the table, nor the rows that fail that of the others', async () => {
    const from = file('in.ndjson', [NULL, GOOD].join('\n'))
    const to = at('out.ndjson')
    for (const errors of [from, to])
      await expect(score({ model: rows, from, to, onError: 'skip', errors })).rejects.toMatchObject({
        code: 'bad-usage'
      })
    expect(readFileSync(from, 'utf8')).toBe([NULL, GOOD].join('\n'))
  })

  test('where nothing can be is told before a row is computed', async () => {
    const from = file('in.ndjson', GOOD)
    mkdirSync(at('folder.ndjson'))
    for (const to of [at('folder.ndjson'), join(from, 'out.ndjson')])
      await expect(score({ model: rows, from, to })).rejects.toMatchObject({
        code: 'write-failed',
        place: { file: to }
      })
    expect(existsSync(at('folder.ndjson.part'))).toBe(false)
    const errors = at('none/errors.ndjson')
    const bad = file('bad.ndjson', NULL)
    await expect(
      score({ model: rows, from: bad, to: at('out.ndjson'), onError: 'skip', errors })
    ).rejects.toMatchObject({ code: 'write-failed', place: { file: errors } })
  })

  test('in folders that are not there makes them', async () => {
    const to = at('new/folders/out.ndjson')
    await score({ model: rows, from: file('in.ndjson', GOOD), to })
    expect(outputs(to)).toEqual([[1, 2]])
  })

  test('of rows that failed is not there any more when none fails', async () => {
    const to = at('again.ndjson')
    await score({ model: rows, from: file('in.ndjson', NULL), to, onError: 'skip' })
    expect(existsSync(`${to}.errors.ndjson`)).toBe(true)
    await score({ model: rows, from: file('in.ndjson', GOOD), to, onError: 'skip' })
    expect(existsSync(`${to}.errors.ndjson`)).toBe(false)
  })
})

test('columns are called as what every object has, and rows may lack them', async () => {
  const from = file('in.ndjson', '{"x":-1,"constructor":"Lotus","__proto__":1}\n{"x":2}')
  await score({ model: column, from, to: at('out.csv') })
  expect(readFileSync(at('out.csv'), 'utf8')).toBe('x,constructor,__proto__,y\n-1,Lotus,1,1\n2,,,2\n')
})

test('infinities of pandas are numbers', async () => {
  await score({ model: column, from: file('in.csv', 'x\ninf\n-inf\nInfinity\nNaN\n'), to: at('out.csv') })
  expect(readFileSync(at('out.csv'), 'utf8')).toBe('x,y\ninf,Infinity\n-inf,Infinity\nInfinity,Infinity\nNaN,NaN\n')
})

test('two columns of one name are named', async () => {
  await expect(score({ model: column, from: file('in.csv', 'x,a,a\n1,2,3\n'), to: at('out.csv') })).rejects.toThrow(
    'two columns have the same name, "a"'
  )
})
