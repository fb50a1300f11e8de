import { fail } from '../../errors.ts'
import { loadPackage } from '../core/package.ts'
import { sample } from './bmp.ts'
import { sound } from './codecs.ts'
import { checkLength, checkSize, type OpenPicture, type Picture, spoiled } from './picture.ts'

/** The tags of a picture by their numbers. */
type Tags = Readonly<Record<`t${number}`, readonly number[] | undefined>>

interface Tiff {
  decode(buffer: ArrayBuffer): Tags[]
  /** Decodes the strips or tiles into `data`. It says on the console what it meets in tiles. */
  decodeImage(buffer: ArrayBuffer, image: Tags & { readonly data?: Uint8Array }): void
  toRGBA8(image: Tags): Uint8Array
}

/** How the samples of a picture are stored. */
interface Layout {
  readonly width: number
  readonly height: number
  /** Bits of a sample. */
  readonly bits: number
  /** Samples of a pixel. */
  readonly samples: number
  readonly compression: number
  /** What the samples mean: tag 262. */
  readonly meaning: number
  /** Each sample has a plane of its own. */
  readonly isPlanar: boolean
  /** Width and height of a strip or tile. */
  readonly piece: readonly [number, number]
  readonly isTiled: boolean
}

/** Tag 262. */
const WHITE_IS_ZERO = 0
const BLACK_IS_ZERO = 1
const RGB = 2
const PALETTE = 3
const CMYK = 5
const YCBCR = 6

/** Tag 259. */
const NOT_COMPRESSED = 1
const OLD_JPEG = 6
const JPEG = 7
/** CCITT's three, LZW, Deflate under both numbers, PackBits. */
const COMPRESSIONS: readonly number[] = [NOT_COMPRESSED, 2, 3, 4, 5, JPEG, 8, 32946, 32773]
/** The others that the package knows: of cameras, scanners and old writers. */
const RARE_COMPRESSIONS: readonly number[] = [OLD_JPEG, 9, 32767, 32809, 34316, 34676, 34713, 34892]
/** LZW and Deflate, which alone may hold differences: with the others libtiff, too, does not look at tag 317. */
const DIFFERENCED: readonly number[] = [5, 8, 32946]
/** The first byte of files whose numbers begin with the lowest byte. */
const LITTLE_ENDIAN = 0x49
/** Bits of a sample by what it means. */
const DEPTHS: Readonly<Record<number, readonly number[] | undefined>> = {
  [WHITE_IS_ZERO]: [1, 2, 4, 8, 16],
  [BLACK_IS_ZERO]: [1, 2, 4, 8, 16],
  [RGB]: [8, 16],
  [PALETTE]: [1, 2, 4, 8],
  [CMYK]: [8, 16]
}
/** More samples of a pixel than colours and alpha are no picture. */
const MAX_SAMPLES = 16

/** Opens the first picture of a TIFF. */
export async function openTiff(bytes: Uint8Array): Promise<OpenPicture> {
  const tiff = await loadPackage<Tiff>('utif2', 'TIFF pictures')
  const buffer = bytes.slice().buffer
  const [image] = sound('TIFF', () => tiff.decode(buffer))
  const [width, height] = [image?.t256?.[0] ?? 0, image?.t257?.[0] ?? 0]
  checkSize('TIFF', width, height)
  if (image) checkHeld(bytes, layoutOf(image, width, height))
  return {
    width,
    height,
    decode() {
      const layout = layoutOf(image, width, height)
      return isPlain(image, layout) ? colours(image, layout, samplesOf(tiff, buffer, image, layout)) : rare(layout)
    }
  }

  /** What the package alone makes of a picture: it knows floats, old JPEG and the files of cameras. */
  function rare({ bits, compression, meaning, isPlanar, isTiled, samples }: Layout): Picture {
    if (![...COMPRESSIONS, ...RARE_COMPRESSIONS].includes(compression)) refuse(`compression ${compression}`)
    const isFloat = bits === 32 && compression !== JPEG && bytes[0] === LITTLE_ENDIAN && image.t317 === undefined
    const isKnown = meaning > YCBCR || (meaning === YCBCR ? compression === OLD_JPEG : meaning <= RGB && isFloat)
    if (!isKnown || isPlanar || isTiled)
      refuse(`${samples} samples of ${bits} bits, compression ${compression} and photometric interpretation ${meaning}`)
    const pixels = sound('TIFF', () => {
      tiff.decodeImage(buffer, image)
      return tiff.toRGBA8(image)
    })
    checkLength('TIFF', pixels, 4 * width * height)
    return { width, height, channels: 4, pixels }
  }
}

