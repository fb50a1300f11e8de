import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../', import.meta.url))
const src = `${root}src`

/** Names in code style in the right column of the table of helpers. */
function helpersOfTable(): string[] {
  const text = readFileSync(`${root}CONTRIBUTING.md`, 'utf8')
  const table = text.slice(text.indexOf('## Helpers'), text.indexOf('## A faster kernel'))
  return [...table.matchAll(/^\|[^|]*\|([^|]*)\|$/gm)].flatMap(([, cell]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name)
  )
}

/** What the folders that an operator may import export. */
function exportedNames(): Set<string> {
  const files = ['op-kit', 'shapes', 'kernels', 'tensor'].flatMap(folder =>
    readdirSync(`${src}/${folder}`, { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.ts'))
      .map(name => `${src}/${folder}/${name}`)
  )
  const declared = /^export (?:const|function\*?|class|interface|type) (\w+)/gm
  return new Set(files.flatMap(file => [...readFileSync(file, 'utf8').matchAll(declared)].map(([, name]) => name)))
}

test('the helpers that CONTRIBUTING.md names are there', () => {
  const helpers = helpersOfTable()
  const names = helpers.filter(helper => /^\w+(\(.*\))?$/.test(helper)).map(helper => helper.replace(/\(.*/, ''))
  const exported = exportedNames()
  expect(names.length).toBeGreaterThan(80)
  expect(names.filter(name => name !== 'fail' && !exported.has(name))).toEqual([])
  const paths = helpers.filter(helper => helper.includes('/'))
  expect(paths.length).toBeGreaterThan(30)
  expect(paths.filter(path => !existsSync(`${src}/${path}`))).toEqual([])
})
