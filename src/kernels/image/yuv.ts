import { type Numbers, toNumbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { COST, Pace } from '../core/pace.ts'

/** How chroma is stored, for each 2 x 2 pixels: U and V alternating in one plane, or one plane each. */
export type YuvLayout = 'nv12' | 'i420'

export type RgbOrder = 'rgb' | 'bgr'

/** Nanoseconds for one pixel. */
const PIXEL_COST = 3 * COST.element

/** One plane of one component. */
interface Plane {
  readonly numbers: Numbers
  /** Index of the first element. */
  readonly start: number
  /** Elements from one image to the next. */
  readonly image: number
  /** Elements from one pixel of the plane to the next. */
  readonly step: number
}

/**
 * Converts pixels by BT.601.
 * @param tensors all planes in one tensor, or one tensor for each
 * @param out `[images, height, width, 3]`
 */
export function* yuvToRgb(
  tensors: readonly Tensor[],
  out: Numbers,
  [images, height, width]: readonly number[],
  layout: YuvLayout,
  order: RgbOrder
): Generator<void> {
  const planes = planesOf(tensors, height, width, layout)
  const pace = new Pace()
  for (let row = 0; row < images * height; row++) {
    convertRow(planes, Math.floor(row / height), row % height, width, out, row * width * 3, order === 'rgb')
    if (pace.isDue(width * PIXEL_COST)) yield
  }
}

function planesOf(
  tensors: readonly Tensor[],
  height: number,
  width: number,
  layout: YuvLayout
): { y: Plane; u: Plane; v: Plane } {
  const numbers = tensors.map(toNumbers)
  const size = height * width
  const one = tensors.length === 1
  const y: Plane = { numbers: numbers[0], start: 0, image: one ? (size * 3) / 2 : size, step: 1 }
  if (layout === 'nv12') {
    const u: Plane = one ? { ...y, start: size, step: 2 } : { numbers: numbers[1], start: 0, image: size / 2, step: 2 }
    return { y, u, v: { ...u, start: u.start + 1 } }
  }
  const u: Plane = one ? { ...y, start: size } : { numbers: numbers[1], start: 0, image: size / 4, step: 1 }
  return { y, u, v: one ? { ...y, start: (size * 5) / 4 } : { ...u, numbers: numbers[2] } }
}

function convertRow(
  { y, u, v }: { y: Plane; u: Plane; v: Plane },
  image: number,
  row: number,
  width: number,
  out: Numbers,
  target: number,
  redFirst: boolean
): void {
  const luma = y.start + image * y.image + row * width
  const pair = Math.floor(row / 2) * (width / 2)
  for (let i = 0; i < width; i++) {
    const c = 1.164 * (y.numbers[luma + i] - 16)
    const at = pair + (i >> 1)
    const d = u.numbers[u.start + image * u.image + at * u.step] - 128
    const e = v.numbers[v.start + image * v.image + at * v.step] - 128
    const red = clip(c + 1.596 * e)
    const blue = clip(c + 2.018 * d)
    out[target + 3 * i] = redFirst ? red : blue
    out[target + 3 * i + 1] = clip(c - 0.391 * d - 0.813 * e)
    out[target + 3 * i + 2] = redFirst ? blue : red
  }
}

const clip = (value: number): number => Math.min(255, Math.max(0, value))

/**
 * Converts pixels to luma and chroma by BT.601. The chroma of 2 x 2 pixels is that of their mean.
 * @param from `[images, height, width, 3]`, sides even
 * @param luma where the luma goes
 * @param chroma where U and V go, alternating; `start` and `image` as for planes of {@link yuvToRgb}
 */
export function* rgbToNv12(
  from: Numbers,
  [images, height, width]: readonly number[],
  order: RgbOrder,
  luma: Omit<Plane, 'step'>,
  chroma: Omit<Plane, 'step'>
): Generator<void> {
  const pace = new Pace()
  const [r, b] = order === 'rgb' ? [0, 2] : [2, 0]
  if (height * width === 0) return
  for (let row = 0; row < images * height; row += 2) {
    const image = Math.floor(row / height)
    const y = luma.start + image * luma.image + (row % height) * width
    const uv = chroma.start + image * chroma.image + ((row % height) / 2) * width
    for (let column = 0; column < width; column += 2) {
      const sum = [0, 0, 0]
      for (const [down, right] of QUAD) {
        const at = 3 * ((row + down) * width + column + right)
        const [red, green, blue] = [from[at + r], from[at + 1], from[at + b]]
        luma.numbers[y + down * width + column + right] = clip(0.257 * red + 0.504 * green + 0.098 * blue + 16)
        sum[0] += red / 4
        sum[1] += green / 4
        sum[2] += blue / 4
      }
      const [red, green, blue] = sum
      chroma.numbers[uv + column] = clip(-0.148 * red - 0.291 * green + 0.439 * blue + 128)
      chroma.numbers[uv + column + 1] = clip(0.439 * red - 0.368 * green - 0.071 * blue + 128)
    }
    if (pace.isDue(2 * width * PIXEL_COST)) yield
  }
}

/** Rows and columns of 2 x 2 pixels. */
const QUAD = [
  [0, 0],
  [0, 1],
  [1, 0],
  [1, 1]
] as const
