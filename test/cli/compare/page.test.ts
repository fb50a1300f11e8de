import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { XMLParser } from 'fast-xml-parser'
import { describe, expect, test } from 'vitest'
import { floats, node, onnxBytes, port } from '../../fixtures/onnx.ts'
import { nodewise, nodewiseProcess, temporaryFolder } from '../command.ts'

const folder = temporaryFolder()
const EVIL = '<script>alert("x")</script>&'

function model(name: string, weight: number): string {
  const path = join(folder, `${name}.onnx`)
  const parts = {
    inputs: [port('x', 'float', [2])],
    initializers: [floats('w', [2], [1, weight])],
    outputs: [port('y', 'float', [2])],
    nodes: [
      node('Abs', ['x'], ['a']),
      node('Exp', ['a'], [EVIL]),
      node('Mul', [EVIL, 'w'], ['m']),
      node('Neg', ['m'], ['y'])
    ]
  }
  writeFileSync(path, onnxBytes(parts))
  return path
}
const [one, two] = [model('one', 2), model('two', 3)]
const page = async (...args: string[]): Promise<string> => {
  const path = join(folder, 'page.html')
  await nodewise(['compare', ...args, '-i', 'x=[1,-2]', '--html', path])
  return readFileSync(path, 'utf8')
}
const drawings = (html: string): string[] => html.match(/<svg.*?<\/svg>/gs) ?? []

describe('compare --html', () => {
  test('draws both neighbourhoods with the node that differs, and the errors of all pairs', async () => {
    const html = await page(one, two)
    expect(html).toContain('<b class="declared">not equal</b>')
    expect(html).toContain('worst at [1]: ')
    const [a, b, curve] = drawings(html)
    for (const drawing of [a, b]) {
      expect(() => new XMLParser().parse(drawing, true) as unknown).not.toThrow()
      expect(drawing.match(/class="[^"]*marked"/g)).toHaveLength(1)
      expect(drawing).toContain('>Mul<')
      expect(drawing).toContain('>Neg<')
    }
    expect(curve.match(/<circle class="equal"/g)).toHaveLength(2)
    expect(curve.match(/<circle class="apart"/g)).toHaveLength(2)
  })

  test('escapes names, runs no script and takes nothing from elsewhere', async () => {
    const html = await page(one, two, '--isolate')
    expect(html).not.toContain('<script')
    expect(html).toContain('&lt;script&gt;')
    expect(html).toContain("default-src 'none'")
    expect(html).not.toMatch(/(?:src|href)=/)
    expect(html).toContain('prefers-color-scheme: dark')
  })

  test('says that models are equal, and draws only the errors then', async () => {
    const html = await page(one, one)
    expect(html).toContain('<b class="good">equal</b>')
    expect(drawings(html)).toHaveLength(1)
  })

  test('has a place for what was recorded', async () => {
    const record = join(folder, 'values.npz')
    await nodewise(['run', one, '-i', 'x=[1,-2]', '--record', record])
    const html = await page(two, record)
    expect(html).toContain('recorded &quot;m&quot;')
    expect(drawings(html)).toHaveLength(2)
  })
})

test('the page may go to stdout, with the text on stderr, and to a pipe, which stays one', async () => {
  const compare = ['compare', one, one, '-i', 'x=[1,-2]']
  const { status, stdout, stderr } = await nodewise([...compare, '--html', '-'])
  expect([status, stdout.slice(0, 15), stderr]).toEqual([0, '<!doctype html>', expect.stringMatching(/\nequal\n$/)])
  expect((await nodewise([...compare, '--html', '-', '--json'])).stdout).toContain('both write to stdout')
  const pipe = join(folder, 'pipe.html')
  const shell = `mkfifo ${pipe}; head -c 15 ${pipe} >&2 & "$0" "$@" --html ${pipe} >/dev/null; wait; test -p ${pipe}`
  const piped = nodewiseProcess(compare, { shell })
  expect([piped.status, piped.stderr]).toEqual([0, '<!doctype html>'])
})
