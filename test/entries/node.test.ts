import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ALL_OPS } from '../../src/ops/all.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'nodewise-library-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
beforeAll(() => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/bundle-library.mjs'), folder], {
    encoding: 'utf8'
  })
  expect(status, stderr).toBe(0)
}, 240_000)

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly node?: string }>>
}

/** What a program prints that imports the entries of the bundle. */
function printed(program: string, ...flags: string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, '--input-type=module', '-e', program], {
    cwd: folder,
    encoding: 'utf8'
  })
  expect(stderr).toBe('')
  return stdout.trim()
}

describe('the library bundled for Node', () => {
  test('has every entry of the package but the one that is written over the others', () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
    const files = Object.values(exports).flatMap(entry =>
      typeof entry === 'string' || entry.node === undefined ? [] : [entry.node]
    )
    expect(files.map(file => file.replace('./dist/node/', '')).sort()).toEqual([
      'core.mjs',
      'graph.mjs',
      'index.mjs',
      'ops.mjs'
    ])
    for (const file of files) readFileSync(join(folder, file.replace('./dist/node/', '')))
  })

  test('runs a gather, and the entries share their classes', () => {
    const program = `
      import * as all from './index.mjs'
      import { InferenceSession, Tensor } from './core.mjs'
      import * as ops from './ops.mjs'
      import { load, NodewiseError } from './graph.mjs'
      const path = ${JSON.stringify(join(root, 'models/palette.onnx'))}
      const feeds = { ids: new Tensor('int64', [1n, 5n], [2]) }
      const { name } = await (await all.InferenceSession.create(path)).run(feeds)
      const session = new InferenceSession(await load(path), { ops: Object.values(ops).flat() })
      const { name: same } = await session.run(feeds)
      const failure = await all.load('nothing.onnx').catch(error => error)
      console.log(JSON.stringify([name.data, same.data, failure instanceof NodewiseError]))`
    expect(JSON.parse(printed(program))).toEqual([['white', 'yellow'], ['white', 'yellow'], true])
  })

  test('names in nodewise/ops every operator', () => {
    const program = `import * as ops from './ops.mjs'; console.log(Object.values(ops).flat().length)`
    expect(Number(printed(program))).toBe(ALL_OPS.length)
  })

  test('has stacks of the sources where Node is asked to map them', () => {
    const program = `import { load } from './graph.mjs'; load('nothing.onnx').catch(error => console.log(error.stack))`
    expect(printed(program, '--enable-source-maps')).toContain('load.ts:')
    expect(printed(program)).toContain('program.js:')
  })
})
