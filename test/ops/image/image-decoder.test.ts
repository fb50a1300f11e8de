import { encode } from 'fast-png'
import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { type ModelParts, node, port } from '../../fixtures/onnx.ts'
import { dimsOf, errorOf, fact, inferOp } from '../harness.ts'
import { rejection, runOnnx } from '../model.ts'
import { decoded, decoder } from './decode.ts'

/** A bitmap of two rows: header, what follows it, pixels from the bottom. */
const bmp = (width: number, bits: number, compression: number, extra: number[], pixels: number[]): Uint8Array => {
  const bytes = new Uint8Array(54 + extra.length + pixels.length)
  const view = new DataView(bytes.buffer)
  bytes.set([0x42, 0x4d])
  view.setUint32(10, 54 + extra.length, true)
  view.setUint32(14, 40, true)
  view.setInt32(18, width, true)
  view.setInt32(22, 2, true)
  view.setUint16(28, bits, true)
  view.setUint32(30, compression, true)
  bytes.set(extra, 54)
  bytes.set(pixels, 54 + extra.length)
  return bytes
}
/** A JPEG of 8 x 8 pixels of medium grey: each table has one code, of the bit 0. */
const GREY_JPEG = Uint8Array.from([
  ...[0xff, 0xd8, 0xff, 0xdb, 0, 67, 0, ...new Array<number>(64).fill(1)],
  ...[0xff, 0xc0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0],
  ...[0, 0x10].flatMap(table => [0xff, 0xc4, 0, 20, table, 1, ...new Array<number>(16).fill(0)]),
  ...[0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x3f, 0xff, 0xd9]
])
const BLACK_RED_WHITE = [0, 0, 0, 0, 0, 0, 255, 0, 255, 255, 255, 0]

/** A grey TIFF of one line whose two bytes are 7 and 9. */
function tiff(width: number, compression: number): Uint8Array {
  const tags = [
    [256, width],
    [257, 1],
    [258, 8],
    [259, compression],
    [262, 1],
    [273, 110],
    [277, 1],
    [279, 2]
  ]
  const bytes = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 8, 0]
  const wide = (value: number): number[] => [0, 8, 16, 24].map(shift => (value >> shift) & 255)
  for (const [tag, value] of tags) bytes.push(tag & 255, tag >> 8, 4, 0, 1, 0, 0, 0, ...wide(value))
  return Uint8Array.from([...bytes, 0, 0, 0, 0, 7, 9])
}

