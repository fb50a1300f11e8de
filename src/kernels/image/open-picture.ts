import { fail } from '../../errors.ts'
import { openBmp } from './bmp.ts'
import { openJpeg, openJpeg2000, openWebp } from './codecs.ts'
import type { OpenPicture } from './picture.ts'
import { openPng } from './png.ts'
import { isPnm, openPnm } from './pnm.ts'
import { openTiff } from './tiff.ts'

const begins = (bytes: Uint8Array, text: string, at = 0): boolean =>
  Array.from(text).every((sign, i) => bytes[at + i] === sign.charCodeAt(0))

/** Formats by the bytes that they begin with. */
const FORMATS: readonly (readonly [
  is: (bytes: Uint8Array) => boolean,
  open: (bytes: Uint8Array) => OpenPicture | Promise<OpenPicture>
])[] = [
  [bytes => begins(bytes, '\x89PNG\r\n\x1a\n'), openPng],
  [bytes => begins(bytes, '\xff\xd8\xff'), openJpeg],
  [bytes => begins(bytes, 'BM'), openBmp],
  [bytes => begins(bytes, '\0\0\0\x0cjP  \r\n') || begins(bytes, '\xff\x4f\xff\x51'), openJpeg2000],
  [bytes => begins(bytes, 'II*\0') || begins(bytes, 'MM\0*'), openTiff],
  [bytes => begins(bytes, 'RIFF') && begins(bytes, 'WEBP', 8), openWebp],
  [isPnm, openPnm]
]

/**
 * Opens an encoded picture of any format that is known.
 * @throws NodewiseError `unsupported-op` for other formats, `value-out-of-range` where it is spoiled
 */
export function openPicture(bytes: Uint8Array): OpenPicture | Promise<OpenPicture> {
  const [, open] = FORMATS.find(([is]) => is(bytes)) ?? []
  return open
    ? open(bytes)
    : fail('unsupported-op', 'the bytes are no picture in PNG, JPEG, JPEG 2000, BMP, TIFF, WebP or PNM')
}
