import { afterEach, describe, expect, test, vi } from 'vitest'
import { decoded } from '../../ops/image/decode.ts'
import { rejection } from '../../ops/model.ts'

/** Strips or tiles one after another, then the tags, whose numbers are of 32 bits each, low byte first. */
function tiff(tags: Readonly<Record<number, number | readonly number[]>>, pieces: readonly number[][]): Uint8Array {
  const starts = pieces.map((_, i) => 8 + pieces.slice(0, i).flat().length)
  const [offsets, lengths] = 322 in tags ? [324, 325] : [273, 279]
  const all: Record<number, readonly number[]> = { [offsets]: starts, [lengths]: pieces.map(piece => piece.length) }
  for (const [tag, value] of Object.entries(tags)) all[Number(tag)] = [value].flat()
  const entries = Object.entries(all)
  const directory = 8 + pieces.flat().length
  const rest: number[] = []
  const restAt = directory + 2 + 12 * entries.length + 4
  const four = (value: number): number[] => [value & 255, (value >> 8) & 255, (value >> 16) & 255, value >>> 24]
  const fields = entries.flatMap(([tag, values]) => {
    const field = values.length === 1 ? values[0] : restAt + rest.length
    if (values.length > 1) rest.push(...values.flatMap(four))
    return [Number(tag) & 255, Number(tag) >> 8, 4, 0, ...four(values.length), ...four(field)]
  })
  const head = [0x49, 0x49, 42, 0, ...four(directory)]
  return Uint8Array.from([...head, ...pieces.flat(), entries.length, 0, ...fields, 0, 0, 0, 0, ...rest])
}

/** Width, height, bits of a sample, compression, what samples mean, samples of a pixel. */
const form = (
  width: number,
  height: number,
  bits: number,
  meaning: number,
  samples: number,
  compression = 1
): Record<number, number | number[]> => ({
  256: width,
  257: height,
  258: new Array<number>(samples).fill(bits),
  259: compression,
  262: meaning,
  277: samples
})

