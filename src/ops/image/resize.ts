import { fail } from '../../errors.ts'
import { roundHalfToEven } from '../../kernels/core/rounding.ts'
import {
  type AxisIndices,
  type AxisTaps,
  fillMarked,
  resample,
  type Resampling,
  takeIndices
} from '../../kernels/image/resample.ts'
import {
  type CoordinateMode,
  cubic,
  type Filter,
  filterTaps,
  inOrder,
  leaveOut,
  LINEAR,
  nearestIndices,
  type NearestMode,
  outsideAmong,
  type ResizedAxis
} from '../../kernels/image/resize-taps.ts'
import { type DataDependent, params, type RunParams, type ShapeParams } from '../../op-kit/define.ts'
import { scaledDim } from '../../op-kit/resized-dims.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import {
  choice,
  derive,
  flag,
  float,
  floats,
  inputFloats,
  inputInts,
  ints,
  is,
  optional,
  optionalInput
} from '../../op-kit/sources.ts'
import { asDim, type Dim, normalizeAxes, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { type DataDependentList, unknownDims } from '../../shapes/lists.ts'
import { convert } from '../../tensor/convert.ts'
import { type DType, DTYPES, isInteger } from '../../tensor/dtype.ts'
import { Tensor } from '../../tensor/tensor.ts'

type Mode = 'nearest' | 'linear' | 'cubic'

interface Params {
  mode: Mode
  coordinates: CoordinateMode
  nearest: NearestMode
  cubicCoefficient: number
  excludeOutside: boolean
  /** Value of elements whose coordinate lies outside the data, with `tf_crop_and_resize`. */
  extrapolation: number
  antialias: boolean
  policy: 'stretch' | 'not_larger' | 'not_smaller'
  /** The axes that scales, sizes and roi are for; undefined: all. */
  axes: readonly number[] | undefined
  roi: DataDependent<readonly number[] | undefined>
  scales: DataDependent<readonly number[] | undefined>
  sizes: DataDependent<readonly number[] | undefined>
  /** Whether scales must be at least 1, as in Upsample; otherwise above 0. */
  enlarges: boolean
}

/** A tie for the modes that round, as ONNX Runtime has it: a coordinate within this of the middle of two elements. */
const TIE = 1e-6

const modes = { nearest: 'nearest', linear: 'linear', cubic: 'cubic' } as const
const nearestModes = {
  round_prefer_floor: 'round_prefer_floor',
  round_prefer_ceil: 'round_prefer_ceil',
  floor: 'floor',
  ceil: 'ceil'
} as const
/** Version 13 took `tf_half_pixel_for_nn` out, but tf2onnx writes it in all versions, and ONNX Runtime takes it. */
const coordinateModes = {
  half_pixel: 'half_pixel',
  pytorch_half_pixel: 'pytorch_half_pixel',
  align_corners: 'align_corners',
  asymmetric: 'asymmetric',
  tf_crop_and_resize: 'tf_crop_and_resize',
  tf_half_pixel_for_nn: 'tf_half_pixel_for_nn'
} as const

const plain = {
  nearest: is('simple'),
  coordinates: is('asymmetric'),
  cubicCoefficient: is(-0.75),
  excludeOutside: is(false),
  extrapolation: is(0),
  antialias: is(false),
  policy: is('stretch'),
  axes: is(undefined),
  roi: is(undefined),
  sizes: is(undefined)
} as const
const tuned = {
  mode: choice<Mode>('mode', modes),
  nearest: choice<NearestMode>('nearest_mode', nearestModes),
  cubicCoefficient: float('cubic_coeff_a'),
  excludeOutside: flag('exclude_outside'),
  extrapolation: float('extrapolation_value'),
  roi: optionalInput(inputFloats(1)),
  scales: optionalInput(inputFloats(2)),
  sizes: optionalInput(inputInts(3)),
  enlarges: is(false)
} as const
const untuned = { antialias: is(false), policy: is('stretch'), axes: is(undefined) } as const
const chosen = {
  antialias: flag('antialias'),
  policy: choice('keep_aspect_ratio_policy', {
    stretch: 'stretch',
    not_larger: 'not_larger',
    not_smaller: 'not_smaller'
  }),
  axes: optional(ints('axes'))
} as const
const heightScale = float('height_scale')
const widthScale = float('width_scale')

/** Rules of {@link resize}. */
export const resizeRules = defineRules({
  name: 'Resize',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      type: 'Upsample',
      since: 1,
      bind: {
        ...plain,
        mode: choice<Mode>('mode', { nearest: 'nearest', bilinear: 'linear' }),
        enlarges: is(true),
        scales: derive(node => [1, 1, node.get(heightScale) ?? 1, node.get(widthScale) ?? 1])
      }
    },
    {
      type: 'Upsample',
      since: 7,
      bind: {
        ...plain,
        mode: choice<Mode>('mode', { nearest: 'nearest', linear: 'linear' }),
        scales: floats('scales'),
        enlarges: is(true)
      }
    },
    {
      type: 'Upsample',
      since: 9,
      bind: {
        ...plain,
        mode: choice<Mode>('mode', { nearest: 'nearest', linear: 'linear' }),
        scales: inputFloats(1),
        enlarges: is(true)
      }
    },
    {
      since: 10,
      bind: {
        ...plain,
        mode: choice<Mode>('mode', { nearest: 'nearest', linear: 'linear' }),
        scales: inputFloats(1),
        enlarges: is(false)
      }
    },
    {
      since: 11,
      bind: {
        ...tuned,
        ...untuned,
        coordinates: choice<CoordinateMode>('coordinate_transformation_mode', coordinateModes)
      }
    },
    {
      since: 13,
      bind: {
        ...tuned,
        ...untuned,
        coordinates: choice<CoordinateMode>('coordinate_transformation_mode', coordinateModes)
      }
    },
    {
      since: 18,
      bind: {
        ...tuned,
        ...chosen,
        coordinates: choice<CoordinateMode>('coordinate_transformation_mode', coordinateModes)
      }
    },
    {
      since: 19,
      bind: {
        ...tuned,
        ...chosen,
        coordinates: choice<CoordinateMode>('coordinate_transformation_mode', {
          ...coordinateModes,
          half_pixel_symmetric: 'half_pixel_symmetric'
        })
      }
    }
  ],

  shape({ x }, p) {
    checkType(x.type, p)
    const given = targetOf(p)
    if (x.shape === undefined)
      return [
        tensorFact(
          x.type,
          given.list !== 'unknown' && p.axes === undefined ? unknownDims(given.list.length) : undefined
        )
      ]
    const axes = axesOf(x.shape.length, p.axes)
    checkLength(given.list, axes.length, given.kind)
    checkRoi(p, axes.length)
    const dims = [...x.shape]
    axes.forEach(axis => {
      dims[axis] = unknownDim()
    })
    if (given.list === 'unknown') return [tensorFact(x.type, dims)]
    const resized =
      given.kind === 'sizes'
        ? sizedDims(x.shape, axes, given.list, p)
        : axes.map((axis, i) => scaledDim(x.shape?.[axis] ?? 0, given.list[i] as Dim))
    axes.forEach((axis, i) => {
      dims[axis] = resized[i]
    })
    return [tensorFact(x.type, dims)]
  }
})

