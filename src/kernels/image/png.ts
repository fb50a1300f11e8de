import { loadPackage } from '../core/package.ts'
import { sample } from './bmp.ts'
import { sound } from './codecs.ts'
import { checkLength, checkSize, type OpenPicture, type Picture, spoiled, viewOf } from './picture.ts'

interface DecodedPng {
  readonly width: number
  readonly height: number
  readonly depth: number
  readonly channels: 1 | 2 | 3 | 4
  readonly data: Uint8Array | Uint16Array
  readonly palette?: Palette
}

/** Of fflate, as far as it is used here. */
interface Zlib {
  unzlibSync(bytes: Uint8Array, options: { out: Uint8Array }): Uint8Array
}

/** Red, green and blue by index. */
type Palette = readonly ArrayLike<number>[]

/** A part of a file, from its length to its checksum. */
interface Chunk {
  readonly type: string
  readonly whole: Uint8Array
  readonly data: Uint8Array
}

/** Columns and rows of the passes of an interlaced picture: the first of each, and the steps. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2]
] as const

/** Opens a PNG; of 16 bits the high byte is taken. */
export async function openPng(bytes: Uint8Array): Promise<OpenPicture> {
  const { decode } = await loadPackage<{ decode(bytes: Uint8Array): DecodedPng }>('fast-png', 'PNG pictures')
  checkLength('PNG', bytes, 29)
  const [width, height] = [viewOf(bytes).getUint32(16), viewOf(bytes).getUint32(20)]
  checkSize('PNG', width, height)
  const depth = bytes[24]
  // The package reads passes only where pixels have whole bytes.
  if (bytes[28] === 1 && [1, 2, 4].includes(depth)) {
    const zlib = await loadPackage<Zlib>('fflate', 'interlaced PNG pictures')
    return { width, height, decode: () => fromPasses(zlib, bytes, width, height, depth) }
  }
  return { width, height, decode: () => fromPng(sound('PNG', () => decode(withoutTransparency(bytes)))) }
}

function* chunksOf(bytes: Uint8Array): Generator<Chunk> {
  const view = viewOf(bytes)
  for (let at = 8; at + 12 <= bytes.length;) {
    const end = at + 12 + view.getUint32(at)
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8))
    yield { type, whole: bytes.subarray(at, end), data: bytes.subarray(at + 8, end - 4) }
    at = end
  }
}

/** Leaves out which colours are transparent: alpha is dropped, and the package refuses it in the smallest pictures. */
function withoutTransparency(bytes: Uint8Array): Uint8Array {
  const chunks = [...chunksOf(bytes)]
  const kept = chunks.filter(({ type }) => type !== 'tRNS')
  return kept.length === chunks.length ? bytes : joined([bytes.subarray(0, 8), ...kept.map(({ whole }) => whole)])
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

function fromPng({ width, height, depth, channels, data, palette }: DecodedPng): Picture {
  if (depth >= 8 && !palette) {
    const pixels = data instanceof Uint16Array ? Uint8Array.from(data, value => value >> 8) : data
    return { width, height, channels, pixels }
  }
  const stride = Math.ceil((width * depth) / 8)
  return painted(width, height, depth, palette, (row, x) => sample(data as Uint8Array, row * stride, x, depth))
}

/** A picture from numbers of a few bits, which are grey, or indices into a palette. */
function painted(
  width: number,
  height: number,
  depth: number,
  palette: Palette | undefined,
  valueAt: (row: number, x: number) => number
): Picture {
  const channels = palette ? 3 : 1
  const pixels = new Uint8Array(channels * width * height)
  for (let row = 0, to = 0; row < height; row++) {
    for (let x = 0; x < width; x++, to += channels) {
      const value = valueAt(row, x)
      if (palette) for (let c = 0; c < 3; c++) pixels[to + c] = palette[value]?.[c] ?? 0
      else pixels[to] = (value * 255) / (2 ** depth - 1)
    }
  }
  return { width, height, channels, pixels }
}

/** An interlaced picture of 1, 2 or 4 bits a pixel, grey or with a palette (ISO/IEC 15948, 8.2). */
function fromPasses(zlib: Zlib, bytes: Uint8Array, width: number, height: number, depth: number): Picture {
  const chunks = [...chunksOf(bytes)]
  const parts = (wanted: string): Uint8Array =>
    joined(chunks.filter(({ type }) => type === wanted).map(({ data }) => data))
  const passes = PASSES.map(([left, top, across, down]) => {
    const columns = Math.ceil((width - left) / across)
    const rows = Math.ceil((height - top) / down)
    const stride = Math.ceil((columns * depth) / 8)
    return { left, top, across, down, columns, rows: columns > 0 && rows > 0 ? rows : 0, stride }
  })
  const size = passes.reduce((sum, { rows, stride }) => sum + rows * (1 + stride), 0)
  const raw = sound('PNG', () => zlib.unzlibSync(parts('IDAT'), { out: new Uint8Array(size) }))
  checkLength('PNG', raw, size)
  const values = new Uint8Array(width * height)
  let at = 0
  for (const { left, top, across, down, columns, rows, stride } of passes) {
    let above: Uint8Array = new Uint8Array(stride)
    for (let row = 0; row < rows; row++, at += 1 + stride) {
      const line = raw.subarray(at + 1, at + 1 + stride)
      unfilter(raw[at], line, above)
      above = line
      for (let i = 0; i < columns; i++)
        values[(top + row * down) * width + left + i * across] = sample(line, 0, i, depth)
    }
  }
  const palette = bytes[25] === 3 ? threes(parts('PLTE')) : undefined
  return painted(width, height, depth, palette, (row, x) => values[row * width + x])
}

const threes = (bytes: Uint8Array): Palette =>
  Array.from({ length: Math.floor(bytes.length / 3) }, (_, i) => bytes.subarray(3 * i, 3 * i + 3))

/** Adds to the bytes of a line what its filter has subtracted (ISO/IEC 15948, 9.2); pixels have no more than a byte. */
function unfilter(filter: number, line: Uint8Array, above: Uint8Array): void {
  if (filter > 4) spoiled('PNG', `a line has filter ${filter}`)
  for (let i = 0; i < line.length; i++) {
    const [left, up, corner] = [line[i - 1] ?? 0, above[i], above[i - 1] ?? 0]
    line[i] += [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]
  }
}

/** Whichever of the three is nearest to left + up - corner; the first where some are as near. */
function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)]
  return a <= b && a <= c ? left : b <= c ? up : corner
}
