import { fail } from '../../errors.ts'

/** Rows of pixels from the top, the components of a pixel side by side. */
export interface Picture {
  readonly width: number
  readonly height: number
  /** Components: grey, grey and alpha, RGB, or RGB and alpha. */
  readonly channels: 1 | 2 | 3 | 4
  readonly pixels: Uint8Array
}

/** A picture whose size is known and whose pixels are not decoded yet. */
export interface OpenPicture {
  readonly width: number
  readonly height: number
  /** Called once. */
  decode(): Picture
}

/** Pixels that a picture may have; more are a mistake or an attack. */
const MAX_PIXELS = 2 ** 28

/**
 * Checks the size that a header states, before memory is taken for it.
 * @throws NodewiseError `value-out-of-range`, `limit-exceeded`
 */
export function checkSize(format: string, width: number, height: number): void {
  if (!(width >= 1 && height >= 1)) spoiled(format, `its size is ${width} x ${height}`)
  if (width * height > MAX_PIXELS)
    fail('limit-exceeded', `the ${format} picture is ${width} x ${height}; at most ${MAX_PIXELS} pixels are decoded`)
}

/** @throws NodewiseError `value-out-of-range` */
export function spoiled(format: string, why: string): never {
  return fail('value-out-of-range', `the bytes are no sound ${format} picture: ${why}`)
}

/** @throws NodewiseError `value-out-of-range` where the bytes end too early */
export function checkLength(format: string, bytes: Uint8Array, needed: number): void {
  if (bytes.length < needed) spoiled(format, `it has ${bytes.length} bytes; ${needed} are needed`)
}

export const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)
