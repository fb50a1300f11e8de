import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { alignRegions, type Region, type RoiPooling } from '../../kernels/detection/roi-align.ts'
import { resolveIndices } from '../../kernels/gather/indices.ts'
import { type KernelContext, params } from '../../op-kit/define.ts'
import { regionsFact } from '../../op-kit/regions.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, flag, float, int, is } from '../../op-kit/sources.ts'
import { commonType, FLOATS, INDEX_TYPES } from '../../op-kit/types.ts'
import { FROM_START } from '../../op-kit/updates.ts'
import { toNumbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'

/** How corners are mapped to the feature map: `(corner + before) * scale + after`. */
interface Alignment {
  readonly before: number
  readonly after: number
  /** Whether regions are at least one element high and wide. */
  readonly atLeastOne: boolean
}

interface Pooled {
  height: number
  width: number
  /** Samples of a bin in each direction; 0: as many as the bin has elements. */
  samples: number
  scale: number
}

const ASYMMETRIC: Alignment = { before: 0, after: 0, atLeastOne: true }
const SHIFTED: Alignment = { before: 0, after: -0.5, atLeastOne: false }
const HALF_PIXEL: Alignment = { before: 0.5, after: -0.5, atLeastOne: false }

const onnx = {
  height: int('output_height'),
  width: int('output_width'),
  samples: int('sampling_ratio'),
  scale: float('spatial_scale'),
  pooling: choice<RoiPooling>('mode', { avg: 'average', max: 'max-of-parts' })
} as const
const pooled = {
  height: int('pooled_h'),
  width: int('pooled_w'),
  samples: int('sampling_ratio'),
  scale: float('spatial_scale')
} as const
const openvino = { ...pooled, pooling: choice<RoiPooling>('mode', { avg: 'average', max: 'max-of-samples' }) } as const
const types = { x: FLOATS, rois: FLOATS, batches: INDEX_TYPES }

/** Rules of {@link roiAlign}. */
export const roiAlignRules = defineRules({
  name: 'RoiAlign',
  operands: { x: 'tensor', rois: 'tensor', batches: 'tensor' },
  params: params<Pooled & { pooling: RoiPooling; alignment: Alignment }>(),
  onnx: [
    { since: 10, bind: { ...onnx, alignment: is(ASYMMETRIC) } },
    {
      since: 16,
      bind: {
        ...onnx,
        alignment: choice('coordinate_transformation_mode', { half_pixel: SHIFTED, output_half_pixel: ASYMMETRIC })
      }
    }
  ],
  openvino: [
    { type: 'ROIAlign', since: 3, types, bind: { ...openvino, alignment: is(ASYMMETRIC) } },
    {
      type: 'ROIAlign',
      since: 9,
      types,
      bind: {
        ...openvino,
        alignment: choice('aligned_mode', {
          asymmetric: ASYMMETRIC,
          half_pixel_for_nn: SHIFTED,
          half_pixel: HALF_PIXEL
        })
      }
    }
  ],

  shape({ x, rois, batches }, p) {
    commonType({ x, rois })
    checkSamples(p)
    return [regionsFact(x, rois, 4, [p.height, p.width], batches)]
  }
})

/**
 * Pools regions `[x1, y1, x2, y2]` of feature maps by bilinear samples: ONNX RoiAlign-10, -16 (corners shifted by half
 * an element), -22; OpenVINO ROIAlign-3, -9.
 *
 * Mode max takes the largest of the samples' weighted neighbours in ONNX, as its reference and tests do; in OpenVINO
 * the largest sample, or 0.
 */
export const roiAlign = /* @__PURE__ */ withKernel(roiAlignRules, {
  run: ({ x, rois, batches }, p, call) =>
    pool(
      x,
      batches,
      p,
      p.pooling,
      call,
      regionsOf(
        rois,
        (corners, at, round) => {
          const { before, after, atLeastOne } = p.alignment
          const mapped = (i: number): number => round(round(round(corners[at + i] + before) * p.scale) + after)
          const [left, top] = [mapped(0), mapped(1)]
          const minSize = atLeastOne ? 1 : -Infinity
          return {
            start: [top, left],
            size: [Math.max(minSize, round(mapped(3) - top)), Math.max(minSize, round(mapped(2) - left))]
          }
        },
        p
      )
    )
})

/** Rules of {@link roiAlignRotated}. */
export const roiAlignRotatedRules = defineRules({
  name: 'ROIAlignRotated',
  operands: { x: 'tensor', rois: 'tensor', batches: 'tensor' },
  params: params<Pooled & { clockwise: boolean }>(),
  openvino: [{ since: 15, types, bind: { ...pooled, clockwise: flag('clockwise_mode') } }],

  shape({ x, rois, batches }, p) {
    commonType({ x, rois })
    checkSamples(p)
    return [regionsFact(x, rois, 5, [p.height, p.width], batches)]
  }
})

/**
 * Pools regions `[center x, center y, width, height, angle]`, rotated by an angle in radians: OpenVINO
 * ROIAlignRotated-15.
 */
export const roiAlignRotated = /* @__PURE__ */ withKernel(roiAlignRotatedRules, {
  run: ({ x, rois, batches }, p, call) =>
    pool(
      x,
      batches,
      p,
      'average',
      call,
      regionsOf(
        rois,
        (numbers, at, round) => {
          const scaled = (i: number): number => round(numbers[at + i] * p.scale)
          const [width, height] = [scaled(2), scaled(3)]
          const angle = p.clockwise ? -numbers[at + 4] : numbers[at + 4]
          const center = [round(scaled(1) - 0.5), round(scaled(0) - 0.5)] as const
          return {
            start: [-height / 2, -width / 2],
            size: [height, width],
            rotation: { center, cos: Math.cos(angle), sin: Math.sin(angle) }
          }
        },
        p
      )
    )
})

/** @throws NodewiseError `value-out-of-range` */
export function checkSamples({ samples }: Pick<Pooled, 'samples'>): void {
  if (samples < 0) fail('value-out-of-range', `sampling_ratio is ${samples}; expected at least 0`)
}

type Box = Pick<Region, 'start' | 'rotation'> & { readonly size: readonly [height: number, width: number] }

/**
 * Regions in float32 (in double precision for float64), as the runtimes compute them: where a size is near an integer
 * rounding decides the number of samples.
 */
function regionsOf(
  rois: Tensor,
  boxOf: (numbers: ArrayLike<number>, at: number, round: (x: number) => number) => Box,
  p: Pooled
): Region[] {
  const numbers = toNumbers(rois)
  const round = rois.type === 'float64' ? (x: number): number => x : Math.fround
  return Array.from({ length: rois.dims[0] }, (_, r) => {
    const { size, ...box } = boxOf(numbers, r * rois.dims[1], round)
    return { ...box, ...binsOf(size, p, round) }
  })
}

/** Size and samples of the bins of a region. */
export function binsOf(
  [height, width]: readonly [number, number],
  p: Omit<Pooled, 'scale'>,
  round: (x: number) => number
): Pick<Region, 'bin' | 'samples'> {
  const bin = [round(height / p.height), round(width / p.width)] as const
  return { bin, samples: p.samples > 0 ? [p.samples, p.samples] : [Math.ceil(bin[0]), Math.ceil(bin[1])] }
}

function* pool(
  x: Tensor,
  batches: Tensor,
  p: Pooled,
  pooling: RoiPooling,
  call: KernelContext,
  regions: readonly Region[]
): Generator<void> {
  const [images, channels, height, width] = x.dims
  const imageOf = resolveIndices(batches, images, 0, FROM_START)
  const { numbers, finish } = targetOf(call.output())
  if (height * width > 0)
    yield* alignRegions(
      yield* readNumbers(x),
      regions,
      imageOf,
      numbers,
      { channels, height, width, pooled: [p.height, p.width], pooling },
      call.sumPoints
    )
  yield* finish()
}
