import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { nodewise, nodewiseJson } from './command.ts'

test('ops lists every operator with its dialect, domain and versions, constants and the border of an IR too', () => {
  const { stdout, status } = nodewise(['ops', '--json'])
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

test('ops prints one line an operator', () => {
  const lines = nodewise(['ops']).stdout.split('\n')
  expect(lines[0]).toMatch(/^name +dialect +domain +versions$/)
  expect(lines.filter(line => /^Gather +openvino/.test(line))).toEqual([expect.stringMatching(/1-6, 7, 8-$/)])
})

test.each([
  ['no command', []],
  ['an unknown command', ['walk', 'model.onnx']],
  ['an unknown option', ['run', 'model.onnx', '--quickly']],
  ['a model too few', ['run']],
  ['a model too many', ['inspect', 'a.onnx', 'b.onnx']],
  ['a value that is none of those allowed', ['run', 'model.onnx', '--out-of-range', 'wrap']],
  ['a number that is none', ['run', 'model.onnx', '--threads', '-2']]
])('%s is bad usage: exit code 2, one line, and one JSON document with --json', (_, args) => {
  const { status, stdout, stderr } = nodewise(args)
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(nodewiseJson([...args, '--json'])).toMatchObject({
    status: 2,
    json: { error: { code: 'bad-usage' } },
    stderr: ''
  })
})

test('help and version are answers', () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
    version: string
  }
  expect(nodewise(['--version'])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
  expect(nodewise(['--help'])).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/run .*check .*inspect .*test .*ops /s) as string
  })
  expect(nodewise(['run', '--help'])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('--out-of-range') as string
  })
  expect(nodewise(['help', 'test'])).toMatchObject({ status: 0, stdout: expect.stringContaining('--junit') as string })
})
