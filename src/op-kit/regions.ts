import { fail } from '../errors.ts'
import { reportIndex } from '../kernels/gather/indices.ts'
import { type Dim, mayMatch, meetDims, printDim } from '../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../shapes/fact.ts'
import type { Numbers } from '../tensor/elements.ts'
import { checkRank } from './ranks.ts'

/**
 * The shape rule of operators on regions of interest: a feature map `[N, C, H, W]` and regions `[R, width]` give
 * `[R, channels, …pooled]`.
 * @param batches for some operators the image of each region, `[R]`
 * @param channels of the result; those of the map when left out
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch`, `value-out-of-range`
 */
export function regionsFact(
  x: TensorFact,
  rois: TensorFact,
  width: number,
  pooled: readonly number[],
  batches?: TensorFact,
  channels?: number
): TensorFact {
  checkRank('the feature map', x, 4)
  checkRank('rois', rois, 2)
  checkRank('batch_indices', batches, 1)
  if (rois.shape && !mayMatch(rois.shape[1], width))
    fail('dims-mismatch', `regions have ${printDim(rois.shape[1])} numbers; expected ${width}`)
  const wrong = pooled.find(size => size < 1)
  if (wrong !== undefined) fail('value-out-of-range', `a pooled size is ${wrong}; expected at least 1`)
  const count = countOf(rois.shape?.[0], batches?.shape?.[0])
  if (count === undefined || (channels === undefined && x.shape === undefined)) return tensorFact(x.type, undefined)
  return tensorFact(x.type, [count, channels ?? (x.shape as readonly Dim[])[1], ...pooled])
}

function countOf(rois: Dim | undefined, batches: Dim | undefined): Dim | undefined {
  if (rois === undefined || batches === undefined) return rois ?? batches
  return (
    meetDims(rois, batches) ??
    fail('dims-mismatch', `there are ${printDim(rois)} regions and ${printDim(batches)} batch indices`)
  )
}

/**
 * The image of each region, which is the first of its 5 numbers.
 * @throws NodewiseError `index-out-of-range`
 */
export function imagesOf(rois: Numbers, count: number, images: number): Int32Array {
  const result = new Int32Array(count)
  for (let r = 0; r < count; r++) {
    const image = Math.trunc(rois[5 * r])
    if (!(image >= 0 && image < images)) reportIndex(`${rois[5 * r]}`, [r, 0], 0, images)
    result[r] = image
  }
  return result
}