/**
 * Resizes axes. ONNX Upsample-1, -7, -9, -10 (deprecated, as -9) and Resize-10 (coordinate `i / scale`; mode nearest
 * rounds as in ONNX Runtime, up where an axis shrinks), Resize-11, -13, -18 (antialias, axes, aspect ratio), -19
 * (`half_pixel_symmetric`).
 *
 * - An axis that keeps its size at scale 1 keeps its elements in every mode.
 * - With scales, sizes are `floor(size * scale)`, for `tf_crop_and_resize` too: the specification's text multiplies by
 *   the length of the roi, but its reference, its shape inference and ONNX Runtime do not.
 * - `align_corners` takes `size * scale` with its fraction as the length of the result, as the specification's tests
 *   do. `pytorch_half_pixel` and `tf_crop_and_resize` take the integer, as its text and ONNX Runtime do (the reference
 *   takes the fraction).
 * - Coordinates for mode nearest are computed in float32, as the runtimes do. Where they are off the middle of two
 *   elements by 1e-6 at most, they are ties, as in ONNX Runtime: index 1 of 7 elements resized to 2 lies at 3.4999998.
 * - Integers are rounded, ties to even, as in the specification's reference (ONNX Runtime truncates).
 */
export const resize = /* @__PURE__ */ withKernel(resizeRules, {
  *run({ x }, p, call) {
    const out = p.mode === 'nearest' ? call.rawOutput() : call.output()
    if (out.data.length === 0) return
    const how = yield* resamplingOf(x.dims, out.dims, p)
    if (how.kind === 'indices') yield* takeIndices(x, out, how.axes)
    else yield* resample(x, out, how.axes)
    const outside = outsideAmong(p.coordinates, axesToResize(x.dims, out.dims, p))
    if (outside.length > 0) yield* fillMarked(out, extrapolated(p.extrapolation, out.type), outside)
  },

  *resampling(from, to, p) {
    const outside = outsideAmong(p.coordinates, axesToResize(from, to, p))
    // A weighted sum without weights is the 0 that lies outside; other values take more than sums.
    if (outside.length > 0 && p.extrapolation !== 0) return undefined
    const how = yield* resamplingOf(from, to, p)
    if (outside.length === 0) return how
    if (how.kind === 'indices') return undefined
    leaveOut(how.axes, outside)
    return how
  }
})

