import { COST, Pace } from '../../kernels/core/pace.ts'
import { openPicture } from '../../kernels/image/open-picture.ts'
import type { OpenPicture, Picture } from '../../kernels/image/picture.ts'
import { params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice } from '../../op-kit/sources.ts'
import { unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'

type Format = 'rgb' | 'bgr' | 'grey'

/** Rules of {@link imageDecoder}. */
export const imageDecoderRules = defineRules({
  name: 'ImageDecoder',
  operands: { encoded: 'tensor' },
  params: params<{ format: Format }>(),
  onnx: [
    { since: 20, bind: { format: choice<Format>('pixel_format', { RGB: 'rgb', BGR: 'bgr', Grayscale: 'grey' }) } }
  ],

  shape({ encoded }, { format }) {
    checkRank('encoded_stream', encoded, 1)
    return [tensorFact('uint8', [unknownDim(1), unknownDim(1), format === 'grey' ? 1 : 3])]
  }
})

/**
 * Decodes a picture file: ONNX ImageDecoder-20. The format is known by its first bytes: PNG, JPEG, JPEG 2000, BMP,
 * TIFF, WebP, and PNM. Alpha is dropped and 16 bits are cut to their high byte; grey is 0.299, 0.587 and 0.114 of red,
 * green and blue, in fractions of 2^16, as Pillow has it, by which the specification's reference decodes.
 */
export const imageDecoder = /* @__PURE__ */ withKernel(imageDecoderRules, {
  *run({ encoded }, { format }, call) {
    // Decoders may keep or write into what they are given.
    const found = openPicture(Uint8Array.from(encoded.data as Uint8Array))
    let picture: OpenPicture | undefined
    if (found instanceof Promise) {
      yield found.then(opened => {
        picture = opened
      })
    } else picture = found
    if (picture === undefined) return
    const { width, height } = picture
    const out = call.rawOutput(0, [height, width, format === 'grey' ? 1 : 3]).data as Uint8Array
    yield* convert(picture.decode(), format, out)
  }
})

function* convert({ width, height, channels, pixels }: Picture, format: Format, out: Uint8Array): Generator<void> {
  const pace = new Pace()
  const isGrey = channels < 3
  for (let row = 0; row < height; row++) {
    for (let i = row * width; i < (row + 1) * width; i++) {
      const at = i * channels
      const [red, green, blue] = [pixels[at], pixels[at + (isGrey ? 0 : 1)], pixels[at + (isGrey ? 0 : 2)]]
      if (format === 'grey') out[i] = isGrey ? red : (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16
      else {
        out[3 * i] = format === 'rgb' ? red : blue
        out[3 * i + 1] = green
        out[3 * i + 2] = format === 'rgb' ? blue : red
      }
    }
    if (pace.isDue(4 * width * COST.element)) yield
  }
}
