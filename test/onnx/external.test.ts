import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { fileSource } from '../../src/files/byte-source.ts'
import type { Constant } from '../../src/graph/graph.ts'
import { externalOpener, loadOnnx } from '../../src/onnx/load.ts'
import { codesOf, failure, loadModel, modelBytes, TYPE } from './encode.ts'

const top = realpathSync(mkdtempSync(join(tmpdir(), 'nodewise-external-')))
afterAll(() => rmSync(top, { recursive: true }))

const folder = join(top, 'model')
mkdirSync(join(folder, 'sub'), { recursive: true })
mkdirSync(join(top, 'weights'))
const modelPath = join(folder, 'model.onnx')
const put = (path: string, bytes: readonly number[]): void => writeFileSync(join(top, path), Uint8Array.from(bytes))
put('model/w.bin', [0, 1, 2, 3, 4, 5, 6, 7])
put('model/sub/w.bin', [9])
put('outside.bin', [8])
put('weights/r.bin', [7])

const entries = (fields: Record<string, string>): object[] =>
  Object.entries(fields).map(([key, value]) => ({ key, value }))
const graphWith = (fields: Record<string, string>, dims: readonly number[] = [4], dataType = TYPE.UINT8): object => ({
  name: 'g',
  initializer: [{ name: 'w', dims, dataType, dataLocation: 1, externalData: entries(fields) }]
})

function constantWith(fields: Record<string, string>, dataRoot?: string): Constant {
  writeFileSync(modelPath, modelBytes({ graph: graphWith(fields) }))
  return loadOnnx(fileSource(modelPath), {
    file: modelPath,
    openExternal: externalOpener(modelPath, dataRoot)
  }).graph.initializers.get('w')!
}
const open = externalOpener(modelPath)

describe('external data', () => {
  test('are read at their offset, and their place is known', () => {
    const constant = constantWith({ location: 'w.bin', offset: '2', length: '4' })
    expect([...(constant.read().data as Uint8Array)]).toEqual([2, 3, 4, 5])
    expect(constant.raw).toMatchObject({ offset: 2, length: 4, source: { name: 'w.bin', size: 8 } })
    expect([...constant.raw!.source.read(3, 1)]).toEqual([3])
  })

  test('begin at 0 and are as long as their type and dims say, where the file leaves that out', () => {
    expect([...(constantWith({ location: 'w.bin' }).read().data as Uint8Array)]).toEqual([0, 1, 2, 3])
    // As ONNX Runtime takes it.
    expect([...(constantWith({ location: 'w.bin', length: '0' }).read().data as Uint8Array)]).toEqual([0, 1, 2, 3])
  })

  test('are not looked for before they are read', () => {
    const constant = constantWith({ location: 'missing.bin' })
    expect(failure(() => constant.read())).toMatchObject({
      code: 'missing-file',
      reason: `tensor "w": external data "missing.bin" do not exist in ${folder}`,
      place: { value: 'w' }
    })
  })

  test('must lie inside their file', () => {
    expect(failure(() => constantWith({ location: 'w.bin', offset: '6' }).read())).toMatchObject({
      code: 'invalid-file',
      reason: 'tensor "w": w.bin has 8 bytes; 4 bytes at 6 are not inside it'
    })
  })

  test('can be verified without being read', () => {
    expect(constantWith({ location: 'w.bin', offset: '4' }).verify?.()).toBeUndefined()
    expect(failure(() => constantWith({ location: 'w.bin', offset: '5' }).verify?.())).toMatchObject({
      code: 'invalid-file',
      place: { value: 'w' }
    })
    expect(failure(() => constantWith({ location: 'missing.bin' }).verify?.()).code).toBe('missing-file')
    expect(failure(() => constantWith({ location: '../outside.bin' }).verify?.()).code).toBe('outside-folder')
  })

  test('cannot be found for a model that is given as bytes', () => {
    expect(
      failure(() =>
        loadModel({ graph: graphWith({ location: 'w.bin' }) })
          .graph.initializers.get('w')!
          .read()
      ).code
    ).toBe('missing-file')
  })

  test.each([
    [{ location: 'w.bin', offset: '-1' }, 'external-data'],
    [{ location: 'w.bin', offset: '1e1' }, 'external-data'],
    [{ location: 'w.bin', offset: '' }, 'external-data'],
    [{ location: 'w.bin', length: '4.0' }, 'external-data'],
    [{ location: 'w.bin', offset: '99999999999999999999' }, 'external-data'],
    [{ offset: '0' }, 'external-data'],
    [{ location: 'w.bin', length: '3' }, 'constant-size']
  ])('described by %j are a finding', (fields, code) => {
    const { graph } = loadModel({ graph: graphWith(fields) })
    expect(graph.findings).toMatchObject([{ code, severity: 'error', onlyIfNeeded: { value: 'w' } }])
    expect(failure(() => graph.initializers.get('w')!.read()).code).toBe('invalid-file')
  })

  test('cannot be strings', () => {
    expect(codesOf(loadModel({ graph: graphWith({ location: 'w.bin' }, [1], TYPE.STRING) }).graph.findings)).toEqual([
      'external-data'
    ])
  })
})

