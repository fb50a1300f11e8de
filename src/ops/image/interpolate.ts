import { fail } from '../../errors.ts'
import {
  type AxisIndices,
  type AxisTaps,
  emptyTaps,
  resample,
  type Resampling,
  takeIndices
} from '../../kernels/image/resample.ts'
import {
  type CoordinateMode,
  cubic,
  type Filter,
  type FilterOptions,
  filterTaps,
  inOrder,
  LINEAR,
  nearestIndices,
  type NearestMode,
  type ResizedAxis
} from '../../kernels/image/resize-taps.ts'
import { type DataDependent, params, type RunParams, type ShapeParams } from '../../op-kit/define.ts'
import { scaledDim } from '../../op-kit/resized-dims.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import {
  type AttributeSource,
  choice,
  flag,
  float,
  inputFloats,
  inputInts,
  ints,
  is,
  mapped,
  optionalInput
} from '../../op-kit/sources.ts'
import { FLOATS, INDEX_TYPES, NUMERIC } from '../../op-kit/types.ts'
import { addDims, asDim, type Dim, normalizeAxes, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { type DataDependentList, knownList, unknownDims } from '../../shapes/lists.ts'
import { elementCount } from '../../tensor/tensor.ts'

type Mode = 'nearest' | 'linear' | 'linear_onnx' | 'cubic' | 'bilinear_pillow' | 'bicubic_pillow'

/** Parameters of Interpolate. */
export interface InterpolateParams {
  mode: Mode
  /** Whether the input `sizes` or the input `scales` gives the dims of the result. */
  by: 'sizes' | 'scales'
  /** `version_1`: as version 1 does without aligned corners, see {@link coordinatesOf}. */
  coordinates: CoordinateMode | 'version_1'
  nearest: NearestMode
  antialias: boolean
  /** Zeros added before and after the data, for each axis; axes beyond the list get none. */
  begin: readonly number[]
  end: readonly number[]
  cubicCoefficient: number
  /** The axes to resize; undefined: all. */
  axes: DataDependent<readonly number[] | undefined>
  sizes: DataDependent<readonly number[] | undefined>
  scales: DataDependent<readonly number[] | undefined>
}

const pads = (name: string): AttributeSource<readonly number[]> =>
  mapped(ints(name), list => {
    const wrong = list.find(pad => pad < 0 || pad > 2 ** 31)
    return wrong === undefined ? list : fail('value-out-of-range', `${name} holds ${wrong}; expected 0..2147483648`)
  })

const modes = { nearest: 'nearest', linear: 'linear', linear_onnx: 'linear_onnx', cubic: 'cubic' } as const
const shared = {
  by: choice<InterpolateParams['by']>('shape_calculation_mode', { sizes: 'sizes', scales: 'scales' }),
  coordinates: choice<CoordinateMode>('coordinate_transformation_mode', {
    half_pixel: 'half_pixel',
    pytorch_half_pixel: 'pytorch_half_pixel',
    asymmetric: 'asymmetric',
    tf_half_pixel_for_nn: 'tf_half_pixel_for_nn',
    align_corners: 'align_corners'
  }),
  nearest: choice<NearestMode>('nearest_mode', {
    round_prefer_floor: 'round_prefer_floor',
    round_prefer_ceil: 'round_prefer_ceil',
    floor: 'floor',
    ceil: 'ceil',
    simple: 'simple'
  }),
  antialias: flag('antialias'),
  begin: pads('pads_begin'),
  end: pads('pads_end'),
  cubicCoefficient: float('cube_coeff')
} as const

/** Rules of {@link interpolate}. */
export const interpolateRules = defineRules({
  name: 'Interpolate',
  operands: { x: 'tensor' },
  params: params<InterpolateParams>(),
  openvino: [
    {
      since: 1,
      types: { x: NUMERIC, sizes: INDEX_TYPES },
      bind: {
        ...shared,
        mode: choice<Mode>('mode', { nearest: 'nearest', linear: 'linear', cubic: 'cubic' }),
        by: is('sizes'),
        coordinates: mapped(flag('align_corners'), aligned => (aligned ? 'align_corners' : 'version_1')),
        nearest: is('simple'),
        cubicCoefficient: is(-0.75),
        axes: ints('axes'),
        sizes: inputInts(1),
        scales: is(undefined)
      }
    },
    {
      since: 4,
      types: { x: NUMERIC, sizes: INDEX_TYPES, scales: FLOATS, axes: INDEX_TYPES },
      bind: {
        ...shared,
        mode: choice<Mode>('mode', modes),
        axes: optionalInput(inputInts(3)),
        sizes: inputInts(1),
        scales: inputFloats(2)
      }
    },
    {
      since: 11,
      types: { x: NUMERIC, scales: [...FLOATS, ...INDEX_TYPES], axes: INDEX_TYPES },
      bind: {
        ...shared,
        mode: choice<Mode>('mode', { ...modes, bilinear_pillow: 'bilinear_pillow', bicubic_pillow: 'bicubic_pillow' }),
        axes: optionalInput(inputInts(2)),
        sizes: inputInts(1),
        scales: inputFloats(1)
      }
    }
  ],

  shape({ x }, p) {
    const list = targetOf(p)
    if (x.shape === undefined)
      return [
        tensorFact(x.type, p.axes === undefined ? unknownDims(list === 'unknown' ? undefined : list.length) : undefined)
      ]
    const axes = axesOf(x.shape.length, p.axes)
    const padded = x.shape.map((dim, i) => addDims(dim, padsAt(p, i)))
    if (axes === undefined) return [tensorFact(x.type, unknownDims(x.shape.length))]
    checkAxes(axes, list, p.mode)
    const dims: Dim[] = [...padded]
    axes.forEach((axis, i) => {
      dims[axis] =
        list === 'unknown' ? unknownDim() : p.by === 'sizes' ? asDim(list[i]) : scaledDim(padded[axis], list[i])
    })
    return [tensorFact(x.type, dims)]
  }
})

/**
 * OpenVINO Interpolate-1, -4, -11: pads the data with zeros, then resizes some axes.
 *
 * - Mode nearest of version 1 rounds as `simple`. Its mode `area` is named in the specification but not described, so
 *   it is refused.
 * - An axis that keeps its size keeps its elements, as in OpenVINO's core and CPU plugin.
 * - Only mode linear can be antialiased, as the specification calculates it (the CPU plugin differs); the Pillow modes
 *   always are.
 * - Coordinates for mode nearest are computed in float32, as the runtimes do.
 * - Integers are rounded, ties to even; in the Pillow modes after each axis, as Pillow does (OpenVINO's core truncates
 *   in some modes).
 */
export const interpolate = /* @__PURE__ */ withKernel(interpolateRules, {
  *run({ x }, p, call) {
    const out = call.output()
    if (out.data.length === 0) return
    const how = yield* resamplingOf(x.dims, out.dims, p)
    if (elementCount(x.dims) === 0) return
    if (how.kind === 'indices') yield* takeIndices(x, out, how.axes)
    else yield* resample(x, out, how.axes, how.between)
  },

  resampling: resamplingOf
})

function* resamplingOf(
  from: readonly number[],
  to: readonly number[],
  given: RunParams<InterpolateParams>
): Generator<void, Resampling> {
  const p = { ...given, coordinates: coordinatesOf(given, from.length) }
  const resized = axesToResize(from, to, p)
  const padded = from.map((_, axis) => axis).filter(axis => padsAt(p, axis) > 0)
  const kept = padded.filter(axis => !resized.some(item => item.axis === axis))
  if (p.mode === 'nearest') {
    const tables = kept.map(axis => identityIndices(axis, to[axis]))
    for (const axis of resized) tables.push(yield* nearestIndices(axis, p.coordinates, p.nearest))
    const axes = tables.map(table => shiftIndices(table, p.begin[table.axis] ?? 0, from[table.axis]))
    return { kind: 'indices', axes }
  }
  const taps = [...(yield* tapsOf(resized, p)), ...kept.map(axis => identityTaps(axis, to[axis]))]
  return {
    kind: 'taps',
    axes: taps.map(table => shiftTaps(table, p.begin[table.axis] ?? 0, from[table.axis])),
    between: isPillow(p.mode) ? 'whole' : 'exact'
  }
}

/**
 * How indices become coordinates in data of a rank. The specification of version 1 says it of aligned corners alone;
 * for the others OpenVINO takes `asymmetric`, but `half_pixel` for mode linear without padding, except for the last two
 * of four axes.
 */
export function coordinatesOf(
  { coordinates, mode, axes, begin, end }: Pick<RunParams<InterpolateParams>, CoordinateParams>,
  rank: number
): CoordinateMode {
  if (coordinates !== 'version_1') return coordinates
  const isPlane = rank === 4 && axes?.length === 2 && axes.includes(2) && axes.includes(3)
  const isPadded = [...begin, ...end].some(pad => pad > 0)
  return mode === 'linear' && !isPlane && !isPadded ? 'half_pixel' : 'asymmetric'
}

type CoordinateParams = 'coordinates' | 'mode' | 'axes' | 'begin' | 'end'

/** Whether a mode is one of Pillow's. */
export const isPillow = (mode: Mode): boolean => mode === 'bilinear_pillow' || mode === 'bicubic_pillow'
const padsAt = ({ begin, end }: { begin: readonly number[]; end: readonly number[] }, axis: number): number =>
  (begin[axis] ?? 0) + (end[axis] ?? 0)

function targetOf({ by, sizes, scales }: ShapeParams<InterpolateParams>): DataDependentList {
  const list = (by === 'sizes' ? sizes : scales) ?? 'unknown'
  if (list === 'unknown') return list
  for (const [i, item] of list.entries()) {
    if (typeof item === 'number' && !(by === 'sizes' ? item >= 0 : item > 0)) {
      fail(
        'value-out-of-range',
        `element ${i} of ${by} is ${item}; expected ${by === 'sizes' ? 'at least' : 'more than'} 0`
      )
    }
  }
  return list
}

/** The axes to resize; undefined while they are not known. */
function axesOf(rank: number, axes: DataDependentList | undefined): number[] | undefined {
  if (axes === undefined) return Array.from({ length: rank }, (_, i) => i)
  const known = knownList(axes)
  return known && normalizeAxes(known, rank)
}

function checkAxes(axes: readonly number[], list: DataDependentList, mode: Mode): void {
  if (list !== 'unknown' && list.length !== axes.length)
    fail('dims-mismatch', `there are ${list.length} sizes or scales for ${axes.length} axes`)
  if (isPillow(mode) && axes.length !== 2)
    fail('dims-mismatch', `there are ${axes.length} axes; the Pillow modes resize two`)
}

/** The axes whose size changes, of known dims. */
export function axesToResize(
  dims: readonly number[],
  outDims: readonly number[],
  p: RunParams<InterpolateParams>
): ResizedAxis[] {
  return (axesOf(dims.length, p.axes) ?? []).flatMap((axis, i): ResizedAxis[] => {
    const size = dims[axis] + padsAt(p, axis)
    const count = outDims[axis]
    if (count === size) return []
    if (size === 0) fail('shape-mismatch', `axis ${axis} has no elements; it cannot become ${count}`)
    const scale = p.by === 'scales' && p.scales && !isPillow(p.mode) ? p.scales[i] : count / size
    return [{ axis, size, count, scale, length: count, start: 0, end: 1 }]
  })
}

type TapParams = Pick<InterpolateParams, 'mode' | 'antialias' | 'cubicCoefficient'> & { coordinates: CoordinateMode }

/** What each axis is resampled with, in the order in which the axes are. */
export function* tapsOf(
  axes: readonly ResizedAxis[],
  { mode, antialias, coordinates, cubicCoefficient }: TapParams
): Generator<void, AxisTaps[]> {
  const shrinking = axes.some(axis => axis.scale < 1)
  const taps = (
    axis: ResizedAxis,
    filter: Filter,
    options: FilterOptions,
    by = coordinates
  ): Generator<void, AxisTaps> => filterTaps(axis, by, filter, options)
  // The Pillow modes round after each axis, so they keep Pillow's order: the last axis first.
  const ordered = isPillow(mode) ? axes.toReversed() : inOrder(axes)
  const tables = ordered.map(axis => {
    const density = Math.min(1, axis.scale)
    switch (mode) {
      case 'linear':
        return taps(axis, LINEAR, { density: antialias && shrinking ? axis.scale : 1, beyond: 'nothing' })
      case 'cubic':
        return taps(axis, cubic(cubicCoefficient), { density: 1, beyond: 'edge' })
      case 'bilinear_pillow':
        return taps(axis, LINEAR, { density, beyond: 'nothing' }, 'half_pixel')
      case 'bicubic_pillow':
        return taps(axis, cubic(cubicCoefficient), { density, beyond: 'nothing' }, 'half_pixel')
      default:
        return taps(axis, LINEAR, { density: 1, beyond: 'edge' })
    }
  })
  const result: AxisTaps[] = []
  for (const table of tables) result.push(yield* table)
  return result
}

const identityIndices = (axis: number, count: number): AxisIndices => ({
  axis,
  indices: Int32Array.from({ length: count }, (_, i) => i)
})

function identityTaps(axis: number, count: number): AxisTaps {
  const taps = emptyTaps(axis, count, 1)
  for (let i = 0; i < count; i++) taps.indices[i] = i
  taps.weights.fill(1)
  return taps
}

/** Turns indices into the padded data into indices into the data; -1 for padding. */
function shiftIndices({ axis, indices }: AxisIndices, begin: number, size: number): AxisIndices {
  return { axis, indices: indices.map(index => (index < begin || index >= begin + size ? -1 : index - begin)) }
}

/** As {@link shiftIndices} for taps; taps that read padding get weight 0. */
function shiftTaps(table: AxisTaps, begin: number, size: number): AxisTaps {
  const { indices } = shiftIndices(table, begin, size)
  return { ...table, indices, weights: table.weights.map((weight, i) => (indices[i] < 0 ? 0 : weight)) }
}