type Dims = readonly number[]

function* resamplingOf(from: Dims, to: Dims, p: RunParams<Params>): Generator<void, Resampling> {
  const axes = axesToResize(from, to, p)
  if (p.mode === 'nearest') {
    const tables: AxisIndices[] = []
    for (const axis of axes) tables.push(yield* nearestIndices(axis, p.coordinates, p.nearest, TIE))
    return { kind: 'indices', axes: tables }
  }
  const filter: Filter = p.mode === 'linear' ? LINEAR : cubic(p.cubicCoefficient)
  const beyond = p.excludeOutside ? 'nothing' : 'edge'
  const tables: AxisTaps[] = []
  for (const axis of inOrder(axes)) {
    const density = p.antialias ? Math.min(1, axis.scale) : 1
    tables.push(yield* filterTaps(axis, p.coordinates, filter, { density, beyond }))
  }
  return { kind: 'taps', axes: tables, between: 'exact' }
}

/** Checks that elements can be interpolated: all but mode nearest need numbers. */
function checkType(type: DType | undefined, { mode, antialias }: ShapeParams<Params>): void {
  if (mode === 'nearest' && antialias)
    fail('unknown-attribute-value', 'antialias is only for the modes linear and cubic')
  if (mode === 'nearest' || type === undefined) return
  const { kind } = DTYPES[type]
  if (kind === 'string' || kind === 'bool')
    fail('type-not-allowed', `x has type ${type}, which mode ${mode} cannot interpolate; only mode nearest can`)
}

const axesOf = (rank: number, axes: readonly number[] | undefined): number[] =>
  axes ? normalizeAxes(axes, rank) : Array.from({ length: rank }, (_, i) => i)

