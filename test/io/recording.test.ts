import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bytesSource } from '../../src/files/byte-source.ts'
import { writeNpy } from '../../src/io/npy.ts'
import { readNpz, writeNpz } from '../../src/io/npz.ts'
import { openRecording, Recorder, underNames } from '../../src/io/recording.ts'
import { ZipWriter } from '../../src/io/zip-writer.ts'
import { zipEntries, zipRead } from '../../src/io/zip.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { temporaryFolder } from '../cli/command.ts'

const folder = temporaryFolder()
const one = new Tensor('float32', [1, 2], [2])

describe('a recorder', () => {
  const own = temporaryFolder()

  test('writes an .npz, values under their own names, and nothing else', () => {
    const path = join(own, 'a.npz')
    const recorder = new Recorder(path)
    recorder.add('/layer.3/Add_output_0', one)
    recorder.add('words', new Tensor('string', ['a', 'bc'], [2, 1]))
    expect(readdirSync(own).filter(name => name.endsWith('.npz'))).toEqual([])
    recorder.end()
    recorder.discard()
    expect(readdirSync(own)).toEqual(['a.npz'])
    expect(readNpz(readFileSync(path))).toEqual(
      new Map<string, Tensor>([
        ['/layer.3/Add_output_0', one],
        ['words', new Tensor('string', ['a', 'bc'], [2, 1])]
      ])
    )
  })

  test('numbers what is there twice, and changes names that lead out of a folder or cannot be seen', () => {
    const path = join(folder, 'b.npz')
    const recorder = new Recorder(path)
    for (const name of ['x', 'x', '../up', 'a\u0000b', '..']) recorder.add(name, one)
    recorder.end()
    expect(openRecording(path, false).names).toEqual(['x', 'x_2', '__up', 'a_b', '_'])
  })

  test('leaves nothing where it does not come to its end', () => {
    const path = join(folder, 'c.npz')
    const recorder = new Recorder(path)
    recorder.add('x', one)
    recorder.discard()
    expect(readdirSync(folder).filter(name => name.includes('nodewise') || name === 'c.npz')).toEqual([])
    expect(() => new Recorder(join(folder, 'not there', 'd.npz'))).toThrow(
      expect.objectContaining({ code: 'write-failed' })
    )
  })
})

describe('an archive that is written file by file', () => {
  test('has a directory of ZIP64 where it holds 65,535 files and more', () => {
    const chunks: Uint8Array[] = []
    const writer = new ZipWriter(bytes => chunks.push(bytes))
    for (let i = 0; i < 65_600; i++) writer.add(`f${i}`, [Uint8Array.of(i & 255)])
    writer.end()
    const bytes = new Uint8Array(Buffer.concat(chunks))
    const entries = zipEntries(bytes)
    expect(entries.length).toBe(65_600)
    expect(zipRead(bytes, entries[65_599])).toEqual(Uint8Array.of(65_599 & 255))
  })

  test('is read by position: its directory, and a file when it is asked for', () => {
    const bytes = writeNpz(
      new Map([
        ['big', new Tensor('float32', new Float32Array(1e5), [1e5])],
        ['x', one]
      ])
    )
    let read = 0
    const whole = bytesSource('a', bytes)
    const source = {
      ...whole,
      read(offset: number, length: number) {
        read += length
        return whole.read(offset, length)
      }
    }
    const entries = zipEntries(source)
    zipRead(source, entries[1])
    expect(entries.map(({ name }) => name)).toEqual(['big.npy', 'x.npy'])
    expect(read).toBeLessThan(70_000)
  })
})

describe('recorded values', () => {
  test('in a folder are named by file, and found by names whose safe form the files have', async () => {
    const inner = temporaryFolder()
    writeFileSync(join(inner, '_m_Add_0.npy'), writeNpy(one))
    writeFileSync(join(inner, '_m_Add_0_2.npy'), writeNpy(new Tensor('float32', [3, 4], [2])))
    writeFileSync(join(inner, 'notes.txt'), 'not a tensor')
    const stored = openRecording(inner, true)
    expect(stored.names).toEqual(['_m_Add_0', '_m_Add_0_2'])
    const named = underNames(stored, ['/m/Add_0', '/m/Add:0', '/m/Mul'])
    expect((await named.read('/m/Add_0')).data).toEqual(one.data)
    expect([...((await named.read('/m/Add:0')).data as Float32Array)]).toEqual([3, 4])
    expect(named.names).not.toContain('/m/Mul')
  })

  test('that only have codes are read as the type that is asked for', async () => {
    const path = join(folder, 'codes.npz')
    writeFileSync(path, writeNpz(new Map([['b', new Tensor('bfloat16', [0x3f80], [1])]])))
    const stored = openRecording(path, false)
    expect((await stored.read('b', 'bfloat16')).type).toBe('bfloat16')
    expect((await stored.read('b')).type).toBe('uint16')
    stored.close()
  })

  test('that cannot be read are told with their file', () => {
    expect(() => openRecording(join(folder, 'none.npz'), false)).toThrow(
      expect.objectContaining({ code: 'missing-file' })
    )
    writeFileSync(join(folder, 'bad.npz'), 'no archive')
    expect(() => openRecording(join(folder, 'bad.npz'), false)).toThrow(
      expect.objectContaining({ code: 'invalid-file', place: { file: join(folder, 'bad.npz') } })
    )
  })
})