/** Most bytes that a byte of a file becomes, by the compression; the others have no such bound. */
const MOST_EXPANSION: ReadonlyMap<number, number> = new Map([
  [NOT_COMPRESSED, 1],
  [5, (2 ** 12 * 8) / 12],
  [8, 1032],
  [32_773, 64],
  [32_946, 1032]
])

/** The decoder takes what is not there for zeros: a header alone would become a picture of any size. */
function checkHeld(bytes: Uint8Array, { width, height, bits, samples, compression, meaning }: Layout): void {
  // Of YCbCr, colours may be given for several pixels at once.
  const needed = (width * height * bits * (meaning === YCBCR ? 1 : samples)) / 8
  checkLength('TIFF', bytes, Math.ceil(needed / (MOST_EXPANSION.get(compression) ?? Infinity)))
}

const refuse = (what: string): never => fail('unsupported-op', `TIFF pictures of ${what} are not decoded`)

function layoutOf(image: Tags, width: number, height: number): Layout {
  const tag = (number: number, otherwise: number): number => image[`t${number}`]?.[0] ?? otherwise
  const isTiled = image.t322 !== undefined
  const piece = isTiled ? ([tag(322, 0), tag(323, 0)] as const) : ([width, Math.min(tag(278, height), height)] as const)
  checkSize('TIFF', ...piece)
  const bits = tag(258, 1)
  return {
    width,
    height,
    bits,
    samples: tag(277, 1),
    compression: tag(259, NOT_COMPRESSED),
    meaning: tag(262, bits === 1 ? WHITE_IS_ZERO : RGB),
    isPlanar: tag(284, 1) === 2,
    piece,
    isTiled
  }
}

/** How differences are stored; undefined where the samples themselves are. */
const predictorOf = (image: Tags): readonly number[] | undefined =>
  DIFFERENCED.includes(image.t259?.[0] ?? NOT_COMPRESSED) ? image.t317 : undefined

/** Whether the samples are whole numbers of a usual width, packed in a usual way, for grey or colours. */
function isPlain(image: Tags, { bits, samples, compression, meaning, isPlanar }: Layout): boolean {
  const format = image.t339?.[0] ?? 1
  const order = image.t266?.[0] ?? 1
  const predictor = predictorOf(image)?.[0] ?? 1
  if (!COMPRESSIONS.includes(compression) || samples < 1 || samples > MAX_SAMPLES) return false
  // Only the faxes' decoders look at the order of bits; differences are of whole bytes.
  if (order !== 1 && ![2, 3, 4].includes(compression)) return false
  if (predictor > 2 || (predictor === 2 && bits < 8)) return false
  if (compression === JPEG)
    return bits === 8 && !isPlanar && samples <= 3 && [WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, YCBCR].includes(meaning)
  const depths = DEPTHS[meaning] ?? []
  return (format === 1 || format === 4) && depths.includes(bits) && samples >= (meaning === CMYK ? 4 : 1)
}

/** The samples of all pixels, those of a pixel side by side: of 16 bits the high byte, of fewer than 8 the number. */
function samplesOf(tiff: Tiff, buffer: ArrayBuffer, image: Tags, layout: Layout): Uint8Array {
  const { width, height, bits, isPlanar, piece, isTiled } = layout
  const each = samplesEach(layout)
  const planes = isPlanar ? each : 1
  const inPlane = each / planes
  const [across, down] = [Math.ceil(width / piece[0]), Math.ceil(height / piece[1])]
  const offsets = (isTiled ? image.t324 : image.t273) ?? []
  const lengths = (isTiled ? image.t325 : image.t279) ?? []
  if (offsets.length < across * down * planes) spoiled('TIFF', `it has ${offsets.length} strips or tiles`)
  const out = new Uint8Array(width * height * each)
  for (let i = 0; i < across * down * planes; i++) {
    const plane = Math.floor(i / (across * down))
    const left = (i % across) * piece[0]
    const top = (Math.floor(i / across) % down) * piece[1]
    // A tile is whole, the last strip ends with the picture.
    const rows = isTiled ? piece[1] : Math.min(piece[1], height - top)
    const data = pieceOf(tiff, buffer, image, [piece[0], rows, inPlane], [offsets[i], lengths[i]], bits)
    const stride = Math.ceil((piece[0] * inPlane * bits) / 8)
    checkLength('TIFF', data, stride * rows)
    const columns = Math.min(piece[0], width - left)
    for (let y = 0; y < Math.min(rows, height - top); y++) {
      const to = ((top + y) * width + left) * each + plane
      for (let j = 0; j < columns * inPlane; j++) {
        const at = y * stride
        const value = bits === 8 ? data[at + j] : bits === 16 ? data[at + 2 * j + 1] : sample(data, at, j, bits)
        out[isPlanar ? to + j * each : to + j] = value
      }
    }
  }
  return out
}