/** The scales or sizes, whichever are given; an empty list counts as missing. */
function targetOf({ scales, sizes, enlarges }: ShapeParams<Params>): {
  kind: 'sizes' | 'scales'
  list: DataDependentList
} {
  const hasScales = scales !== undefined && scales.length > 0
  const hasSizes = sizes !== undefined && sizes.length > 0
  if (hasScales && hasSizes && scales !== 'unknown' && sizes !== 'unknown')
    fail('unexpected-input', 'there are scales and sizes; only one of them is allowed')
  if (hasSizes && (!hasScales || scales === 'unknown')) return { kind: 'sizes', list: sizes }
  if (!hasScales) fail('missing-input', 'there are neither scales nor sizes')
  if (scales === 'unknown') return { kind: 'scales', list: scales }
  for (const [i, scale] of scales.entries()) {
    if (typeof scale === 'number' && !(enlarges ? scale >= 1 : scale > 0)) {
      fail(
        'value-out-of-range',
        `element ${i} of scales is ${scale}; expected ${enlarges ? 'at least 1' : 'more than 0'}`
      )
    }
  }
  return { kind: 'scales', list: scales }
}

function checkLength(list: DataDependentList, expected: number, kind: string): void {
  if (list !== 'unknown' && list.length !== expected)
    fail('dims-mismatch', `${kind} has ${list.length} elements for ${expected} axes`)
}

function checkRoi({ coordinates, roi }: ShapeParams<Params>, axes: number): void {
  if (coordinates !== 'tf_crop_and_resize' || roi === 'unknown') return
  if (roi?.length !== 2 * axes)
    fail('dims-mismatch', `roi has ${roi?.length ?? 0} elements; tf_crop_and_resize needs ${2 * axes} for ${axes} axes`)
}

function sizedDims(
  shape: readonly Dim[],
  axes: readonly number[],
  list: readonly Dim[],
  p: ShapeParams<Params>
): Dim[] {
  list.forEach((size, i) => {
    if (typeof size === 'number' && size < 0)
      fail('value-out-of-range', `element ${i} of sizes is ${size}; sizes are not negative`)
  })
  if (p.policy === 'stretch') return list.map(asDim)
  const scale = commonScale(
    axes.map(axis => shape[axis]),
    list,
    p.policy
  )
  if (scale === undefined)
    return list.map(size =>
      p.policy === 'not_larger' && typeof size === 'number' ? unknownDim(0, size) : unknownDim()
    )
  return axes.map(axis => Math.floor(scale * (shape[axis] as number) + 0.5))
}

/** The scale that keeps the aspect ratio; undefined while sizes are not known. */
function commonScale(
  sizes: readonly Dim[],
  list: readonly Dim[],
  policy: 'not_larger' | 'not_smaller'
): number | undefined {
  const scales = sizes.map((size, i) => Number(list[i]) / Number(size))
  if (![...sizes, ...list].every(dim => typeof dim === 'number')) return undefined
  return policy === 'not_larger' ? Math.min(...scales) : Math.max(...scales)
}

/** The axes that change, with their scales. */
function axesToResize(dims: readonly number[], outDims: readonly number[], p: RunParams<Params>): ResizedAxis[] {
  const axes = axesOf(dims.length, p.axes)
  const sizes = p.sizes !== undefined && p.sizes.length > 0 ? p.sizes : undefined
  const common =
    sizes && p.policy !== 'stretch'
      ? commonScale(
          axes.map(axis => dims[axis]),
          sizes,
          p.policy
        )
      : undefined
  return axes.flatMap((axis, i): ResizedAxis[] => {
    const size = dims[axis]
    const count = outDims[axis]
    const scale = common ?? (sizes ? count / size : (p.scales?.[i] ?? 1))
    const start = p.roi?.[i] ?? 0
    const end = p.roi?.[i + axes.length] ?? 1
    const crops = p.coordinates === 'tf_crop_and_resize' && (start !== 0 || end !== 1)
    if (scale === 1 && count === size && !crops) return []
    if (size === 0) fail('shape-mismatch', `axis ${axis} has no elements; it cannot become ${count}`)
    return [{ axis, size, count, scale, length: scale * size, start, end }]
  })
}

const extrapolated = (value: number, type: DType): Tensor =>
  convert(new Tensor('float32', [isInteger(type) ? roundHalfToEven(value) : value], [1]), type)
