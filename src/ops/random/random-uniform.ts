import { fail } from '../../errors.ts'
import { COST, inChunks } from '../../kernels/core/pace.ts'
import { fillDrawn } from '../../kernels/random/fill.ts'
import { mersenneTwister } from '../../kernels/random/mersenne-twister.ts'
import { philox, type Uint32Stream } from '../../kernels/random/philox.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { checkSingle } from '../../op-kit/ranks.ts'
import { choice, exactInt, inputInts, type } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { shapeFrom } from '../../shapes/lists.ts'
import { type DType, isInteger } from '../../tensor/dtype.ts'
import { elementAt } from '../../tensor/elements.ts'

type Alignment = 'tensorflow' | 'pytorch'

interface Params {
  shape: DataDependent<readonly number[]>
  type: DType
  globalSeed: bigint
  opSeed: bigint
  alignment: Alignment
}

const TYPES: readonly DType[] = ['int32', 'int64', 'float16', 'bfloat16', 'float32', 'float64']
/** Nanoseconds of drawing a number from two numbers of the stream; measured with bigints: 500. */
const DRAW_COST = 6 * COST.element

/**
 * Numbers from a uniform distribution over `[low, high)`: OpenVINO RandomUniform-8. The specification fixes the stream
 * (Philox 4x32-10 with the key global_seed and the counter op_seed; with alignment pytorch MT19937 seeded with
 * global_seed) and how numbers of each type are made of it. So a node gives the same numbers in every run, except where
 * both seeds are 0: then they depend on the session's seed. (OpenVINO's CPU plugin draws float16 and float64 as float32
 * and int64 as int32; this follows the specification.)
 */
export const randomUniform = defineOp({
  name: 'RandomUniform',
  operands: { low: 'tensor', high: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 8,
      in: { low: 1, high: 2 },
      types: { shape: ['int32', 'int64'], low: TYPES, high: TYPES },
      bind: {
        shape: inputInts(0),
        type: type('output_type'),
        globalSeed: exactInt('global_seed'),
        opSeed: exactInt('op_seed'),
        alignment: choice('alignment', { tensorflow: 'tensorflow', pytorch: 'pytorch' })
      }
    }
  ],
  impure: 'random',

  shape({ low, high }, p) {
    if (!TYPES.includes(p.type))
      fail('type-not-allowed', `output_type is ${p.type}; expected one of ${TYPES.join(', ')}`)
    for (const [name, bound] of [
      ['minval', low],
      ['maxval', high]
    ] as const) {
      if (bound.type !== undefined && bound.type !== p.type) {
        fail('type-mismatch', `${name} has type ${bound.type}, the output ${p.type}; they must be the same`)
      }
      checkSingle(name, bound)
    }
    return [tensorFact(p.type, p.shape === 'unknown' ? undefined : shapeFrom(p.shape, 'the shape'))]
  },

  *run({ low, high }, p, call) {
    const out = call.output()
    const [from, to] = [elementAt(low, 0), elementAt(high, 0)] as (number | bigint)[]
    if (!(from < to)) fail('value-out-of-range', `minval ${from} is not below maxval ${to}`)
    const next = streamOf(p, () => call.random())
    if (typeof from === 'bigint' && typeof to === 'bigint')
      yield* fillWide(out.data as BigInt64Array, wideIntegers(next, p.alignment, from, to))
    else yield* fillDrawn(out, drawer(next, out.type, p.alignment, Number(from), Number(to)), DRAW_COST)
  }
})

type Seeds = Pick<Params, 'globalSeed' | 'opSeed' | 'alignment'>

function streamOf({ globalSeed, opSeed, alignment }: Seeds, random: () => () => number): Uint32Stream {
  const isFree = globalSeed === 0n && opSeed === 0n
  const key = isFree ? BigInt(Math.floor(random()() * 2 ** 32)) : BigInt.asUintN(64, globalSeed)
  return alignment === 'pytorch'
    ? mersenneTwister(Number(BigInt.asUintN(32, key)))
    : philox(key, BigInt.asUintN(64, opSeed))
}

/**
 * A function that draws a number of any type but int64. Arithmetic is rounded to float32 unless the type is float64.
 */
function drawer(next: Uint32Stream, type: DType, alignment: Alignment, low: number, high: number): () => number {
  if (isInteger(type)) {
    const range = high - low
    return () => ((next() % range) + low) | 0
  }
  const unit = unitOf(next, type, alignment)
  if (type === 'float64') return () => unit() * (high - low) + low
  const range = Math.fround(high - low)
  return () => Math.fround(Math.fround(unit() * range) + low)
}

/** Significant bits of the types, the hidden one included. */
const PRECISION: Readonly<Partial<Record<DType, number>>> = { float16: 11, bfloat16: 8, float32: 24 }

/**
 * A function that draws from [0, 1). Alignment tensorflow fills the mantissa with the low bits of a draw; pytorch draws
 * multiples of the finest step of the type below 1.
 */
function unitOf(next: Uint32Stream, type: DType, alignment: Alignment): () => number {
  const precision = PRECISION[type]
  if (precision === undefined) {
    const highBits = alignment === 'pytorch' ? 21 : 20
    return () => ((next() & (2 ** highBits - 1)) * 2 ** 32 + next()) / 2 ** (highBits + 32)
  }
  const steps = 2 ** (alignment === 'pytorch' ? precision : precision - 1)
  return () => (next() & (steps - 1)) / steps
}

/**
 * A function that draws int64 numbers, each from two draws. Alignment pytorch draws the high half first, and uses a
 * single draw where both bounds fit into 32 bits.
 */
function wideIntegers(next: Uint32Stream, alignment: Alignment, low: bigint, high: bigint): () => bigint {
  const range = BigInt.asUintN(64, high - low)
  const one = alignment === 'pytorch' && low < 2n ** 32n && high < 2n ** 32n
  const join = (first: bigint, second: bigint): bigint =>
    alignment === 'pytorch' ? (first << 32n) | second : (second << 32n) | first
  return () => {
    const first = BigInt(next())
    return BigInt.asIntN(64, ((one ? first : join(first, BigInt(next()))) % range) + low)
  }
}

function* fillWide(out: BigInt64Array, draw: () => bigint): Generator<void> {
  const fillRange = (from: number, to: number): void => {
    for (let i = from; i < to; i++) out[i] = draw()
  }
  yield* inChunks(out.length, fillRange, DRAW_COST)
}
