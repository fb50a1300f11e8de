import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CODES } from '../../src/check/codes.ts'

const ROOT = join(import.meta.dirname, '../..')
const page = readFileSync(join(ROOT, 'docs/checking.md'), 'utf8')
const entries = page
  .split(/^#### /m)
  .slice(1)
  .map(entry => entry.split(/^##/m)[0])

/** The members of a union of strings in a source file: what the compiler lets the sources emit. */
function unionIn(file: string, name: string): string[] {
  const source = readFileSync(join(ROOT, 'src', file), 'utf8')
  const union =
    new RegExp(`export type ${name} =\\n((?:  \\| .*\\n)+)`).exec(source)?.[1] ?? expect.fail(`${file} has no ${name}`)
  return [...union.matchAll(/'([^']+)'/g)].map(([, code]) => code)
}

const codes = [...unionIn('errors.ts', 'ErrorCode'), ...unionIn('graph/graph.ts', 'FindingCode')]

describe('the page about checking', () => {
  test('explains every code that the sources can emit, once', () => {
    expect(codes.length).toBeGreaterThan(60)
    expect(entries.map(entry => entry.split('\n')[0]).sort()).toEqual([...codes].sort())
  })

  test.each(entries.map(entry => [entry.split('\n')[0], entry] as const))(
    'says of %s what it means, with an example',
    (_, entry) => {
      expect(
        entry
          .split('\n')
          .slice(1)
          .filter(line => line !== '').length
      ).toBeGreaterThanOrEqual(2)
    }
  )
})

test('every code has its sentence for reports', () => {
  expect(Object.keys(CODES).sort()).toEqual([...codes].sort())
  for (const sentence of Object.values(CODES)) expect(sentence).toMatch(/^[A-Z].*\.$/)
})
