import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { check } from '../../src/index.ts'
import { load } from '../../src/load.ts'
import { DATA, describeData } from './data.ts'

/** The rows of the table in docs/checking.md: dims of what nodes make, and how many of them Nodewise leaves open. */
const published = [
  ...readFileSync(join(import.meta.dirname, '../../docs/checking.md'), 'utf8').matchAll(
    /^\| (\w+) *\| (\d+) *\| (\d+)(?: \([^|]*\))? *\| [^|]+ \| [^|]+ \|$/gm
  )
].map(([, name, all, open]) => ({ name, all: Number(all), open: Number(open) }))

describeData('dims of the models of the zoo', () => {
  const names = (JSON.parse(readFileSync(join(DATA, 'zoo/index.json'), 'utf8')) as { name: string }[]).map(
    ({ name }) => name
  )

  test('are published for every model', () => {
    expect(published.map(({ name }) => name)).toEqual(names)
  })

  test.each(published)(
    '$name: all ranks are known, and no more than $open of $all dims are open',
    async ({ name, all, open }) => {
      const { values, summary } = check(await load(join(DATA, 'zoo', name, 'model.onnx')))
      expect(summary.unknownShapes).toBe(0)
      const dims = values
        .filter(({ graphPath, node }) => graphPath === '' && node !== undefined)
        .flatMap(value => value.dims ?? [])
      expect(dims).toHaveLength(all)
      expect(dims.filter(dim => /^(\?|\d+\.\.\d*)$/.test(`${dim}`)).length).toBeLessThanOrEqual(open)
      // An interval is what the data decide; nothing is left that is not known at all.
      expect(values.flatMap(value => value.dims ?? [])).not.toContain('?')
    }
  )
})
