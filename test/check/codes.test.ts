import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CODES } from '../../src/check/codes.ts'

const ROOT = join(import.meta.dirname, '../..')
const page = readFileSync(join(ROOT, 'docs/checking.md'), 'utf8')
/** Code and text of each entry of the page; line breaks within a paragraph do not count. */
const entries = page
  .split(/^#### /m)
  .slice(1)
  .map(entry => {
    const [code, ...lines] = entry.split(/^##|^Only runs /m)[0].split('\n')
    return [code, lines.join('\n').trim().split(/\n\n+/).map(unwrapped)] as const
  })

function unwrapped(paragraph: string): string {
  return paragraph.replace(/\n/g, ' ')
}

/** The members of a union of strings in a source file: what the compiler lets the sources emit. */
function unionIn(file: string, name: string): string[] {
  const source = readFileSync(join(ROOT, 'src', file), 'utf8')
  const union =
    new RegExp(`export type ${name} =\\n((?:  \\| .*\\n)+)`).exec(source)?.[1] ?? expect.fail(`${file} has no ${name}`)
  return [...union.matchAll(/'([^']+)'/g)].map(([, code]) => code)
}

const codes = [...unionIn('errors.ts', 'ErrorCode'), ...unionIn('graph/graph.ts', 'FindingCode')]

describe('the codes', () => {
  test('are all that the sources can emit', () => {
    expect(codes.length).toBeGreaterThan(60)
    expect(Object.keys(CODES).sort()).toEqual([...codes].sort())
  })

  test('are those of the page about checking, in its order', () => {
    expect(entries.map(([code]) => code)).toEqual(Object.keys(CODES))
  })

  test.each(entries)('%s: the page and the program say the same, a meaning and an example', (code, paragraphs) => {
    expect(paragraphs).toEqual(CODES[code as keyof typeof CODES])
  })

  test.each(Object.entries(CODES))('%s is told in sentences', (_, [meaning]) => expect(meaning).toMatch(/^[A-Z`].*\.$/))
})
