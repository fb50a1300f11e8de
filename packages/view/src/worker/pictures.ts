import { castTensor, InferenceSession, isTensor, NodewiseError, parseModel, Tensor } from 'nodewise'

/** The orders of dims that a picture may have; a plane of one channel has none for it. */
export const LAYOUTS = ['nchw', 'nhwc', 'chw', 'hwc', 'hw'] as const
export const ORDERS = ['rgb', 'bgr', 'gray'] as const

/** How a picture becomes a tensor, as `--image` of the command takes it. */
export interface PictureSettings {
  readonly layout: (typeof LAYOUTS)[number]
  readonly order: (typeof ORDERS)[number]
  /** Height and width, `224x320`; empty: as the picture is. */
  readonly resize: string
  /** Factor on components (0 … 255), a number or a fraction; then `mean` is taken off, and `std` divides. */
  readonly scale: string
  /** One number, or one for each channel, separated by colons. */
  readonly mean: string
  readonly std: string
}

/** The components of a picture, row by row, without alpha. */
export interface Pixels {
  readonly width: number
  readonly height: number
  /** 3, or 1 of a grey one. */
  readonly channels: number
  readonly components: Uint8Array
}

/** What suits declared dims: channels are the dim of 1 or 3, height and width what the model has. */
export function settingsFor(dims: string): PictureSettings {
  const sizes = dims.split('×')
  const isChannels = (size: string | undefined): boolean => size === '1' || size === '3'
  const isLast = isChannels(sizes.at(-1)) && !isChannels(sizes.at(-3))
  const layout = sizes.length === 2 ? 'hw' : sizes.length === 3 ? (isLast ? 'hwc' : 'chw') : isLast ? 'nhwc' : 'nchw'
  const size = (letter: string): string => sizes[layout.indexOf(letter)] ?? ''
  const pixels = [size('h'), size('w')]
  return {
    layout,
    order: layout === 'hw' || size('c') === '1' ? 'gray' : 'rgb',
    resize: pixels.every(each => /^\d+$/.test(each)) ? pixels.join('x') : '',
    scale: '1/255',
    mean: '0',
    std: '1'
  }
}

/** What stands after the name of the input in `--image`. */
export const pictureText = (file: string, { resize, scale, mean, std, ...rest }: PictureSettings): string => {
  const settings = { ...rest, ...(resize !== '' && { resize }), scale, mean, std }
  const isNeutral = (key: string, value: string): boolean =>
    (key === 'mean' && value === '0') || ((key === 'std' || key === 'scale') && value === '1')
  return [
    file,
    ...Object.entries(settings).flatMap(([key, value]) => (isNeutral(key, value) ? [] : `${key}=${value}`))
  ].join(',')
}

/** Pixels of a picture that is taken. */
const MAX_PIXELS = 2 ** 26

/**
 * The pixels of a PNG, JPEG or what else the browser decodes.
 * @throws NodewiseError `invalid-file`, `limit-exceeded`
 */
export async function decoded(content: Blob, name: string, isGrey: boolean): Promise<Pixels> {
  const bitmap = await createImageBitmap(content, { premultiplyAlpha: 'none', colorSpaceConversion: 'none' }).catch(
    () => {
      throw new NodewiseError('invalid-file', 'the browser reads no picture in it', { file: name })
    }
  )
  const { width, height } = bitmap
  if (width * height > MAX_PIXELS)
    throw new NodewiseError('limit-exceeded', `a picture of ${width}x${height} is too large`, { file: name })
  const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true })!
  context.drawImage(bitmap, 0, 0)
  bitmap.close()
  return withoutAlpha(context.getImageData(0, 0, width, height), isGrey)
}

