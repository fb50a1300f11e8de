import { roundHalfToEven } from '../core/rounding.ts'
import { sample } from './bmp.ts'
import { checkLength, checkSize, type OpenPicture, type Picture, spoiled } from './picture.ts'

const FORMAT = 'PNM'

/** Opens a portable anymap, P1 to P6: bits, grey or colour, as text or as bytes. */
export function openPnm(bytes: Uint8Array): OpenPicture {
  const kind = bytes[1] - 0x30
  const text = { bytes, at: 2 }
  const width = nextNumber(text)
  const height = nextNumber(text)
  const isBits = kind === 1 || kind === 4
  const highest = isBits ? 1 : nextNumber(text)
  checkSize(FORMAT, width, height)
  if (!(highest >= 1 && highest <= 65535)) spoiled(FORMAT, `its highest value is ${highest}`)
  const channels = kind === 3 || kind === 6 ? 3 : 1
  // One blank ends the header of bytes.
  const start = text.at + 1
  const count = width * height * channels
  return {
    width,
    height,
    decode(): Picture {
      const pixels = new Uint8Array(count)
      if (kind === 4) readBits(bytes, start, width, height, pixels)
      else if (kind === 1) for (let i = 0; i < count; i++) pixels[i] = nextBit(text) === 1 ? 0 : 255
      else if (kind < 4) for (let i = 0; i < count; i++) pixels[i] = scaled(nextNumber(text), highest)
      else readBytes(bytes, start, highest, pixels)
      return { width, height, channels, pixels }
    }
  }
}

/** Whether bytes begin with the sign of an anymap that is read here. */
export const isPnm = (bytes: Uint8Array): boolean => bytes[0] === 0x50 && bytes[1] >= 0x31 && bytes[1] <= 0x36

const scaled = (value: number, highest: number): number =>
  highest === 255 ? Math.min(255, value) : Math.min(255, roundHalfToEven((value / highest) * 255))

/** A set bit is black; rows begin with a byte. */
function readBits(bytes: Uint8Array, start: number, width: number, height: number, pixels: Uint8Array): void {
  const stride = Math.ceil(width / 8)
  checkLength(FORMAT, bytes, start + stride * height)
  for (let row = 0; row < height; row++)
    for (let x = 0; x < width; x++) pixels[row * width + x] = sample(bytes, start + row * stride, x, 1) === 1 ? 0 : 255
}

function readBytes(bytes: Uint8Array, start: number, highest: number, pixels: Uint8Array): void {
  const each = highest > 255 ? 2 : 1
  checkLength(FORMAT, bytes, start + each * pixels.length)
  for (let i = 0; i < pixels.length; i++) {
    const at = start + each * i
    pixels[i] = scaled(each === 2 ? 256 * bytes[at] + bytes[at + 1] : bytes[at], highest)
  }
}

interface Text {
  readonly bytes: Uint8Array
  at: number
}

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39

/** Passes blanks and comments. */
function skip(text: Text): void {
  for (;;) {
    const byte = text.bytes[text.at]
    if (byte === 0x23) while (text.at < text.bytes.length && text.bytes[text.at] !== 0x0a) text.at++
    else if (byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)) text.at++
    else return
  }
}

function nextNumber(text: Text): number {
  skip(text)
  if (!isDigit(text.bytes[text.at])) spoiled(FORMAT, `a number is expected at byte ${text.at}`)
  let value = 0
  while (isDigit(text.bytes[text.at])) value = 10 * value + text.bytes[text.at++] - 0x30
  return value
}

/** Bits as text need no blanks between them. */
function nextBit(text: Text): number {
  skip(text)
  const bit = text.bytes[text.at++] - 0x30
  return bit === 0 || bit === 1 ? bit : spoiled(FORMAT, `a bit is expected at byte ${text.at - 1}`)
}
