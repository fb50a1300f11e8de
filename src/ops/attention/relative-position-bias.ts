import { fail } from '../../errors.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { copyUnits, unitsOf } from '../../kernels/core/units.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { flag, inputInt, int } from '../../op-kit/sources.ts'
import { type Dim, meetDims, printDim, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { sizesOf } from '../../shapes/lists.ts'

interface Buckets {
  /** The distance from which on all positions share the last bucket. */
  maxDistance: number
  /** Whether keys after the query have buckets of their own, the second half; otherwise they count as at distance 0. */
  bidirectional: boolean
}

interface Params extends Buckets {
  queryLength: DataDependent<number>
  keyLength: DataDependent<number>
}

/**
 * The bias that T5 adds to the scores of attention: that of the bucket of `key - query`, for each head. Half of the
 * buckets of a direction hold one distance each, the others ever larger ranges. com.microsoft RelativePositionBias-1.
 *
 * The elements of the table lie head by head, though its dims are `[buckets, heads]`: ONNX Runtime calls it
 * column-major. As in ONNX Runtime, queries and keys have the same length, and buckets are found in float32, which
 * decides where a distance lies on a boundary. Where that divides by zero (too few buckets, or a largest distance that
 * is below those with buckets of their own) the call is refused.
 */
export const relativePositionBias = defineOp({
  name: 'RelativePositionBias',
  operands: { table: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      bind: {
        queryLength: inputInt(1),
        keyLength: inputInt(2),
        maxDistance: int('max_distance'),
        bidirectional: flag('is_bidirectional')
      }
    }
  ],
  moves: ['table'],

  shape({ table }, p) {
    checkRank('bias_table', table, 2)
    const [buckets = unknownDim(), heads = unknownDim()] = table.shape ?? []
    checkBuckets(buckets, p)
    const [queries] = sizesOf([p.queryLength], 'query_length')
    const [keys] = sizesOf([p.keyLength], 'key_length')
    const length =
      meetDims(queries, keys) ??
      fail('dims-mismatch', `query_length is ${printDim(queries)}, key_length ${printDim(keys)}; they must be the same`)
    return [tensorFact(table.type, [1, heads, length, length])]
  },

  *run({ table }, p, call) {
    const [buckets, heads] = table.dims
    const length = p.queryLength
    const { array: from, per } = unitsOf(table)
    const to = unitsOf(call.rawOutput()).array
    const pace = new Pace()
    const bucketOf = bucketsOf(buckets, p)
    for (let head = 0; head < heads; head++) {
      const entry = (distance: number): number => (head * buckets + bucketOf(distance)) * per
      let at = head * length * length * per
      for (let key = 0; key < length; key++) {
        copyUnits(from, entry(key), to, at + key * per, per)
        if (pace.isDue(COST.transcendental)) yield
      }
      // Each further row is the one before it, shifted by one position.
      for (let query = 1; query < length; query++) {
        const above = at
        at += length * per
        copyUnits(from, entry(-query), to, at, per)
        copyUnits(to, above, to, at + per, (length - 1) * per)
        if (pace.isDue(COST.transcendental + (length - 1) * per * COST.copy)) yield
      }
    }
  }
})

/** Buckets of a direction, of which the first half has one distance each. */
function directionOf(buckets: number, bidirectional: boolean): { own: number; exact: number } {
  const own = bidirectional ? Math.floor(buckets / 2) : buckets
  return { own, exact: Math.floor(own / 2) }
}

function checkBuckets(buckets: Dim, { maxDistance, bidirectional }: Buckets): void {
  if (maxDistance < 1) fail('unknown-attribute-value', `max_distance is ${maxDistance}; expected 1 or more`)
  if (typeof buckets !== 'number') return
  const { exact } = directionOf(buckets, bidirectional)
  if (exact === 0) fail('dims-mismatch', `bias_table has ${buckets} buckets; expected ${bidirectional ? 4 : 2} or more`)
  if (maxDistance <= exact)
    fail(
      'unknown-attribute-value',
      `max_distance is ${maxDistance}, and distances below ${exact} have buckets of their own; expected more`
    )
}

/** The bucket of a distance from query to key. */
function bucketsOf(buckets: number, { maxDistance, bidirectional }: Buckets): (distance: number) => number {
  const { own, exact } = directionOf(buckets, bidirectional)
  const { fround } = Math
  const logarithm = (distance: number): number => fround(Math.log(fround(distance / exact)))
  const whole = logarithm(maxDistance)
  const within = (distance: number): number =>
    distance < exact
      ? distance
      : Math.min(own - 1, exact + Math.floor(fround(fround(logarithm(distance) / whole) * (own - exact))))
  if (!bidirectional) return distance => within(Math.max(0, -distance))
  return distance => (distance > 0 ? own : 0) + within(Math.abs(distance))
}