describe('a location', () => {
  test('may name a file in a folder below, also by a detour', () => {
    expect([...open('sub/w.bin').read(0, 1)]).toEqual([9])
    expect([...open('sub/../w.bin').read(0, 1)]).toEqual([0])
  })

  test.each(['../outside.bin', 'sub/../../outside.bin', '..', '/etc/hostname', 'C:\\w.bin', '\\\\server\\share', '.'])(
    '%j is outside the folder',
    location => {
      expect(failure(() => open(location)).code).toBe('outside-folder')
    }
  )

  test('may be a link inside the folder, but not one that leads out of it', () => {
    symlinkSync('w.bin', join(folder, 'inside'))
    symlinkSync(join('..', 'outside.bin'), join(folder, 'leak'))
    symlinkSync('..', join(folder, 'up'))
    expect([...open('inside').read(1, 1)]).toEqual([1])
    expect(failure(() => open('leak')).code).toBe('outside-folder')
    expect(failure(() => open('up/outside.bin')).code).toBe('outside-folder')
  })

  test('is looked for in the data root too', () => {
    const withRoot = externalOpener(modelPath, join(top, 'weights'))
    expect([...withRoot('r.bin').read(0, 1)]).toEqual([7])
    expect([...withRoot('../weights/r.bin').read(0, 1)]).toEqual([7])
    expect(failure(() => withRoot('../outside.bin')).code).toBe('outside-folder')
    symlinkSync(join('..', 'weights', 'r.bin'), join(folder, 'to-root'))
    expect([...withRoot('to-root').read(0, 1)]).toEqual([7])
    expect(failure(() => open('to-root')).code).toBe('outside-folder')
  })

  test("reaches the model's folder through a link to that folder", () => {
    symlinkSync('model', join(top, 'alias'))
    expect([...externalOpener(join(top, 'alias', 'model.onnx'))('w.bin').read(0, 1)]).toEqual([0])
  })

  test('must be a regular file with a possible name', () => {
    expect(failure(() => open('sub').size).code).toBe('invalid-file')
    expect(failure(() => open('w\0.bin')).code).toBe('invalid-file')
    expect(failure(() => open('x'.repeat(5000))).code).toBe('missing-file')
  })

  test.skipIf(process.platform === 'win32')('must not be a pipe', () => {
    execFileSync('mkfifo', [join(folder, 'pipe')])
    expect(failure(() => open('pipe').read(0, 0)).code).toBe('invalid-file')
  })

  test('of each of very many files can be read, without keeping all of them open', () => {
    const sources = Array.from({ length: 200 }, (_, i) => {
      put(`model/part${i}`, [i])
      return open(`part${i}`)
    })
    // Only these files: other threads of the process open and close files meanwhile.
    const isPart = (descriptor: string): boolean => {
      try {
        return readlinkSync(join('/proc/self/fd', descriptor)).startsWith(join(folder, 'part'))
      } catch {
        return false
      }
    }
    const openParts = (): number => readdirSync('/proc/self/fd').filter(isPart).length
    for (const [i, source] of sources.entries()) expect([...source.read(0, 1)]).toEqual([i])
    if (process.platform === 'linux') {
      expect(openParts()).toBeLessThanOrEqual(64)
      expect(openParts()).toBeGreaterThan(0)
    }
    expect([...sources[0].read(0, 1)]).toEqual([0])
  })
})
