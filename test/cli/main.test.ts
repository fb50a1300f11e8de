import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { MODELS, nodewise, nodewiseJson, nodewiseProcess } from './command.ts'

test('ops lists every operator with its dialect, domain and versions, constants and ports of an IR too', async () => {
  const { stdout, status } = await nodewise(['ops', '--json'])
  const list = JSON.parse(stdout) as { name: string; dialect: string; domain: string; since: number; until?: number }[]
  expect(status).toBe(0)
  expect(list.filter(({ name, dialect }) => name === 'Gather' && dialect === 'openvino')).toEqual([
    { name: 'Gather', dialect: 'openvino', domain: 'openvino', since: 1, until: 6 },
    { name: 'Gather', dialect: 'openvino', domain: 'openvino', since: 7, until: 7 },
    { name: 'Gather', dialect: 'openvino', domain: 'openvino', since: 8 }
  ])
  expect(list).toContainEqual({ name: 'Constant', dialect: 'onnx', domain: 'ai.onnx', since: 1 })
  for (const name of ['Const', 'Parameter', 'Result'])
    expect(list).toContainEqual({ name, dialect: 'openvino', domain: 'openvino', since: 1 })
})

test('ops prints one line an operator', async () => {
  const lines = (await nodewise(['ops'])).stdout.split('\n')
  expect(lines[0]).toMatch(/^name +dialect +domain +versions$/)
  expect(lines.filter(line => /^Gather +openvino/.test(line))).toEqual([expect.stringMatching(/1-6, 7, 8-$/)])
})

test('ops --missing lists what is not supported, below the reason; none of it is in the list of what is', async () => {
  type Listed = { name: string; dialect: string; domain: string; versions: number[]; reason: string }
  const missing = JSON.parse((await nodewise(['ops', '--missing', '--json'])).stdout) as Listed[]
  expect(missing.find(({ name }) => name === 'EPContext')).toEqual({
    name: 'EPContext',
    dialect: 'onnx',
    domain: 'com.microsoft',
    versions: [1],
    reason: expect.stringMatching(/compiled/) as string
  })
  const listed = JSON.parse((await nodewise(['ops', '--json'])).stdout) as (Listed & { since: number })[]
  for (const { name, dialect, domain, versions } of missing)
    for (const other of listed.filter(op => op.name === name && op.dialect === dialect && op.domain === domain))
      expect(versions, name).not.toContain(other.since)
  const lines = (await nodewise(['ops', '--missing'])).stdout.split('\n')
  expect(lines[0]).toMatch(/^ {2}name +dialect +domain +versions$/)
  const reasons = new Set(missing.map(({ reason }) => reason))
  expect(lines.filter(line => /^\S/.test(line)).toSorted()).toEqual([...reasons].map(reason => `${reason}:`).toSorted())
  let above = ''
  const printed = lines.slice(1).flatMap(line => {
    if (/^\S/.test(line)) above = line.slice(0, -1)
    const cells = /^ {2}(\S+) +(\S+) +(\S+) +(\d.*)$/.exec(line)
    return cells ? [[...cells.slice(1), above].join('|')] : []
  })
  const expected = missing.map(({ name, dialect, domain, versions, reason }) =>
    [name, dialect, domain, versions.join(', '), reason].join('|')
  )
  expect(printed.toSorted()).toEqual(expected.toSorted())
})

test('ops --plain lists the operators that have no kernel in WebAssembly', async () => {
  const plain = JSON.parse((await nodewise(['ops', '--plain', '--json'])).stdout) as { name: string }[]
  const listed = JSON.parse((await nodewise(['ops', '--json'])).stdout) as object[]
  const names = plain.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['StringNormalizer', 'TfIdfVectorizer']))
  for (const name of ['Gather', 'AvgPool', 'AveragePool', 'Constant']) expect(names).not.toContain(name)
  expect(listed).toEqual(expect.arrayContaining(plain))
  expect((await nodewise(['ops', '--plain', 'Gather'])).stdout).toMatch(/^name +dialect +domain +versions\n$/)
  expect((await nodewise(['ops', '--plain', '--missing'])).status).toBe(2)
})

test.each([
  ['an unknown command', ['walk', 'model.onnx']],
  ['an unknown option', ['run', 'model.onnx', '--quickly']],
  ['a model too few', ['run']],
  ['a model too many', ['run', 'a.onnx', 'b.onnx']],
  ['a value that is none of those allowed', ['run', 'model.onnx', '--out-of-range', 'wrap']],
  ['a number that is none', ['run', 'model.onnx', '--threads', '-2']]
])('%s is bad usage: exit code 2, one line, and one JSON document with --json', async (_, args) => {
  const { status, stdout, stderr } = await nodewise(args)
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(await nodewiseJson([...args, '--json'])).toMatchObject({
    status: 2,
    json: { error: { code: 'bad-usage' } },
    stderr: ''
  })
})

test('help and version are answers', async () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
    version: string
  }
  expect(await nodewise(['--version'])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
  expect(await nodewise(['--help'])).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/run .*check .*inspect .*test .*ops /s) as string
  })
  expect(await nodewise(['run', '--help'])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('--out-of-range') as string
  })
  expect(await nodewise(['help', 'test'])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('--junit') as string
  })
})