describe('ImageDecoder', () => {
  test('gives red, green and blue in the order that is asked for, or grey', async () => {
    const picture = 'P3 1 2 255  10 20 30  # a comment\n 255 0 0'
    expect(await decoded(picture)).toEqual([[2, 1, 3], 10, 20, 30, 255, 0, 0])
    expect(await decoded(picture, 'BGR')).toEqual([[2, 1, 3], 30, 20, 10, 0, 0, 255])
    expect(await decoded(picture, 'Grayscale')).toEqual([[2, 1, 1], 18, 76])
  })

  test('reads anymaps of bits, grey and colour, as text and as bytes, of any highest value', async () => {
    expect(await decoded('P1 3 1 101', 'Grayscale')).toEqual([[1, 3, 1], 0, 255, 0])
    expect(await decoded('P4 3 1\n\xa0', 'Grayscale')).toEqual([[1, 3, 1], 0, 255, 0])
    expect(await decoded('P2 3 1 15 0 5 15', 'Grayscale')).toEqual([[1, 3, 1], 0, 85, 255])
    expect(await decoded('P5 2 1 65535\n\x80\x80\xff\xff', 'Grayscale')).toEqual([[1, 2, 1], 128, 255])
    expect(await decoded('P6 1 1 255\n\x01\x02\x03')).toEqual([[1, 1, 3], 1, 2, 3])
  })

  test('reads bitmaps with a palette, run lengths, bit fields and plain colours', async () => {
    const two = [[2, 2, 3], 255, 0, 0, 255, 255, 255, 0, 0, 0, 255, 0, 0]
    expect(
      await decoded(bmp(2, 8, 0, [...BLACK_RED_WHITE, ...new Array<number>(1012).fill(0)], [0, 1, 0, 0, 1, 2, 0, 0]))
    ).toEqual(two)
    const runs = [1, 0, 1, 1, 0, 0, 1, 1, 1, 2, 0, 1]
    expect(await decoded(bmp(2, 8, 1, [...BLACK_RED_WHITE, ...new Array<number>(1012).fill(0)], runs))).toEqual(two)
    const masks = [0, 0xf8, 0, 0, 0xe0, 7, 0, 0, 0x1f, 0, 0, 0]
    expect(await decoded(bmp(2, 16, 3, masks, [0, 0, 0, 0xf8, 0, 0xf8, 0xff, 0xff]))).toEqual(two)
    expect(await decoded(bmp(1, 24, 0, [], [1, 2, 3, 0, 4, 5, 6, 0]))).toEqual([[2, 1, 3], 6, 5, 4, 3, 2, 1])
  })

  test('reads PNG: grey, alpha, which is dropped, and 16 bits, of which the high byte counts', async () => {
    const grey = encode({ width: 2, height: 1, data: Uint8Array.of(7, 9), channels: 1, depth: 8 })
    expect(await decoded(grey)).toEqual([[1, 2, 3], 7, 7, 7, 9, 9, 9])
    const alpha = encode({ width: 1, height: 1, data: Uint8Array.of(7, 8, 9, 0), channels: 4, depth: 8 })
    expect(await decoded(alpha)).toEqual([[1, 1, 3], 7, 8, 9])
    const deep = encode({ width: 1, height: 1, data: Uint16Array.of(0x1234), channels: 1, depth: 16 })
    expect(await decoded(deep, 'Grayscale')).toEqual([[1, 1, 1], 0x12])
  })

  test('reads WebP and TIFF', async () => {
    const webp = 'UklGRhwAAABXRUJQVlA4TA8AAAAvAAAAAAcQUYr+ByKi/wEA'
    expect(await decoded(Buffer.from(webp, 'base64'))).toEqual([[1, 1, 3], 0, 0, 20])
    expect(await decoded(tiff(2, 1), 'Grayscale')).toEqual([[1, 2, 1], 7, 9])
  })

  test('a TIFF that is too short for the pixels it states is refused before they are decoded', async () => {
    for (const compression of [1, 5, 8, 32_773])
      expect((await rejection(decoded(tiff(20_000_000, compression)))).code).toBe('value-out-of-range')
  })

  test('a sound JPEG of inks and a JPEG 2000 with alpha are refused as unsupported', async () => {
    // The header of a frame of four components, and the first segment of a stream of two.
    const inks = '\xff\xd8\xff\xee\0\x04\0\0\xff\xc0\0\x14\x08\0\x01\0\x01\x04'
    const alpha = `\xff\x4f\xff\x51\0\x2c\0\0${'\0\0\0\x01'.repeat(8)}\0\x02`
    for (const bytes of [inks, alpha]) expect((await rejection(decoded(bytes))).code).toBe('unsupported-op')
  })

  test('a file of another format, or one that is cut off, gives an error', async () => {
    expect((await rejection(decoded('GIF89a'))).code).toBe('unsupported-op')
    const png = encode({ width: 9, height: 9, data: new Uint8Array(81), channels: 1, depth: 8 })
    for (const bytes of [
      'P6 2 1 255\n\x01\x02\x03',
      'P2 2 1 255 7',
      'P5 0 1 255\n',
      bmp(2, 8, 0, BLACK_RED_WHITE, [0]),
      bmp(2, 7, 0, [], new Array<number>(8).fill(0)),
      png.subarray(0, 40),
      '\xff\xd8\xff\xe0',
      '\0\0\0\x0cjP  \r\n',
      'II*\0\x08\0\0\0',
      'RIFF\x04\0\0\0WEBP'
    ])
      expect((await rejection(decoded(bytes))).code).toBe('value-out-of-range')
  })

  test('a header that states a huge size is refused before memory is taken', async () => {
    expect((await rejection(decoded('P6 99999999 99999999 255\n'))).code).toBe('limit-exceeded')
    expect((await rejection(decoded(bmp(2 ** 30, 8, 0, [], [])))).code).toBe('limit-exceeded')
    const png = encode({ width: 1, height: 1, data: new Uint8Array(1), channels: 1, depth: 8 })
    new DataView(png.buffer, png.byteOffset).setUint32(16, 2 ** 31 - 1)
    expect((await rejection(decoded(png))).code).toBe('limit-exceeded')
  })

  test('the shape has the channels of the format', () => {
    const infer = (format: string, dims: (string | number)[]): unknown =>
      dimsOf(inferOp(['onnx', 'ImageDecoder', 20], [fact('uint8', dims)], { attributes: { pixel_format: format } })[0])
    expect((infer('Grayscale', ['n']) as unknown[])[2]).toBe(1)
    expect((infer('BGR', ['n']) as unknown[])[2]).toBe(3)
    expect(errorOf(() => infer('RGB', ['n', 1])).code).toBe('rank-mismatch')
    expect(errorOf(() => infer('CMYK', ['n'])).code).toBe('unknown-attribute-value')
  })

  test('decodes many pictures by one codec, and goes on after a spoiled one', async () => {
    const names = Array.from({ length: 200 }, (_, i) => `y${i}`)
    const parts: ModelParts = {
      ...decoder('Grayscale'),
      outputs: names.map(name => port(name, 'uint8')),
      nodes: names.map(name => node('ImageDecoder', ['x'], [name], { pixel_format: 'Grayscale' }))
    }
    const grey = [[8, 8, 1], ...new Array<number>(64).fill(128)]
    const results = await runOnnx(parts, { x: new Tensor('uint8', GREY_JPEG) })
    expect([results.y0, results.y199]).toEqual([grey, grey])
    const headless = new Tensor('uint8', GREY_JPEG.subarray(0, 60))
    expect(await rejection(runOnnx(decoder('RGB'), { x: headless }))).toMatchObject({ code: 'value-out-of-range' })
    expect(await decoded(GREY_JPEG, 'Grayscale')).toEqual(grey)
  })
})
