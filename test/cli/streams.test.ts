import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MODELS, nodewise, nodewiseJson, nodewiseProcess, temporaryFolder } from './command.ts'

const folder = temporaryFolder()
const palette = join(MODELS, 'palette.onnx')
const run = ['run', palette, '-i', 'ids=[1]']

describe('- is stdout', () => {
  test('of a profile; what people read is on stderr then', async () => {
    const { status, stdout, stderr } = await nodewise([...run, '--profile', '-'])
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toHaveProperty('traceEvents')
    expect(stderr).toMatch(/^name: string \[1\]/)
  })

  test('of a JUnit report; the list of cases is on stderr then', async () => {
    const cases = join(folder, 'cases')
    mkdirSync(cases)
    expect((await nodewise([...run, '--save-case', join(cases, 'one')])).status).toBe(0)
    const { status, stdout, stderr } = await nodewise(['test', cases, '--junit', '-', '--jobs', '1'])
    expect(status).toBe(0)
    expect(stdout).toMatch(/^<\?xml [^]*<testsuites name="nodewise" tests="1" failures="0"[^]*<\/testsuites>\n$/)
    expect(stderr).toMatch(/^pass {2}.*\n1 passed, 0 failed, 0 skipped\n$/)
  })

  test('of one document only', async () => {
    for (const args of [
      [...run, '--profile', '-', '--json'],
      [...run, '--profile', '-', '-o', '-'],
      [...run, '-o', '-', '--json'],
      ['test', MODELS, '--junit', '-', '--json']
    ]) {
      const { status, stdout, stderr } = await nodewise(args)
      expect([status, stdout + stderr], args.join(' ')).toEqual([
        2,
        expect.stringMatching(/both write to stdout|there is no case/) as string
      ])
    }
  })

  test('also by its path, and another program reads a report as it is written', () => {
    const shell = '"$0" "$@" --profile /dev/stdout 2>/dev/null | head -c 1'
    expect(nodewiseProcess(run, { shell }).stdout).toBe('{')
    const report = '"$0" "$@" -o >(cat >&2); sleep 0.5'
    expect(nodewiseProcess(['check', palette, '--format', 'json'], { shell: report }).stderr).toContain('"summary"')
  })
})

describe('what -o names', () => {
  const wrong = join(MODELS, 'wrong-dim.xml')

  test.skipIf(!existsSync('/dev/full'))('may be a device that takes nothing', async () => {
    for (const args of [
      ['check', wrong, '-o', '/dev/full'],
      ['inspect', palette, '-o', '/dev/full'],
      [...run, '-o', '/dev/full'],
      [...run, '--profile', '/dev/full']
    ]) {
      const { status, stdout, stderr } = await nodewise([...args, ...(args[0] === 'run' ? [] : ['--json'])])
      expect([status, stdout + stderr], args.join(' ')).toEqual([2, expect.stringContaining('cannot write: ENOSPC')])
      expect(stdout + stderr).not.toContain('internal')
    }
  })

  test('may be a folder, or lie below a file, which is told as such', async () => {
    const { status, stderr } = await nodewise(['check', wrong, '-o', folder])
    expect([status, stderr]).toEqual([2, `${folder}: cannot write: this is a folder\n`])
    const { json } = await nodewiseJson([...run, '--save-case', palette, '--json'])
    expect(json.error).toMatchObject({ code: 'write-failed', place: { file: join(palette, 'test_data_set_0') } })
  })

  test('has no colors, also where the terminal has', () => {
    const shell = 'FORCE_COLOR=1 "$0" "$@"'
    const report = join(folder, 'report.txt')
    for (const args of [
      ['check', wrong],
      ['inspect', palette, '--nodes']
    ]) {
      expect(nodewiseProcess([...args, '-o', '-'], { shell }).stdout).toContain('\x1b[1m')
      nodewiseProcess([...args, '-o', report], { shell })
      expect(readFileSync(report, 'utf8')).toBe(nodewiseProcess(args).stdout)
    }
  })
})

describe('a model of a server', () => {
  const server = createServer(({ url = '' }, response) => {
    if (url === '/palette.onnx') response.end(readFileSync(palette))
    else if (url === '/login.onnx') response.end('<!DOCTYPE html><html><body>Sign in</body></html>')
    else response.writeHead(404).end('nothing here')
  })
  let home = ''
  beforeAll(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    home = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => server.close())

  test('runs as one of a file', async () => {
    const { stdout } = await nodewise(['run', `${home}/palette.onnx`, '-i', 'ids=[1]'])
    expect(stdout).toBe((await nodewise(run)).stdout)
  })

  test('that is not there is told with its URL', async () => {
    const url = `${home}/models/gone.onnx`
    for (const command of ['run', 'check', 'inspect']) {
      const { status, stdout, stderr } = await nodewise([command, url])
      expect([status, stdout, stderr]).toEqual([2, '', `${url}: the server answers 404 Not Found\n`])
    }
    const { json } = await nodewiseJson(['run', url, '--json'])
    expect(json.error).toMatchObject({ code: 'missing-file', place: { file: url } })
  })

  test('that is a page is told for what it is', async () => {
    const { status, stderr } = await nodewise(['inspect', `${home}/login.onnx`])
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/^http:.*login\.onnx: this is an HTML page.*\n$/) as string
    ])
  })

  test('of a server that does not answer is told with its URL', async () => {
    const { status, stderr } = await nodewise(['check', 'http://127.0.0.1:1/model.onnx'])
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/^http:\/\/127\.0\.0\.1:1\/model\.onnx: cannot be fetched: /) as string
    ])
  })
})

test('an IR that comes in on stdin is checked, and shown as its graph in place of its lines', () => {
  const shell = `"$0" "$@" < ${JSON.stringify(join(MODELS, 'wrong-dim.xml'))}`
  const { status, stdout, stderr } = nodewiseProcess(['check', '-'], { shell })
  expect([status, stderr]).toEqual([1, ''])
  expect(stdout).toMatch(/^stdin:29:3: Gather "gather" .*\n {2}\| Gather "gather"\n {2}\| {3}<- /)
  const page = nodewiseProcess(['check', '-', '--format', 'html'], { shell })
  expect([page.status, page.stderr]).toEqual([1, ''])
})

test('a model that comes in on stdin is named so', () => {
  const text = join(folder, 'text.txt')
  writeFileSync(text, 'no model')
  expect(nodewiseProcess(['inspect', '-'], { shell: `"$0" "$@" < ${JSON.stringify(text)}` }).stderr).toMatch(
    /^stdin: this is /
  )
})
