import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readNpy } from '../../src/io/npy.ts'
import { readNpz } from '../../src/io/npz.ts'
import { readTensorFile } from '../../src/io/read.ts'
import { saveFile, saveValues } from '../../src/io/save.ts'
import { Tensor, type Value } from '../../src/tensor/tensor.ts'
import { named } from '../fixtures/maps.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nodewise-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

const one = new Tensor('int8', [1])
const two = new Tensor('float32', [2])

describe('saveFile', () => {
  it('writes the file and leaves nothing else', async () => {
    await saveFile(join(folder, 'a'), new Uint8Array([1, 2]))
    expect(readdirSync(folder)).toEqual(['a'])
    expect([...readFileSync(join(folder, 'a'))]).toEqual([1, 2])
  })

  it('replaces a file', async () => {
    writeFileSync(join(folder, 'a'), 'old and longer')
    await saveFile(join(folder, 'a'), new Uint8Array([1]))
    expect([...readFileSync(join(folder, 'a'))]).toEqual([1])
  })

  it('leaves nothing when it cannot take its name', async () => {
    mkdirSync(join(folder, 'a'))
    await expect(saveFile(join(folder, 'a'), new Uint8Array(1))).rejects.toMatchObject({
      code: 'write-failed',
      place: { file: join(folder, 'a') }
    })
    expect(readdirSync(folder)).toEqual(['a'])
  })

  it('makes the folders above, and fails where a file is in the way', async () => {
    await saveFile(join(folder, 'new', 'deep', 'a'), new Uint8Array(1))
    expect(readdirSync(join(folder, 'new', 'deep'))).toEqual(['a'])
    await expect(saveFile(join(folder, 'new', 'deep', 'a', 'b'), new Uint8Array(1))).rejects.toMatchObject({
      code: 'write-failed'
    })
  })

  // Node's own `mkdir` with `recursive` tries again without end there.
  it.runIf(process.platform === 'linux')('fails where a file system lets no folder be made', async () => {
    const path = '/proc/nodewise/deep/a'
    await expect(saveFile(path, new Uint8Array(1))).rejects.toMatchObject({
      code: 'write-failed',
      place: { file: path }
    })
    await expect(saveValues('/proc/nodewise', new Map())).rejects.toMatchObject({ code: 'write-failed' })
  })

  it('leaves nothing when the process exits meanwhile', () => {
    const script = join(folder, 'script.mjs')
    buildSync({
      entryPoints: ['src/io/save.ts'],
      bundle: true,
      format: 'esm',
      platform: 'node',
      outfile: join(folder, 'save.mjs')
    })
    writeFileSync(
      script,
      `
      import { saveFile } from './save.mjs'
      import { readdirSync } from 'node:fs'
      void saveFile('out', new Uint8Array(512 * 2 ** 20))
      const isTemporary = name => name.endsWith('.tmp')
      const watch = setInterval(() => { if (readdirSync('.').some(isTemporary)) process.exit(130) }, 1)
    `
    )
    expect(spawnSync(process.execPath, [script], { cwd: folder }).status).toBe(130)
    expect(readdirSync(folder).sort()).toEqual(['save.mjs', 'script.mjs'])
  })
})

describe('saveValues', () => {
  const values = new Map<string, Value>([
    ['a/b', one],
    ['A_b', two],
    ['list', { type: 'sequence', values: [one, { type: 'sequence', values: [two] }] }],
    ['none', { type: 'optional', value: undefined }],
    ['some', { type: 'optional', value: one }]
  ])
  const saved = [
    { name: 'a/b', file: 'a_b_2.npy' },
    { name: 'A_b', file: 'A_b.npy' },
    { name: 'list.0', file: 'list.0.npy' },
    { name: 'list.1.0', file: 'list.1.0.npy' },
    { name: 'some', file: 'some.npy' }
  ]

  it('makes a folder of .npy files with safe names', async () => {
    const target = join(folder, 'deep', 'out')
    expect(await saveValues(target, values)).toEqual(saved)
    expect(readdirSync(target).sort()).toEqual(saved.map(({ file }) => file).sort())
    expect(readNpy(readFileSync(join(target, 'list.1.0.npy')))).toEqual(two)
  })

  it('makes an archive when the path says so', async () => {
    const target = join(folder, 'out.NPZ')
    expect(await saveValues(target, values)).toEqual(saved)
    expect([...readNpz(readFileSync(target)).keys()]).toEqual(saved.map(({ file }) => file.replace('.npy', '')))
  })

  it('makes one .json file of a map, or of a sequence of maps; an archive cannot hold them', async () => {
    const maps = new Map<string, Value>([
      ['scores', named({ a: 0.5 })],
      ['rows', { type: 'sequence', values: [named({ a: 1 }), named({ a: 2 })] }],
      ['one', one]
    ])
    expect(await saveValues(folder, maps)).toEqual([
      { name: 'scores', file: 'scores.json' },
      { name: 'rows', file: 'rows.json' },
      { name: 'one', file: 'one.npy' }
    ])
    for (const name of ['scores', 'rows'])
      expect(await readTensorFile(join(folder, `${name}.json`))).toEqual(maps.get(name))
    const archive = join(folder, 'out.npz')
    await expect(saveValues(archive, maps)).rejects.toMatchObject({
      code: 'type-not-allowed',
      reason: '"scores" holds maps, which an .npz cannot hold; a folder gets them as a .json file',
      place: { file: archive }
    })
    expect(readdirSync(folder).sort()).toEqual(['one.npy', 'rows.json', 'scores.json'])
  })

  it('fails when a file stands where the folder should be', async () => {
    writeFileSync(join(folder, 'out'), '')
    await expect(saveValues(join(folder, 'out'), values)).rejects.toMatchObject({
      code: 'write-failed',
      place: { file: join(folder, 'out') }
    })
  })
})
