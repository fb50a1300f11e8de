import { zlibSync } from 'fflate'
import { describe, expect, test } from 'vitest'
import { crc32 } from '../../../src/io/zip.ts'
import { decoded } from '../../ops/image/decode.ts'
import { rejection } from '../../ops/model.ts'

const four = (value: number): number[] => [value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255]

const chunk = (type: string, data: readonly number[]): number[] => {
  const body = [...Array.from(type, sign => sign.charCodeAt(0)), ...data]
  return [...four(data.length), ...body, ...four(crc32(Uint8Array.from(body)))]
}

/** `head`: width, height, bits, colour type, interlaced. */
const png = (head: readonly number[], lines: readonly number[], extra: readonly number[] = []): Uint8Array =>
  Uint8Array.from([
    ...[0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10],
    ...chunk('IHDR', [...four(head[0]), ...four(head[1]), head[2], head[3], 0, 0, head[4]]),
    ...extra,
    ...chunk('IDAT', [...zlibSync(Uint8Array.from(lines))]),
    ...chunk('IEND', [])
  ])

describe('PNG', () => {
  // Of 3 x 3 pixels, passes 1, 5 (row 2, columns 0 and 2, after pass 4: row 0, column 2), 6 and 7 (row 1) have some.
  test('interlaced with fewer than 8 bits a pixel, each line with a filter', async () => {
    const lines = [0, 0x10, 0, 0x30, 2, 0x79, 0, 0x20, 0, 0x80, 1, 0x45, 0x1b]
    const grey = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(value => 17 * value)
    expect(await decoded(png([3, 3, 4, 0, 1], lines), 'Grayscale')).toEqual([[3, 3, 1], ...grey])
    const palette = Array.from({ length: 16 }, (_, i) => [i, i + 20, i + 40]).flat()
    const colours = [1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap(i => [i, i + 20, i + 40])
    expect(await decoded(png([3, 3, 4, 3, 1], lines, chunk('PLTE', palette)))).toEqual([[3, 3, 3], ...colours])
  })

  test('filters by the mean and by the nearest of the neighbours', async () => {
    // Pass 7, of one bit and 16 columns: two lines of two bytes, after passes whose 12 bytes are all 0.
    const blank = new Array<number>(12).fill(0)
    const picture = png([16, 4, 1, 0, 1], [...blank, 3, 0x80, 0x01, 4, 0x01, 0x7f])
    const bits = (value: number): number[] => Array.from({ length: 16 }, (_, i) => ((value >> (15 - i)) & 1) * 255)
    expect(await decoded(picture, 'Grayscale')).toEqual([
      [4, 16, 1],
      ...bits(0),
      ...bits(0x8041),
      ...bits(0),
      ...bits(0x81c0)
    ])
  })

  test('an interlaced picture that is cut off, or has no such filter, gives an error', async () => {
    for (const lines of [
      [0, 0x10, 0, 0x30],
      [9, 0x10, 0, 0x30, 2, 0x79, 0, 0x20, 0, 0x80, 1, 0x45, 0x1b]
    ])
      expect((await rejection(decoded(png([3, 3, 4, 0, 1], lines)))).code).toBe('value-out-of-range')
  })

  test('one pixel with a transparent colour', async () => {
    const picture = png([1, 1, 8, 2, 0], [0, 7, 8, 9], chunk('tRNS', [0, 7, 0, 8, 0, 9]))
    expect(await decoded(picture)).toEqual([[1, 1, 3], 7, 8, 9])
  })
})