test.each([
  ['ops', ['ops']],
  ['help', ['run', '--help']],
  ['a run', ['run', join(MODELS, 'palette.onnx'), '-i', 'ids=[0,1]']],
  ['a run that fails, in JSON', ['run', join(MODELS, 'palette.onnx'), '-i', 'ids=[99]', '--json']],
  ['a check', ['check', join(MODELS, 'palette.xml'), '--values']],
  ['an inspection', ['inspect', join(MODELS, 'palette.onnx'), '--json']],
  ['bad usage', ['run', 'model.onnx', '--quickly']]
])('%s in a process of its own prints and ends as in one that answers many commands', async (_, args) => {
  expect(nodewiseProcess(args)).toEqual(await nodewise(args))
})

describe('main', () => {
  function terminal(more: { isTTY?: boolean; columns?: number } = {}, env: Record<string, string> = {}) {
    const written = { stdout: '', stderr: '' }
    const output = (name: 'stdout' | 'stderr'): Writable =>
      new Writable({
        write(text, _encoding, done) {
          written[name] += String(text)
          done()
        }
      })
    const stdout = Object.assign(output('stdout'), more)
    const program = new URL('file:///none')
    const stderr = Object.assign(output('stderr'), more)
    return { written, stdout, stderr, env, cwd: MODELS, program }
  }
  const check = ['check', join(MODELS, 'palette.xml')]

  test('colors results only on a terminal, and never with NO_COLOR', async () => {
    const [screen, plain, file] = [terminal({ isTTY: true }), terminal({ isTTY: true }, { NO_COLOR: '1' }), terminal()]
    for (const each of [screen, plain, file]) expect(await main(check, each)).toBe(0)
    expect(screen.written.stdout).toContain('\x1b[32m0 errors')
    expect(plain.written).toEqual(file.written)
    expect(file.written.stdout).not.toContain('\x1b')
  })

  test('colors failures as results, on a terminal that is not dumb, and where colors are asked for', async () => {
    const failing = ['inspect', 'none.onnx']
    const written = async (options: object, env: Readonly<Record<string, string>> = {}): Promise<string> => {
      const screen = terminal(options, env)
      expect(await main(failing, screen)).toBe(2)
      return screen.written.stderr
    }
    const plain = await written({})
    expect(plain).not.toContain('\x1b')
    const colored = await written({ isTTY: true })
    expect(colored.startsWith('\x1b[1mnone.onnx\x1b[0m\x1b[31m: '), colored).toBe(true)
    expect(await written({ isTTY: true }, { TERM: 'dumb' })).toBe(plain)
    expect(await written({}, { FORCE_COLOR: '1' })).toBe(colored)
    expect(await written({ isTTY: true }, { FORCE_COLOR: '0' })).toBe(plain)
    expect(await written({ isTTY: true }, { FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(plain)
  })

  test('fits help to the width of the terminal', async () => {
    const [narrow, wide] = [terminal({ isTTY: true, columns: 100 }), terminal({ isTTY: true, columns: 500 })]
    for (const each of [narrow, wide]) expect(await main(['run', '--help'], each)).toBe(0)
    const longest = (text: string): number => Math.max(...text.split('\n').map(line => line.length))
    expect(longest(narrow.written.stdout)).toBeLessThan(longest(wide.written.stdout))
  })

  test('answers several commands at the same time, each where it was asked', async () => {
    const [a, b] = [terminal(), terminal()]
    const codes = await Promise.all([main(['inspect', 'none.onnx'], a), main(check, b)])
    expect(codes).toEqual([2, 0])
    expect([a.written.stdout, b.written.stderr]).toEqual(['', ''])
    expect(a.written.stderr).toMatch(/^none\.onnx: /)
  })
})

test('the version is said however one asks for it', async () => {
  const { stdout } = await nodewise(['--version'])
  expect(stdout).toMatch(/^\d+\.\d+\.\d+/)
  for (const args of [['-v'], ['-V'], ['version']]) expect(await nodewise(args)).toMatchObject({ status: 0, stdout })
})

test('without a command the usage is shown', async () => {
  const { status, stdout, stderr } = await nodewise([])
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^Usage: nodewise/)
})

test('what was meant is said in one line, of commands, options and operators', async () => {
  expect((await nodewise(['chek', 'm.onnx'])).stderr).toMatch(/unknown command 'chek' \(Did you mean check\?\)\n$/)
  expect((await nodewise(['run', 'm.onnx', '--thread', '2'])).stderr).toMatch(/\(Did you mean --threads\?\)\n$/)
  expect((await nodewise(['ops', 'Gahter'])).stderr).toMatch(/no operator "Gahter"; did you mean "Gather"\?\n$/)
  expect((await nodewise(['ops', 'BeamSearch'])).stderr).toMatch(/BeamSearch is not supported: generates text/)
})

test('one operator is listed in all its dialects', async () => {
  const { stdout } = await nodewise(['ops', 'gather'])
  expect(stdout.trimEnd().split('\n')).toHaveLength(3)
})
