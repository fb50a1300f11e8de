import { checkLength, checkSize, type OpenPicture, type Picture, spoiled, viewOf } from './picture.ts'

/** How pixels are stored. */
interface Layout {
  readonly width: number
  readonly height: number
  readonly fromTop: boolean
  readonly bits: number
  /** BI_RGB 0, BI_RLE8 1, BI_RLE4 2, BI_BITFIELDS 3, BI_ALPHABITFIELDS 6. */
  readonly compression: number
  /** Offset of the pixels. */
  readonly start: number
  /** Blue, green, red by index, from the palette. */
  readonly palette: readonly (readonly [number, number, number])[]
  /** Bits of red, green and blue where a pixel is one number. */
  readonly masks: readonly number[]
}

/** Opens a Windows bitmap: 1 to 32 bits a pixel, palettes, bit fields and run lengths. */
export function openBmp(bytes: Uint8Array): OpenPicture {
  const layout = layoutOf(bytes)
  const { width, height } = layout
  checkSize('BMP', width, height)
  return { width, height, decode: () => decode(bytes, layout) }
}

function layoutOf(bytes: Uint8Array): Layout {
  checkLength('BMP', bytes, 26)
  const view = viewOf(bytes)
  const start = view.getUint32(10, true)
  const header = view.getUint32(14, true)
  const isCore = header === 12
  if (!isCore && header < 40) spoiled('BMP', `its header has ${header} bytes`)
  checkLength('BMP', bytes, 14 + header)
  const rows = isCore ? view.getUint16(20, true) : view.getInt32(22, true)
  const bits = view.getUint16(isCore ? 24 : 28, true)
  const compression = isCore ? 0 : view.getUint32(30, true)
  const hasMasks = compression === 3 || compression === 6
  // Masks follow the oldest header, and are part of newer ones.
  const extra = hasMasks && header === 40 ? (compression === 6 ? 16 : 12) : 0
  const first = 14 + header + extra
  checkLength('BMP', bytes, hasMasks ? 66 : first)
  const each = isCore ? 3 : 4
  const stated = isCore ? 0 : view.getUint32(46, true)
  const colours = bits > 8 ? 0 : Math.min(stated || 2 ** bits, 2 ** bits, Math.floor((bytes.length - first) / each))
  return {
    width: isCore ? view.getUint16(18, true) : view.getInt32(18, true),
    height: Math.abs(rows),
    fromTop: rows < 0,
    bits,
    compression,
    start,
    palette: Array.from({ length: Math.max(0, colours) }, (_, i) => {
      const at = first + i * each
      return [bytes[at], bytes[at + 1], bytes[at + 2]] as const
    }),
    masks: hasMasks ? [54, 58, 62].map(at => view.getUint32(at, true)) : [0x7c00, 0x3e0, 0x1f]
  }
}

function decode(bytes: Uint8Array, layout: Layout): Picture {
  const { width, height, fromTop, bits, compression } = layout
  const pixels = new Uint8Array(3 * width * height)
  const target = (row: number): number => 3 * width * (fromTop ? row : height - 1 - row)
  if (compression === 1 || compression === 2) {
    const indices = runLengths(bytes, layout)
    for (let row = 0; row < height; row++)
      for (let x = 0; x < width; x++) paint(pixels, target(row) + 3 * x, layout, indices[row * width + x])
    return { width, height, channels: 3, pixels }
  }
  const hasMasks = compression === 3 || compression === 6
  if (compression !== 0 && !hasMasks) spoiled('BMP', `its compression ${compression} is unknown`)
  if (![1, 2, 4, 8, 16, 24, 32].includes(bits)) spoiled('BMP', `it has ${bits} bits a pixel`)
  const stride = 4 * Math.ceil((width * bits) / 32)
  checkLength('BMP', bytes, layout.start + stride * height)
  for (let row = 0; row < height; row++) {
    const from = layout.start + row * stride
    for (let x = 0; x < width; x++) {
      const to = target(row) + 3 * x
      if (bits <= 8) paint(pixels, to, layout, sample(bytes, from, x, bits))
      else if (bits === 16 || hasMasks) unmask(pixels, to, numberAt(bytes, from + (x * bits) / 8, bits), layout.masks)
      else for (let c = 0; c < 3; c++) pixels[to + c] = bytes[from + (x * bits) / 8 + 2 - c]
    }
  }
  return { width, height, channels: 3, pixels }
}

/** The number of `bits` bits at a position of a row, the first in the highest bits of a byte. */
export const sample = (bytes: Uint8Array, row: number, x: number, bits: number): number =>
  (bytes[row + ((x * bits) >> 3)] >> (8 - bits - ((x * bits) & 7))) & ((1 << bits) - 1)

function numberAt(bytes: Uint8Array, at: number, bits: number): number {
  let value = 0
  for (let i = bits / 8 - 1; i >= 0; i--) value = value * 256 + bytes[at + i]
  return value
}

function paint(pixels: Uint8Array, at: number, { palette }: Layout, index: number): void {
  const colour = palette[index] ?? [0, 0, 0]
  for (let c = 0; c < 3; c++) pixels[at + c] = colour[2 - c]
}

/** Widens the fields of a pixel to 8 bits. */
function unmask(pixels: Uint8Array, at: number, value: number, masks: readonly number[]): void {
  masks.forEach((mask, c) => {
    const shift = mask === 0 ? 0 : 31 - Math.clz32(mask & -mask)
    const most = mask >>> shift
    pixels[at + c] = most === 0 ? 0 : Math.floor((((value & mask) >>> shift) * 255) / most)
  })
}

/** The indices of a picture in run lengths, rows in the order of the file. */
function runLengths(bytes: Uint8Array, { width, height, bits, start }: Layout): Uint8Array {
  const indices = new Uint8Array(width * height)
  const half = bits === 4
  let [at, x, row] = [start, 0, 0]
  const put = (index: number): void => {
    if (x < width && row < height) indices[row * width + x] = index
    x++
  }
  while (at + 1 < bytes.length && row < height) {
    const [count, value] = [bytes[at], bytes[at + 1]]
    at += 2
    if (count > 0) for (let i = 0; i < count; i++) put(half ? (i % 2 === 0 ? value >> 4 : value & 15) : value)
    else if (value === 0) [x, row] = [0, row + 1]
    else if (value === 1) break
    else if (value === 2) {
      x += bytes[at] ?? 0
      row += bytes[at + 1] ?? 0
      at += 2
    } else {
      for (let i = 0; i < value; i++) {
        const byte = bytes[at + (half ? i >> 1 : i)] ?? 0
        put(half ? (i % 2 === 0 ? byte >> 4 : byte & 15) : byte)
      }
      // What is stored plainly ends at an even offset.
      at += 2 * Math.ceil((half ? Math.ceil(value / 2) : value) / 2)
    }
  }
  return indices
}
