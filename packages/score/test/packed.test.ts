import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { decodeLz4Frame } from '../src/formats/arrow-compression.ts'
import { score } from '../src/score.ts'
import { FRAME, LZ4, ZSTD } from './packed.ts'

const LENGTH = 70_000

/** A frame of LZ4 of one block. */
function frameOf(block: readonly number[], isPlain = false): Uint8Array {
  const head = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82, 0, 0, 0, 0])
  head.writeUInt32LE(block.length + (isPlain ? 2 ** 31 : 0), 7)
  return Uint8Array.from([...head, ...block, 0, 0, 0, 0])
}

test('frames of LZ4 are unpacked: blocks that copy from others, patterns, and what is not packed', () => {
  const bytes = decodeLz4Frame(FRAME, LENGTH)
  expect(bytes.every((byte, i) => byte === i % 5)).toBe(true)
  expect([...decodeLz4Frame(frameOf([7, 8, 9], true), 3)]).toEqual([7, 8, 9])
  expect([...decodeLz4Frame(frameOf([0x23, 1, 2, 2, 0, 0x10, 3]), 10)]).toEqual([1, 2, 1, 2, 1, 2, 1, 2, 1, 3])
  expect(decodeLz4Frame(frameOf([]), 0)).toHaveLength(0)
})

test.each([
  ['no frame', Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), 1],
  ['cut off', FRAME.subarray(0, 100), LENGTH],
  ['longer than it says', FRAME, LENGTH - 1],
  ['shorter than it says', FRAME, LENGTH + 1],
  ['plain, and longer than it says', frameOf([1, 2], true), 1],
  ['a copy from before its start', frameOf([0x10, 1, 2, 0, 0]), 6],
  ['a copy of nothing', frameOf([0x10, 1, 0, 0, 0]), 6],
  ['literals beyond its end', frameOf([0xf0, 200]), 500],
  ['a length without end', frameOf([0xf0, 255]), 500]
])('a frame that is %s is refused', (_, frame, length) => {
  expect(() => decodeLz4Frame(frame, length)).toThrow(expect.objectContaining({ code: 'invalid-file' }))
})

test.each([
  ['LZ4', LZ4],
  ['Zstandard', ZSTD]
])('a table whose bodies are packed by %s is read, and a broken one refused', async (name, bytes) => {
  const folder = mkdtempSync(join(tmpdir(), 'nodewise-packed-'))
  const [model, from, to] = ['m.onnxtxt', 'in.arrows', 'out.ndjson'].map(name => join(folder, name))
  writeFileSync(model, '<ir_version: 9, opset_import: ["" : 21]> g (float[n] x) => (float[n] y) { y = Abs(x) }')
  writeFileSync(from, bytes)
  await score({ model, from, to })
  const rows = readFileSync(to, 'utf8').trimEnd().split('\n')
  expect(rows.map(row => JSON.parse(row) as unknown)).toEqual(
    Array.from({ length: 600 }, (_, i) => ({
      x: (i % 4) - 1.5,
      s: i % 3 === 0 ? null : `ü${i % 2}`,
      y: Math.abs((i % 4) - 1.5)
    }))
  )
  // The length before the first packed buffer.
  const at = bytes.indexOf(name === 'LZ4' ? '04224d18' : '28b52ffd', 0, 'hex') - 8
  for (const [length, code] of [
    [2 ** 45, 'limit-exceeded'],
    [-7, 'limit-exceeded']
  ] as const) {
    const broken = Buffer.from(bytes)
    broken.writeBigInt64LE(BigInt(length), at)
    writeFileSync(from, broken)
    await expect(score({ model, from, to })).rejects.toMatchObject({ code })
  }
  rmSync(folder, { recursive: true })
})
