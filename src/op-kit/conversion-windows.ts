import { staticDims, upTo } from './conversion-kit.ts'
import { addSizes, extremeSize, floorDivSizes, mulSizes, type Size, subSizes } from './conversion-sizes.ts'
import { type Made, rankOf, type SourceCall, type Writer } from './conversion.ts'

/** Parameters of sliding windows, none left out. */
export interface Windows {
  readonly strides: readonly number[]
  readonly dilations: readonly number[]
  readonly begin: readonly number[]
  readonly end: readonly number[]
  readonly autoPad: string
}

/** The windows of a call along `rank` spatial axes. */
export function windowsOf(call: SourceCall, rank: number): Windows {
  const list = (name: string, otherwise: number): readonly number[] => {
    const given = call.parameters[name] as readonly number[] | undefined
    return given === undefined || given.length === 0 ? upTo(rank).map(() => otherwise) : given
  }
  // com.microsoft may have pads as an input.
  const pads = call.source('pads') && call.param<readonly number[]>('pads')
  return {
    strides: list('strides', 1),
    dilations: list('dilations', 1),
    begin: pads?.slice(0, rank) ?? list('begin', 0),
    end: pads?.slice(rank) ?? list('end', 0),
    autoPad: call.param('autoPad')
  }
}

type Lists = Readonly<Record<string, readonly number[] | string>>

/** ONNX's attributes of windows. Dilations of 1 are left out: AveragePool has the attribute since opset 19 only. */
export const onnxWindowAttributes = ({ strides, dilations, begin, end, autoPad }: Windows): Lists => ({
  strides,
  ...(dilations.some(dilation => dilation !== 1) && { dilations }),
  ...(autoPad === 'explicit' ? { pads: [...begin, ...end] } : { auto_pad: autoPad.toUpperCase() })
})

/** IR's attributes of windows: OpenVINO demands all of them. */
export const openvinoWindowAttributes = ({ strides, dilations, begin, end, autoPad }: Windows): Lists => ({
  strides,
  dilations,
  pads_begin: begin,
  pads_end: end,
  auto_pad: autoPad
})

/** Pads as lists, those that follow from the sizes of the data included: as many windows as strides fit into a size. */
export function padsOf(
  w: Writer,
  { strides, dilations, begin, end, autoPad }: Windows,
  sizes: readonly Size[],
  kernel: readonly number[]
): { begin: readonly Size[]; end: readonly Size[] } {
  if (autoPad === 'explicit') return { begin, end }
  const totals = sizes.map((size, i): Size => {
    if (autoPad === 'valid') return 0
    const [stride, extent] = [strides[i], (kernel[i] - 1) * dilations[i] + 1]
    const windows = floorDivSizes(w, addSizes(w, size, stride - 1), stride)
    const read = addSizes(w, mulSizes(w, subSizes(w, windows, 1), stride), extent)
    return extremeSize(w, 'Max', subSizes(w, read, size), 0)
  })
  const smaller = totals.map(total => floorDivSizes(w, total, 2))
  const larger = totals.map((total, i) => subSizes(w, total, smaller[i]))
  return autoPad === 'same_lower' ? { begin: larger, end: smaller } : { begin: smaller, end: larger }
}

/** Weights `[group * out, in, …]` as IR has those of groups: `[group, out, in, …]`. */
export function groupedWeights(w: Writer, weights: Made, group: number): Made {
  const dims = staticDims(weights, 'the weights')
  return w.reshape(weights, [group, dims[0] / group, ...dims.slice(1)])
}

/** IR's weights of groups as ONNX has them, and the number of groups. */
export function flatWeights(w: Writer, weights: Made): { weights: Made; group: number } {
  const [group, out, ...rest] = staticDims(weights, 'the weights')
  return { weights: w.reshape(weights, [group * out, ...rest]), group }
}

/** A list with one element for each channel, shaped so that it is broadcast to `x`. */
export const perChannel = (w: Writer, list: Made, x: Made): Made =>
  w.reshape(list, [1, -1, ...upTo(Math.max(0, rankOf(x) - 2)).map(() => 1)])