describe('TIFF', () => {
  afterEach(() => vi.restoreAllMocks())

  test('grey of 1, 2 and 4 bits, black or white at zero', async () => {
    expect(await decoded(tiff(form(3, 1, 4, 1, 1), [[0x1f, 0x80]]), 'Grayscale')).toEqual([[1, 3, 1], 17, 255, 136])
    expect(await decoded(tiff(form(3, 1, 2, 0, 1), [[0b00_01_11_00]]), 'Grayscale')).toEqual([[1, 3, 1], 255, 170, 0])
    expect(await decoded(tiff(form(2, 1, 1, 0, 1), [[0b0100_0000]]), 'Grayscale')).toEqual([[1, 2, 1], 255, 0])
  })

  test('alpha and other samples beyond the colours are left out', async () => {
    const grey = tiff(form(2, 1, 16, 1, 2), [[9, 1, 9, 2, 9, 3, 9, 4]])
    expect(await decoded(grey, 'Grayscale')).toEqual([[1, 2, 1], 1, 3])
    const five = tiff(form(1, 1, 16, 2, 5), [[9, 1, 9, 2, 9, 3, 9, 4, 9, 5]])
    expect(await decoded(five)).toEqual([[1, 1, 3], 1, 2, 3])
  })

  test('a predictor counts with LZW and Deflate alone', async () => {
    const packed = tiff({ ...form(2, 1, 8, 1, 1, 32773), 317: 2 }, [[1, 7, 9]])
    for (const bytes of [tiff({ ...form(2, 1, 8, 1, 1), 317: 2 }, [[7, 9]]), packed])
      expect(await decoded(bytes, 'Grayscale')).toEqual([[1, 2, 1], 7, 9])
    const bits = tiff({ ...form(2, 1, 1, 0, 1), 317: 2 }, [[0b0100_0000]])
    expect(await decoded(bits, 'Grayscale')).toEqual([[1, 2, 1], 255, 0])
    // The code to clear the table, 7, 2 and the end of the data.
    const lzw = tiff({ ...form(2, 1, 8, 1, 1, 5), 317: 2 }, [[0x80, 0x01, 0xc0, 0x50, 0x10]])
    expect(await decoded(lzw, 'Grayscale')).toEqual([[1, 2, 1], 7, 9])
  })

  test('planes of their own for red, green and blue', async () => {
    const planes = tiff({ ...form(2, 2, 8, 2, 3), 278: 1, 284: 2 }, [
      [1, 4],
      [7, 10],
      [2, 5],
      [8, 11],
      [3, 6],
      [9, 12]
    ])
    expect(await decoded(planes)).toEqual([[2, 2, 3], 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  })

  test('tiles, without a word on the console', async () => {
    const log = vi.spyOn(console, 'log').mockReturnValue(undefined)
    const tiles = tiff({ ...form(3, 2, 8, 1, 1), 322: 2, 323: 2 }, [
      [1, 2, 4, 5],
      [3, 0, 6, 0]
    ])
    expect(await decoded(tiles, 'Grayscale')).toEqual([[2, 3, 1], 1, 2, 3, 4, 5, 6])
    expect(log).not.toHaveBeenCalled()
  })

  test('the four inks', async () => {
    const inks = tiff(form(3, 1, 8, 5, 4), [[0, 0, 0, 0, 255, 0, 100, 0, 0, 255, 128, 55]])
    expect(await decoded(inks)).toEqual([[1, 3, 3], 255, 255, 255, 0, 255, 155, 200, 0, 100])
  })

  test('palettes', async () => {
    const map = [0x1100, 0x2200, 0x3300, 0x4400, 0x5500, 0x6600]
    expect(await decoded(tiff({ ...form(2, 1, 1, 3, 1), 320: map }, [[0b0100_0000]]))).toEqual([
      [1, 2, 3],
      0x11,
      0x33,
      0x55,
      0x22,
      0x44,
      0x66
    ])
    expect((await rejection(decoded(tiff({ ...form(1, 1, 1, 3, 1), 320: [1, 2] }, [[0]])))).code).toBe(
      'value-out-of-range'
    )
  })

  test('grey in JPEG', async () => {
    // 8 x 8 pixels of 77, as Pillow writes them.
    const jpeg =
      'SUkqACYAAAD/2P/AAAsIAAgACAEBEQD/2gAIAQEAAD8A4yv/2QAKAAABAwABAAAACAAAAAEBAwABAAAACAAAAAIBAwABAAAACAAA' +
      'AAMBAwABAAAABwAAAAYBAwABAAAAAQAAABEBBAABAAAACAAAABYBAwABAAAACAAAABcBBAABAAAAHQAAABwBAwABAAAAAQAAAFsB' +
      'BwAhAQAApAAAAAAAAAD/2P/bAEMACAYGBwYFCAcHBwkJCAoMFA0MCwsMGRITDxQdGh8eHRocHCAkLicgIiwjHBwoNyksMDE0NDQf' +
      'Jzk9ODI8LjM0Mv/EAB8AAAEFAQEBAQEBAAAAAAAAAAABAgMEBQYHCAkKC//EALUQAAIBAwMCBAMFBQQEAAABfQECAwAEEQUSITFB' +
      'BhNRYQcicRQygZGhCCNCscEVUtHwJDNicoIJChYXGBkaJSYnKCkqNDU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3' +
      'eHl6g4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV1tfY2drh4uPk5ebn6Onq8fLz9PX29/j5' +
      '+v/Z'
    const pixels = new Array<number>(64).fill(77)
    expect(await decoded(Buffer.from(jpeg, 'base64'), 'Grayscale')).toEqual([[8, 8, 1], ...pixels])
  })

  test.each([
    ['Zstandard', form(1, 1, 8, 1, 1, 50000)],
    ['LZMA', form(1, 1, 8, 1, 1, 34925)],
    ['samples of 12 bits', form(2, 1, 12, 1, 1)],
    ['samples with a sign', { ...form(1, 1, 8, 1, 1), 339: 2 }],
    ['luma and chroma as such', form(1, 1, 8, 6, 3)],
    ['bits in reverse', { ...form(1, 1, 1, 1, 1), 266: 2 }],
    ['floats in tiles', { ...form(1, 1, 32, 1, 1), 322: 16, 323: 16, 339: 3 }]
  ])('%s is refused, not decoded wrongly', async (_, tags) => {
    const error = await rejection(decoded(tiff(tags, [[1, 2, 3, 4]])))
    expect(error.code).toBe('unsupported-op')
    expect(error.message).toMatch(/TIFF pictures of .* are not decoded/)
  })

  test('a file without all its strips, and a tile of a huge size, give an error', async () => {
    const strips = tiff({ ...form(2, 2, 8, 1, 1), 278: 1 }, [[1, 2]])
    expect((await rejection(decoded(strips))).code).toBe('value-out-of-range')
    const huge = tiff({ ...form(2, 2, 8, 1, 1), 322: 2 ** 30, 323: 2 ** 30 }, [[1, 2]])
    expect((await rejection(decoded(huge))).code).toBe('limit-exceeded')
  })
})
