import { fail } from '../../errors.ts'
import { storeIntegers } from '../../kernels/core/integers.ts'
import { doubles, readNumbers } from '../../kernels/core/numbers.ts'
import { COST, inChunks, Pace } from '../../kernels/core/pace.ts'
import { philox, unitDoubles } from '../../kernels/random/philox.ts'
import { countUpTo } from '../../kernels/reduce/search.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { exactInt, flag, float, inputInt, int, is, optional, type } from '../../op-kit/sources.ts'
import { FLOATS } from '../../op-kit/types.ts'
import { asDim, maxDim, minDim, printDim, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { DType } from '../../tensor/dtype.ts'

interface Params {
  samples: DataDependent<number>
  dtype: DType
  /** Whether the input holds logarithms. */
  logarithms: boolean
  /** Whether a class may be drawn more than once. */
  replaces: boolean
  seed: number | undefined
  /** IR: the key and the counter of a stream; both 0 leave it to the session. */
  globalSeed: bigint
  opSeed: bigint
}

/** Nanoseconds of one draw: two random numbers and a binary search. */
const DRAW_COST = 6 * COST.element

/**
 * Draws classes by their weights, which need not add up to 1: ONNX Multinomial-7, -22 (bfloat16), OpenVINO
 * Multinomial-13. The specifications leave the stream of numbers open: it is the session's, or, where the node gives
 * seeds, one that depends on them only, the same in every run (in IR Philox, as in RandomUniform).
 */
export const multinomial = defineOp({
  name: 'Multinomial',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      since: 7,
      bind: {
        samples: int('sample_size'),
        dtype: type('dtype'),
        logarithms: is(true),
        replaces: is(true),
        seed: optional(float('seed')),
        globalSeed: is(0n),
        opSeed: is(0n)
      }
    }
  ],
  openvino: [
    {
      since: 13,
      types: { x: FLOATS, samples: ['int32', 'int64'] },
      bind: {
        samples: inputInt(1),
        dtype: type('convert_type'),
        logarithms: flag('log_probs'),
        replaces: flag('with_replacement'),
        seed: is(undefined),
        globalSeed: exactInt('global_seed'),
        opSeed: exactInt('op_seed')
      }
    }
  ],
  impure: 'random',

  shape({ x }, { samples, dtype, replaces }) {
    if (dtype !== 'int32' && dtype !== 'int64')
      fail('type-not-allowed', `the output has type ${dtype}; int32 or int64 is expected`)
    checkRank('the input', x, 2)
    if (maxDim(samples) < 0)
      fail('value-out-of-range', `${printDim(samples)} samples are asked for; the number is not negative`)
    const [batch, classes] = x.shape ?? [unknownDim(), unknownDim()]
    if (!replaces && minDim(samples) > maxDim(classes)) {
      fail(
        'value-out-of-range',
        `${printDim(samples)} samples of ${printDim(classes)} classes are not possible without replacement`
      )
    }
    return [tensorFact(dtype, [batch, asDim(samples)])]
  },

  *run({ x }, p, call) {
    const out = call.output()
    if (out.data.length === 0) return
    const [batch, classes] = x.dims
    const numbers = yield* readNumbers(x)
    const isFree = p.globalSeed === 0n && p.opSeed === 0n
    const random = isFree
      ? call.random(p.seed)
      : unitDoubles(philox(BigInt.asUintN(64, p.globalSeed), BigInt.asUintN(64, p.opSeed)))
    const drawn = doubles(p.samples)
    const pace = new Pace()
    for (let b = 0; b < batch; b++) {
      const weights = yield* weightsOf(numbers.subarray(b * classes, (b + 1) * classes), p.logarithms)
      let sums = yield* sumsOf(weights, b, pace)
      for (let i = 0; i < p.samples; i++) {
        if (!p.replaces && i > 0) {
          weights[drawn[i - 1]] = 0
          sums = yield* sumsOf(weights, b, pace)
        }
        drawn[i] = drawClass(weights, sums, random())
        if (pace.isDue(DRAW_COST)) yield
      }
      yield* inChunks(p.samples, (from, to) => storeIntegers(out, drawn.subarray(from, to), b * p.samples + from))
    }
  }
})

/** Weights of the classes. The highest logarithm is subtracted from all before exp, so that nothing overflows. */
function* weightsOf(row: ArrayLike<number>, logarithms: boolean): Generator<void, Float64Array> {
  const weights = doubles(row.length)
  let highest = -Infinity
  yield* inChunks(row.length, (from, to) => {
    for (let i = from; i < to; i++) {
      weights[i] = row[i]
      highest = Math.max(highest, row[i])
    }
  })
  if (logarithms)
    yield* inChunks(
      row.length,
      (from, to) => {
        for (let i = from; i < to; i++) weights[i] = Math.exp(weights[i] - highest)
      },
      COST.element + COST.transcendental
    )
  return weights
}

/**
 * The sums of the weights up to each class.
 * @throws NodewiseError `value-out-of-range` where the weights are no distribution
 */
function* sumsOf(weights: Float64Array, row: number, pace: Pace): Generator<void, Float64Array> {
  let sum = 0
  const sums = doubles(weights.length)
  for (let i = 0; i < sums.length; i++) {
    if (!(weights[i] >= 0))
      fail(
        'value-out-of-range',
        `class ${i} of row ${row} has the weight ${weights[i]}; it must be a number and not negative`
      )
    sums[i] = sum += weights[i]
    if (pace.isDue(COST.element)) yield
  }
  if (!(sum > 0 && sum < Infinity))
    fail('value-out-of-range', `the weights of row ${row} add up to ${sum}; a positive number is expected`)
  return sums
}

/** The first class for which the sum of the weights up to it exceeds the fraction `at` of the whole sum. */
function drawClass(weights: Float64Array, sums: Float64Array, at: number): number {
  const found = countUpTo(sums, 0, sums.length, at * sums[sums.length - 1])
  // A fraction just below 1, times the sum, may be rounded up to the sum.
  return found < sums.length ? found : weights.findLastIndex(weight => weight > 0)
}
