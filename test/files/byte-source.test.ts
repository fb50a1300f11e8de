import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { bytesSource, fileSource } from '../../src/files/byte-source.ts'
import { failure } from '../onnx/encode.ts'

const folder = mkdtempSync(join(tmpdir(), 'nodewise-source-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, bytes: readonly number[]): string {
  const path = join(folder, name)
  writeFileSync(path, Uint8Array.from(bytes))
  return path
}

describe('bytesSource', () => {
  test('reads views without copying', () => {
    const bytes = Uint8Array.of(1, 2, 3, 4)
    const view = bytesSource('b', bytes).read(1, 2)
    expect([...view]).toEqual([2, 3])
    expect(view.buffer).toBe(bytes.buffer)
  })

  test('gives plain arrays for a Buffer, whose slice would not copy', () => {
    expect(bytesSource('b', Buffer.from([1, 2])).read(0, 2).constructor).toBe(Uint8Array)
  })

  test.each([
    [-1, 1],
    [0, 5],
    [4, 1],
    [5, 0],
    [0.5, 1],
    [0, NaN],
    [2 ** 53, 2 ** 53]
  ])('refuses %d with length %d of 4 bytes', (offset, length) => {
    expect(failure(() => bytesSource('b', new Uint8Array(4)).read(offset, length)).code).toBe('invalid-file')
  })
})

describe('fileSource', () => {
  test('reads by position', () => {
    const source = fileSource(file('a.bin', [1, 2, 3, 4, 5]), 'a')
    expect(source.name).toBe('a')
    expect(source.size).toBe(5)
    expect([...source.read(3, 2)]).toEqual([4, 5])
    expect([...source.read(0, 2)]).toEqual([1, 2])
    expect(source.read(5, 0).length).toBe(0)
    source.close()
  })

  test('opens nothing before it is used', () => {
    const path = join(folder, 'later.bin')
    const source = fileSource(path)
    file('later.bin', [7])
    expect([...source.read(0, 1)]).toEqual([7])
    source.close()
  })

  test('reads again after it was closed', () => {
    const source = fileSource(file('again.bin', [1, 2]))
    expect(source.size).toBe(2)
    source.close()
    source.close()
    expect([...source.read(1, 1)]).toEqual([2])
    source.close()
  })

  test('refuses another file in its place after it was closed', () => {
    const path = file('swapped.bin', [1, 2])
    const source = fileSource(path)
    expect(source.size).toBe(2)
    source.close()
    rmSync(path)
    file('swapped.bin', [1, 2, 3])
    expect(failure(() => source.read(0, 1)).message).toContain('changed')
  })

  test('refuses ranges beyond its end', () => {
    expect(failure(() => fileSource(file('short.bin', [1])).read(0, 2))).toMatchObject({
      code: 'invalid-file',
      reason: expect.stringContaining('1 bytes') as string
    })
  })

  test('says when a file became shorter while in use', () => {
    const path = file('shrinks.bin', [1, 2, 3, 4])
    const source = fileSource(path, 'shrinks')
    expect(source.size).toBe(4)
    truncateSync(path, 2)
    expect(failure(() => source.read(0, 4)).reason).toBe(
      'shrinks became shorter while in use: it had 4 bytes and ends now at 2'
    )
    source.close()
  })

  test('reports a file that is not there as missing', () => {
    expect(failure(() => fileSource(join(folder, 'none')).size).code).toBe('missing-file')
    expect(failure(() => fileSource(join(file('plain', [1]), 'below')).size).code).toBe('missing-file')
  })

  test('refuses a folder', () => {
    expect(failure(() => fileSource(folder, 'x').size)).toMatchObject({
      code: 'invalid-file',
      reason: 'x is a folder, not a regular file'
    })
  })

  test.skipIf(process.platform === 'win32')(
    'refuses a device and a pipe, also behind a link, without waiting for them',
    () => {
      const pipe = join(folder, 'pipe')
      execFileSync('mkfifo', [pipe])
      symlinkSync('/dev/zero', join(folder, 'zero'))
      expect(failure(() => fileSource(pipe).size).code).toBe('invalid-file')
      expect(failure(() => fileSource(join(folder, 'zero')).size).code).toBe('invalid-file')
    }
  )
})
