import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import {
  averagePositions,
  deformedPositions,
  type PositionPlan,
  samplePositions
} from '../../kernels/detection/position-pool.ts'
import { params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { imagesOf, regionsFact } from '../../op-kit/regions.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, float, int } from '../../op-kit/sources.ts'
import { commonType, FLOATS } from '../../op-kit/types.ts'
import { mayMatch, printDim, printShape } from '../../shapes/dim.ts'
import type { TensorFact } from '../../shapes/fact.ts'
import type { Tensor } from '../../tensor/tensor.ts'

interface Shared {
  channels: number
  pooled: number
  scale: number
  binsX: number
  binsY: number
}

const shared = {
  channels: int('output_dim'),
  pooled: int('group_size'),
  scale: float('spatial_scale'),
  binsX: int('spatial_bins_x'),
  binsY: int('spatial_bins_y')
} as const

/** Rules of {@link psroiPooling}. */
export const psroiPoolingRules = defineRules({
  name: 'PSROIPooling',
  operands: { x: 'tensor', rois: 'tensor' },
  params: params<Shared & { mode: 'average' | 'bilinear' }>(),
  openvino: [
    {
      since: 1,
      types: { x: FLOATS, rois: FLOATS },
      bind: { ...shared, mode: choice<'average' | 'bilinear'>('mode', { average: 'average', bilinear: 'bilinear' }) }
    }
  ],

  shape({ x, rois }, p) {
    commonType({ x, rois })
    checkChannels(x, p.channels, p.mode === 'average' ? p.pooled * p.pooled : demandBins(p))
    return [regionsFact(x, rois, 5, [p.pooled, p.pooled], undefined, p.channels)]
  }
})

/**
 * Position-sensitive pooling of regions `[image, x1, y1, x2, y2]`: each bin or part of a region has its own channels.
 * OpenVINO PSROIPooling-1.
 */
export const psroiPooling = /* @__PURE__ */ withKernel(psroiPoolingRules, {
  *run({ x, rois }, p, call) {
    const boxes = yield* readNumbers(rois)
    const { numbers, finish } = targetOf(call.output())
    yield* (p.mode === 'average' ? averagePositions : samplePositions)(
      yield* readNumbers(x),
      boxes,
      imagesOf(boxes, rois.dims[0], x.dims[0]),
      numbers,
      planOf(x, p)
    )
    yield* finish()
  }
})

/** Rules of {@link deformablePsroiPooling}. */
export const deformablePsroiPoolingRules = defineRules({
  name: 'DeformablePSROIPooling',
  operands: { x: 'tensor', rois: 'tensor', offsets: 'optional' },
  params: params<Shared & { deviation: number; parts: number; mode: 'bilinear_deformable' }>(),
  openvino: [
    {
      since: 1,
      types: { x: FLOATS, rois: FLOATS, offsets: FLOATS },
      bind: {
        ...shared,
        deviation: float('trans_std'),
        parts: int('part_size'),
        mode: choice('mode', { bilinear_deformable: 'bilinear_deformable' })
      }
    }
  ],

  shape({ x, rois, offsets }, p) {
    commonType({ x, rois, offsets })
    demandBins(p)
    checkChannels(x, p.channels, p.pooled * p.pooled)
    checkOffsets(offsets, rois, p)
    return [regionsFact(x, rois, 5, [p.pooled, p.pooled], undefined, p.channels)]
  }
})

/** Position-sensitive pooling whose third input moves bins: OpenVINO DeformablePSROIPooling-1. */
export const deformablePsroiPooling = /* @__PURE__ */ withKernel(deformablePsroiPoolingRules, {
  *run({ x, rois, offsets }, p, call) {
    const boxes = yield* readNumbers(rois)
    const { numbers, finish } = targetOf(call.output())
    const moves = offsets && {
      numbers: yield* readNumbers(offsets),
      classes: offsets.dims[1] / 2,
      parts: p.parts,
      deviation: p.deviation
    }
    yield* deformedPositions(
      yield* readNumbers(x),
      boxes,
      imagesOf(boxes, rois.dims[0], x.dims[0]),
      numbers,
      planOf(x, p),
      moves
    )
    yield* finish()
  }
})

const planOf = (x: Tensor, p: Shared): PositionPlan => ({
  inputs: x.dims[1],
  height: x.dims[2],
  width: x.dims[3],
  channels: p.channels,
  pooled: p.pooled,
  scale: p.scale,
  bins: [p.binsY, p.binsX]
})

/**
 * The number of bins.
 * @throws NodewiseError `value-out-of-range`
 */
function demandBins({ binsX, binsY }: Shared): number {
  const count = binsX * binsY
  if (binsX < 1 || binsY < 1 || count > 2 ** 20)
    fail('value-out-of-range', `there are ${binsY} x ${binsX} spatial bins; expected 1..1048576`)
  return count
}

function checkChannels({ shape }: TensorFact, channels: number, each: number): void {
  if (channels < 1) fail('value-out-of-range', `output_dim is ${channels}; expected at least 1`)
  if (shape?.length === 4 && !mayMatch(shape[1], channels * each)) {
    fail(
      'dims-mismatch',
      `the feature map has ${printDim(shape[1])} channels; ` +
        `${channels} results from ${each} each need ${channels * each}`
    )
  }
}

function checkOffsets(
  offsets: TensorFact | undefined,
  rois: TensorFact,
  { parts, channels }: Shared & { parts: number }
): void {
  if (offsets?.shape === undefined) return
  checkRank('offsets', offsets, 4)
  const { shape } = offsets
  const classes = shape[1]
  const wrong =
    !mayMatch(shape[2], parts) ||
    !mayMatch(shape[3], parts) ||
    (rois.shape?.length === 2 && !mayMatch(shape[0], rois.shape[0])) ||
    (typeof classes === 'number' && (classes % 2 !== 0 || classes < 2 || channels % (classes / 2) !== 0))
  if (wrong)
    fail(
      'dims-mismatch',
      `offsets has dims ${printShape(shape)}; ` +
        `expected [regions, 2 * classes, ${parts}, ${parts}] with classes that divide ${channels}`
    )
}
