import { fail } from '../../errors.ts'
import { targetOf } from '../../kernels/core/numbers.ts'
import { mersenneTwister } from '../../kernels/random/mersenne-twister.ts'
import { philox, type Uint32Stream } from '../../kernels/random/philox.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { checkSingle } from '../../op-kit/ranks.ts'
import { choice, exactInt, inputInts, type } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { shapeFrom } from '../../shapes/lists.ts'
import { type DType, isInteger } from '../../tensor/dtype.ts'
import { elementAt } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'

type Alignment = 'tensorflow' | 'pytorch'

interface Params {
  shape: DataDependent<readonly number[]>
  type: DType
  globalSeed: bigint
  opSeed: bigint
  alignment: Alignment
}

const TYPES: readonly DType[] = ['int32', 'int64', 'float16', 'bfloat16', 'float32', 'float64']
/** Numbers between two yields. */
const PER_TURN = 1 << 16

/**
 * Numbers from a uniform distribution over `[low, high)`. OpenVINO RandomUniform-8, whose streams the specification
 * fixes: Philox 4x32-10
 * keyed by global_seed with op_seed as its counter, or MT19937 seeded with global_seed (alignment pytorch), and how
 * each type is made
 * of them. A node gives the same numbers in every run. Both seeds 0 ask for numbers that are not fixed: the session's
 * seed decides. The CPU
 * plugin draws float16 and float64 as float32 and int64 as int32.
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
    else yield* fillNumbers(out, drawer(next, out.type, p.alignment, Number(from), Number(to)))
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
 * Draws a number of a type of up to 64 bits, int64 excepted. Arithmetic is rounded to float32 where the type is no
 * wider.
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
 * Draws from [0, 1). tensorflow fills a mantissa with the draw's low bits, pytorch counts in steps as fine as the type
 * has.
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
 * Draws int64 numbers: of two draws each, the high half first in pytorch, which takes one where both bounds fit into 32
 * bits.
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

function* fillNumbers(out: Tensor, draw: () => number): Generator<void> {
  const target = targetOf(out)
  const { numbers } = target
  for (let i = 0; i < numbers.length; i++) {
    numbers[i] = draw()
    if (i % PER_TURN === PER_TURN - 1) yield
  }
  yield* target.finish()
}

function* fillWide(out: BigInt64Array, draw: () => bigint): Generator<void> {
  for (let i = 0; i < out.length; i++) {
    out[i] = draw()
    if (i % PER_TURN === PER_TURN - 1) yield
  }
}
