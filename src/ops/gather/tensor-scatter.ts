import { fail } from '../../errors.ts'
import { axisLayout } from '../../kernels/core/axis-layout.ts'
import { reportIndex } from '../../kernels/gather/indices.ts'
import { scatter } from '../../kernels/gather/scatter.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { checkRank, checkRankAtLeast } from '../../op-kit/ranks.ts'
import { choice, int } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { checkUpdates } from '../../op-kit/updates.ts'
import { type Dim, meetDims, minDim, normalizeAxis, printDim, subDims } from '../../shapes/dim.ts'
import { knownValue, type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { toBigInts } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'

interface Params {
  axis: number
  /** Positions beyond the end continue at the beginning. */
  circular: boolean
}

/**
 * A copy of a cache with an update written into it along an axis; each sample of the batch has an index of its own at
 * which its update starts. ONNX TensorScatter-24.
 */
export const tensorScatter = defineOp({
  name: 'TensorScatter',
  operands: { cache: 'tensor', update: 'tensor', starts: 'optional' },
  params: params<Params>(),
  onnx: [{ since: 24, bind: { axis: int('axis'), circular: choice('mode', { linear: false, circular: true }) } }],
  moves: ['cache', 'update'],

  shape({ cache, update, starts }, p) {
    checkRankAtLeast('past_cache', cache, 2)
    checkRank('write_indices', starts, 1)
    if (cache.shape) checkCache(cache.shape, update, starts, p)
    return [tensorFact(commonType({ past_cache: cache, update }), cache.shape)]
  },

  validate({ cache, update, starts }, p) {
    const known = starts && knownValue(starts)
    if (known === undefined || cache.shape === undefined || update.shape === undefined) return
    const axis = axisOf(p.axis, cache.shape.length)
    const [size, count] = [cache.shape[axis], update.shape[axis]]
    if (typeof size === 'number' && typeof count === 'number') firstPositions(known, size, count, axis, p.circular)
  },

  run({ cache, update, starts }, p, call) {
    const axis = axisOf(p.axis, cache.dims.length)
    const { outer, size, inner } = axisLayout(cache.dims, axis)
    const count = update.dims[axis]
    const first = starts && firstPositions(starts, size, count, axis, p.circular)
    const perSample = outer / cache.dims[0]
    const lines = update.data.length === 0 ? 0 : outer
    const positions = new Float64Array(lines * count)
    for (let o = 0; o < lines; o++) {
      const start = first ? first[Math.floor(o / perSample)] : 0
      for (let i = 0; i < count; i++) positions[o * count + i] = o * size + ((start + i) % size)
    }
    return scatter(cache, positions, update, call.output(), {
      outer: 1,
      size: outer * size,
      inner,
      count: outer * count
    })
  }
})

function axisOf(axis: number, rank: number): number {
  const normal = normalizeAxis(axis, rank)
  return normal > 0
    ? normal
    : fail('axis-out-of-range', `axis ${axis} is the batch of rank ${rank}; expected another`, { axis, rank })
}

/** The update has the cache's dims, its own along the axis not larger. */
function checkCache(cache: readonly Dim[], update: TensorFact, starts: TensorFact | undefined, p: Params): void {
  const axis = axisOf(p.axis, cache.length)
  const own = update.shape?.[axis] ?? cache[axis]
  checkUpdates(
    update,
    cache.map((dim, i) => (i === axis ? own : dim))
  )
  if (minDim(subDims(own, cache[axis])) > 0) {
    fail(
      'dims-mismatch',
      `the update has ${printDim(own)} elements along axis ${axis}; the cache holds ${printDim(cache[axis])}`
    )
  }
  const samples = starts?.shape?.[0] ?? cache[0]
  if (meetDims(samples, cache[0]) !== undefined) return
  fail('dims-mismatch', `there are ${printDim(samples)} write_indices for a batch of ${printDim(cache[0])}`)
}

/**
 * Where each sample's update begins.
 * @throws NodewiseError `index-out-of-range` in linear mode when it does not end within the cache
 */
function firstPositions(
  starts: Tensor,
  size: number,
  count: number,
  axis: number,
  circular: boolean
): readonly number[] {
  return toBigInts(starts).map((start, i) => {
    if (circular) return size === 0 ? 0 : Number(((start % BigInt(size)) + BigInt(size)) % BigInt(size))
    if (start < 0n || start > BigInt(size - count)) reportIndex(`${start}`, [i], axis, size - count + 1)
    return Number(start)
  })
}