/** Samples of a pixel as they are decoded: the decoder of JPEG makes three of one. */
const samplesEach = ({ compression, samples }: Layout): number => (compression === JPEG && samples === 1 ? 3 : samples)

/** Decodes a strip or tile as a picture of its own, which has one strip. */
function pieceOf(
  tiff: Tiff,
  buffer: ArrayBuffer,
  image: Tags,
  [width, height, samples]: readonly [number, number, number],
  [offset, length]: readonly (number | undefined)[],
  bits: number
): Uint8Array {
  const part: Record<`t${number}`, readonly number[] | undefined> & { data?: Uint8Array } = {
    t256: [width],
    t257: [height],
    t258: new Array<number>(samples).fill(bits),
    t259: image.t259,
    // The decoder of JPEG writes what it has made into this one.
    t262: [image.t262?.[0] ?? RGB],
    t266: image.t266,
    t273: [offset ?? 0],
    t277: [samples],
    t278: [height],
    t279: [length ?? buffer.byteLength - (offset ?? 0)],
    t292: image.t292,
    t317: predictorOf(image),
    t347: image.t347
  }
  for (const key of Object.keys(part) as (keyof typeof part)[]) if (part[key] === undefined) delete part[key]
  sound('TIFF', () => tiff.decodeImage(buffer, part))
  return part.data ?? spoiled('TIFF', 'a strip or tile is empty')
}

/** Colours or grey from the samples; alpha and what else a pixel has beyond its colours is left out. */
function colours(image: Tags, layout: Layout, samples: Uint8Array): Picture {
  const { width, height, bits, compression, meaning } = layout
  const each = samplesEach(layout)
  const pixel = pixelOf(image, meaning, bits)
  const isColoured = compression === JPEG || meaning === RGB ? each >= 3 : meaning === PALETTE || meaning === CMYK
  const channels = isColoured && meaning !== WHITE_IS_ZERO ? 3 : 1
  const pixels = new Uint8Array(channels * width * height)
  for (let i = 0, from = 0; i < pixels.length; i += channels, from += each) pixel(samples, from, pixels, i, channels)
  return { width, height, channels, pixels }
}

/** Writes a pixel of `channels` components. */
type PaintPixel = (samples: Uint8Array, from: number, pixels: Uint8Array, to: number, channels: number) => void

const copied: PaintPixel = (samples, from, pixels, to, channels) => {
  for (let c = 0; c < channels; c++) pixels[to + c] = samples[from + c]
}

function pixelOf(image: Tags, meaning: number, bits: number): PaintPixel {
  const most = bits < 8 ? 2 ** bits - 1 : 255
  if (meaning === PALETTE) {
    const size = 2 ** bits
    const map = image.t320 ?? []
    if (map.length < 3 * size) spoiled('TIFF', `its palette has ${map.length} numbers; ${3 * size} are needed`)
    return (samples, from, pixels, to) => {
      for (let c = 0; c < 3; c++) pixels[to + c] = map[c * size + samples[from]] >> 8
    }
  }
  if (meaning === CMYK) {
    return (samples, from, pixels, to) => {
      const light = 255 - samples[from + 3]
      // As Pillow does: what black leaves, less the share of the ink.
      for (let c = 0; c < 3; c++) pixels[to + c] = light - dividedBy255(samples[from + c] * light)
    }
  }
  if (meaning === WHITE_IS_ZERO || most < 255) {
    const isInverted = meaning === WHITE_IS_ZERO
    return (samples, from, pixels, to) => {
      const value = Math.floor((samples[from] * 255) / most)
      pixels[to] = isInverted ? 255 - value : value
    }
  }
  return copied
}

/** A product of two bytes divided by 255 and rounded, in whole numbers. */
function dividedBy255(product: number): number {
  const sum = product + 128
  return ((sum >> 8) + sum) >> 8
}
