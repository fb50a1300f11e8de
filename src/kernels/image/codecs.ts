import { fail, NodewiseError } from '../../errors.ts'
import { loadPackage } from '../core/package.ts'
import { checkLength, checkSize, type OpenPicture, type Picture, spoiled, viewOf } from './picture.ts'

/** A decoder of Emscripten, as both codecs of cornerstone have it. */
interface Codec {
  getEncodedBuffer(length: number): Uint8Array
  readHeader(): void
  decode(): void
  getFrameInfo(): { width: number; height: number; bitsPerSample: number; componentCount: number; isSigned: boolean }
  getDecodedBuffer(): Uint8Array
  delete(): void
}

type Codecs = Readonly<Record<string, new () => Codec>>
type CodecFactory = (options: object) => Promise<Codecs>

/** Runs a part of a package; what it throws becomes an error of the picture. */
export function sound<T>(format: string, decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    if (error instanceof NodewiseError) throw error
    return spoiled(format, error instanceof Error ? error.message : `the decoder refuses it (${String(error)})`)
  }
}

/** Opens a JPEG, by libjpeg-turbo. */
export const openJpeg = (bytes: Uint8Array): Promise<OpenPicture> =>
  openWithCodec(bytes, 'JPEG', '@cornerstonejs/codec-libjpeg-turbo-8bit/decode', 'JPEGDecoder', codec => {
    checkComponents('JPEG', jpegComponents(bytes))
    codec.readHeader()
    const { width, height } = codec.getFrameInfo()
    return [width, height]
  })

/** Components that the frame of a JPEG has (ITU-T T.81, B.2.2); undefined where no frame is found. */
function jpegComponents(bytes: Uint8Array): number | undefined {
  for (let at = 2; at + 10 <= bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1]
    // C4, C8 and CC, in the midst of the numbers of frames, are tables and what is reserved.
    if (marker === 0xc0 || (marker > 0xc0 && marker <= 0xcf && marker % 4 !== 0)) return bytes[at + 9]
    // A marker may follow any number of these.
    at += marker === 0xff ? 1 : 2 + 256 * bytes[at + 2] + bytes[at + 3]
  }
  return undefined
}

/** The codecs throw a number at ink and, in JPEG 2000, at alpha, as they do at a picture that is spoiled. */
function checkComponents(format: string, count = 1): void {
  if (count !== 1 && count !== 3)
    fail('unsupported-op', `${format} pictures of ${count} components are not decoded; of 1 and 3 they are`)
}

/** Opens a JPEG 2000, in its file format or as a bare stream, by OpenJPEG. */
export const openJpeg2000 = (bytes: Uint8Array): Promise<OpenPicture> =>
  openWithCodec(bytes, 'JPEG 2000', '@cornerstonejs/codec-openjpeg/decode', 'J2KDecoder', () => jpeg2000Size(bytes))

/** Width and height by the first segment of the stream (ITU-T T.800, A.5.1), which the codec tells only at the end. */
function jpeg2000Size(bytes: Uint8Array): readonly [number, number] {
  let at = 0
  while (at + 24 <= bytes.length && !START_OF_STREAM.every((byte, i) => bytes[at + i] === byte)) at++
  checkLength('JPEG 2000', bytes, at + 42)
  checkComponents('JPEG 2000', viewOf(bytes).getUint16(at + 40))
  const [right, bottom, left, top] = [8, 12, 16, 20].map(offset => viewOf(bytes).getUint32(at + offset))
  return [right - left, bottom - top]
}

const START_OF_STREAM = [0xff, 0x4f, 0xff, 0x51]

async function openWithCodec(
  bytes: Uint8Array,
  format: string,
  name: string,
  type: string,
  sizeOf: (codec: Codec) => readonly [number, number]
): Promise<OpenPicture> {
  const codecs = await codecsOf(name, format)
  const codec = new codecs[type]()
  const closing = <T>(read: () => T): T => {
    try {
      return sound(format, read)
    } catch (error) {
      codec.delete()
      // The module of a decoder that threw may be in any state.
      running.delete(name)
      throw error
    }
  }
  const [width, height] = closing(() => {
    codec.getEncodedBuffer(bytes.length).set(bytes)
    const size = sizeOf(codec)
    checkSize(format, ...size)
    return size
  })
  return {
    width,
    height,
    decode() {
      const picture = closing(() => {
        codec.decode()
        return fromCodec(codec, format)
      })
      codec.delete()
      // Its memory never shrinks.
      if (width * height > MAX_KEPT) running.delete(name)
      return picture
    }
  }
}

/** Instances of codecs that may be used again: to make one takes longer than to decode a small picture. */
const running = new Map<string, Promise<Codecs>>()
/** Pixels of a picture after which an instance is not used again. */
const MAX_KEPT = 2 ** 22

async function codecsOf(name: string, format: string): Promise<Codecs> {
  const factory = await loadPackage<CodecFactory>(name, `${format} pictures`)
  const quiet = (): void => {}
  const known = running.get(name) ?? factory({ print: quiet, printErr: quiet })
  running.set(name, known)
  try {
    return await known
  } catch (error) {
    running.delete(name)
    throw error
  }
}

function fromCodec(codec: Codec, format: string): Picture {
  const { width, height, bitsPerSample, componentCount, isSigned } = codec.getFrameInfo()
  const decoded = codec.getDecodedBuffer()
  if (componentCount > 4 || bitsPerSample > 16 || isSigned)
    throw new Error(`it has ${componentCount} components of ${bitsPerSample} bits`)
  const count = width * height * componentCount
  const bytes = bitsPerSample > 8 ? 2 : 1
  checkLength(format, decoded, bytes * count)
  // The memory of the codec is used again.
  const pixels = decoded.slice(0, count)
  const [most, shift] = [2 ** bitsPerSample - 1, bitsPerSample - 8]
  if (shift < 0) for (let i = 0; i < count; i++) pixels[i] = (decoded[i] * 255) / most
  else if (shift > 0) for (let i = 0; i < count; i++) pixels[i] = (decoded[2 * i] + 256 * decoded[2 * i + 1]) >> shift
  return { width, height, channels: componentCount as Picture['channels'], pixels }
}

/** Opens a WebP, lossy or lossless, by libwebp. */
export async function openWebp(bytes: Uint8Array): Promise<OpenPicture> {
  const webp = await loadPackage<{ decode(bytes: Uint8Array): { data: Uint8ClampedArray } }>(
    '@cwasm/webp',
    'WebP pictures'
  )
  const [width, height] = webpSize(bytes)
  checkSize('WebP', width, height)
  return {
    width,
    height,
    decode() {
      const { data } = sound('WebP', () => webp.decode(bytes))
      checkLength('WebP', new Uint8Array(data.buffer, data.byteOffset), 4 * width * height)
      return { width, height, channels: 4, pixels: new Uint8Array(data.buffer, data.byteOffset, data.length) }
    }
  }
}

/** Width and height by the first chunk (RFC 9649): lossy, lossless or extended. */
function webpSize(bytes: Uint8Array): readonly [number, number] {
  checkLength('WebP', bytes, 30)
  const view = viewOf(bytes)
  const chunk = String.fromCharCode(...bytes.subarray(12, 16))
  if (chunk === 'VP8 ') return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff]
  if (chunk === 'VP8L') {
    const bits = view.getUint32(21, true)
    return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1]
  }
  if (chunk !== 'VP8X') spoiled('WebP', `its first part is "${chunk}"`)
  return [(view.getUint32(24, true) & 0xffffff) + 1, (view.getUint32(26, true) >>> 8) + 1]
}
