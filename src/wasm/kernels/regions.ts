import type { RoiPooling } from '../../kernels/detection/roi-align.ts'
import { product } from '../../tensor/tensor.ts'
import { floatBits, selectorFor, staged, tileOfFlops, workOfFlops } from '../selector.ts'
import { orSampled } from './points.ts'

/** Elements of the output below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 5
/** Most bins along an axis and elements of a line, as in ../assembly/f32/regions.ts. */
const MAX_BINS = 1 << 10
const MAX_LINE = 1 << 16
/** Multiplications and additions of an element of the output, of two samples in each direction. */
const ELEMENT_FLOPS = 32

/** Numbers of the poolings in ../assembly/f32/regions.ts. */
const POOLINGS: Readonly<Record<RoiPooling, number>> = { average: 0, 'max-of-parts': 1, 'max-of-samples': 2 }

interface Params {
  readonly height: number
  readonly width: number
  readonly samples: number
  readonly scale: number
  readonly pooling: RoiPooling
  readonly alignment: { readonly before: number; readonly after: number; readonly atLeastOne: boolean }
}

/**
 * RoiAlign of float32. Regions of coordinates that are no numbers, with very many samples, or of images that are not
 * there are left to the kernel for sums of points, and those of maxima to the reference.
 */
export const selectRoiAlign = selectorFor<Params>(call => {
  const { operands, parameters: p, dims } = call
  const { x, rois, batches } = operands
  const isServed = x?.type === 'float32' && rois?.type === 'float32'
  const isIndexed = batches?.type === 'int64' || batches?.type === 'int32'
  if (!isServed || !isIndexed || Math.fround(p.scale) !== p.scale) return undefined
  if (product(dims) < MIN_ELEMENTS || product(x.dims) === 0) return undefined
  const [images, channels, height, width] = x.dims
  if (p.height > MAX_BINS || p.width > MAX_BINS || width > MAX_LINE || height * width > 1 << 28) return undefined
  const { before, after, atLeastOne } = p.alignment
  const each = product(dims, 1)
  return orSampled(call as never, ['x', 'rois', 'batches'], {
    kernel: 'regions',
    blocks: dims[0],
    blockBytes: 4 * each,
    tile: tileOfFlops(ELEMENT_FLOPS * each, dims[0]),
    work: workOfFlops(ELEMENT_FLOPS * product(dims)),
    inputs: staged(3),
    // Those of RegionArguments in ../assembly/f32/regions.ts.
    args: [
      ...[images, channels, height, width, p.height, p.width, p.samples, batches.type === 'int64' ? 8 : 4],
      ...[before, p.scale, after, atLeastOne ? 1 : -Infinity].map(floatBits),
      POOLINGS[p.pooling]
    ]
  })
})
