import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { barText, networkOf } from '../../src/cli/network.ts'
import type { Terminal } from '../../src/cli/terminal.ts'
import { giving, startWeb, type Web } from '../fixtures/web.ts'

const MODELS = join(import.meta.dirname, '../../models')
let web: Web
beforeAll(async () => {
  web = await startWeb()
  for (const name of ['palette.onnx', 'palette.xml', 'palette.bin'])
    web.files.set(`/m/${name}`, giving(readFileSync(join(MODELS, name)), { ranges: name.endsWith('bin') }))
})
afterAll(() => web.close())

async function answered(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const texts = { out: '', err: '' }
  const into = (name: 'out' | 'err'): Writable =>
    new Writable({
      write(chunk, _, done) {
        texts[name] += String(chunk)
        done()
      }
    })
  const terminal: Terminal = {
    stdout: into('out'),
    stderr: into('err'),
    env: {},
    cwd: process.cwd(),
    program: new URL('file:///nodewise.js')
  }
  return { code: await main(args, terminal), ...texts }
}

test('Commands take models at URLs, with what lies beside them', async () => {
  for (const name of ['palette.onnx', 'palette.xml']) {
    const { code, out, err } = await answered(
      'run',
      web.url(`/m/${name}`),
      '-i',
      'ids=[1]',
      '--header',
      'X-Key: secret'
    )
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain('"white"')
  }
  expect(web.asked.at(-1)?.headers['x-key']).toBe('secret')
  expect((await answered('check', web.url('/m/palette.onnx'))).code).toBe(0)
  expect((await answered('compare', web.url('/m/palette.onnx'), web.url('/m/palette.xml'), '-i', 'ids=[1]')).code).toBe(
    0
  )
  expect((await answered('inspect', web.url('/m/palette.xml'), '--statistics')).code).toBe(0)
})

test('A redirect elsewhere is refused, and allowed by its origin', async () => {
  const other = await startWeb()
  other.files.set('/x', giving(readFileSync(join(MODELS, 'palette.onnx'))))
  web.files.set('/there', (_, response) => response.writeHead(302, { Location: other.url('/x') }).end())
  const run = ['run', web.url('/there'), '-i', 'ids=[1]'] as const
  const { code, err } = await answered(...run)
  expect([code, err]).toEqual([2, expect.stringMatching(/\/there: it redirects to http:.*allow/)])
  expect((await answered(...run, '--allow-origin', other.origin)).code).toBe(0)
  other.close()
})

test('A header is a name and a value', () => {
  expect(networkOf({ header: ['Authorization: Bearer a:b', 'X-Empty:'] }).headers).toEqual({
    Authorization: 'Bearer a:b',
    'X-Empty': ''
  })
  for (const wrong of ['no colon', ': x', 'a b: c'])
    expect(() => networkOf({ header: [wrong] })).toThrow(expect.objectContaining({ code: 'bad-usage' }))
})

test('The bar says how far reading has come', () => {
  expect(barText({ file: 'http://h/a/w.bin', bytes: 512_000, total: 1_024_000 })).toBe(
    'w.bin [============>           ] 50 % of 1,000 KiB'
  )
  expect(barText({ file: 'w', bytes: 0, total: 0 })).toBe('w [========================] 100 % of 0 KiB')
})