/** Grey is 0.299, 0.587 and 0.114 of red, green and blue, in fractions of 2^16, as the command and Pillow have it. */
export function withoutAlpha(
  { width, height, data }: Pick<ImageData, 'width' | 'height'> & { readonly data: ArrayLike<number> },
  isGrey: boolean
): Pixels {
  const channels = isGrey ? 1 : 3
  const components = new Uint8Array(width * height * channels)
  for (let i = 0; i < width * height; i++) {
    const [red, green, blue] = [data[4 * i], data[4 * i + 1], data[4 * i + 2]]
    if (isGrey) components[i] = (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16
    else components.set([red, green, blue], 3 * i)
  }
  return { width, height, channels, components }
}

const RESIZE = `<ir_version: 10, opset_import: ["" : 20]>
picture (uint8[h, w, c] x, int64[2] size) => (uint8[] y) {
  y = Resize <mode = "linear", antialias = 1, axes = [0, 1], exclude_outside = 1> (x, , , size)
}`

/** A picture of another size, antialiased where it shrinks, as Pillow and torchvision resize. */
async function resized(pixels: Pixels, height: number, width: number): Promise<Pixels> {
  if (pixels.width === width && pixels.height === height) return pixels
  const { channels, components } = pixels
  const session = new InferenceSession(parseModel(RESIZE), { threads: 1 })
  try {
    const { y } = await session.run<{ y: Tensor }>({
      x: new Tensor('uint8', components, [pixels.height, pixels.width, channels]),
      size: new Tensor('int64', [BigInt(height), BigInt(width)], [2])
    })
    if (!isTensor(y)) throw new TypeError('a picture is a tensor')
    return { width, height, channels, components: y.data.slice() as Uint8Array }
  } finally {
    session.dispose()
  }
}

/** The picture at the size that the settings ask for. */
export function atSize(pixels: Pixels, { resize }: PictureSettings): Promise<Pixels> {
  if (resize === '') return Promise.resolve(pixels)
  const [, height, width = height] = /^([1-9]\d{0,4})(?:x([1-9]\d{0,4}))?$/.exec(resize.replace('×', 'x')) ?? []
  if (height === undefined)
    throw new NodewiseError('bad-usage', `${resize}: height and width are needed, as in 224x320`)
  return resized(pixels, Number(height), Number(width))
}

/**
 * The tensor of a picture: `(component * scale - mean) / std`, its dims in the order of the layout. Every step is
 * rounded to float32, as the command's are.
 * @throws NodewiseError `bad-usage` for settings that are no numbers
 */
export function pictureTensor(pixels: Pixels, settings: PictureSettings, type: Tensor['type']): Tensor {
  const { width, height, channels, components } = pixels
  const { layout, order } = settings
  const isFloat = /float|nf4/.test(type)
  if (layout === 'hw' && channels > 1)
    throw new NodewiseError('bad-usage', `layout hw has no place for the channels of order ${order}`)
  const [scale, divisor] = isFloat ? fractionOf('scale', settings.scale) : [1, 1]
  const mean = isFloat ? numbersOf('mean', settings.mean, channels) : [0, 0, 0]
  const std = isFloat ? numbersOf('std', settings.std, channels) : [1, 1, 1]
  const axes = [...layout].filter(letter => letter !== 'n')
  const sizes: Readonly<Record<string, number>> = { n: 1, c: channels, h: height, w: width }
  const stride = (letter: string): number =>
    axes.slice(axes.indexOf(letter) + 1).reduce((product, each) => product * sizes[each], 1)
  const [ofRow, ofColumn, ofChannel] = [stride('h'), stride('w'), axes.includes('c') ? stride('c') : 1]
  const { fround } = Math
  const values = new Float32Array(width * height * channels)
  for (let row = 0, from = 0; row < height; row++)
    for (let column = 0; column < width; column++)
      for (let channel = 0; channel < channels; channel++, from++) {
        const at = order === 'bgr' ? channels - 1 - channel : channel
        const scaled = fround(fround(components[from] * fround(scale)) / fround(divisor))
        values[row * ofRow + column * ofColumn + at * ofChannel] = fround(scaled - fround(mean[at])) / fround(std[at])
      }
  const dims = [...layout].map(letter => sizes[letter])
  return castTensor(new Tensor('float32', values, dims), type)
}

/** A number, or a fraction: `1/255`, which divides, so that 255 becomes 1 exactly. */
function fractionOf(name: string, text: string): readonly [number, number] {
  const parts = text.split('/').map(part => (/\d/.test(part) ? Number(part) : NaN))
  const [value, divisor = 1] = parts
  if (parts.length <= 2 && Number.isFinite(value / divisor)) return [value, divisor]
  throw new NodewiseError('bad-usage', `${name} ${text}: a number such as 0.5 or 1/255 is needed`)
}

function numbersOf(name: string, text: string, count: number): number[] {
  const numbers = text.split(/[:, ]+/).map(part => {
    const [value, divisor] = fractionOf(name, part)
    return value / divisor
  })
  if (name === 'std' && numbers.includes(0)) throw new NodewiseError('bad-usage', 'std 0 would divide by 0')
  if (numbers.length === count) return numbers
  if (numbers.length === 1) return new Array<number>(count).fill(numbers[0])
  throw new NodewiseError('bad-usage', `${name} ${text}: one number is needed, or ${count}, separated by colons`)
}
