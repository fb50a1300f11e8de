import { fail } from '../../errors.ts'
import { convertPaced } from '../../kernels/core/convert-paced.ts'
import { readNumbers } from '../../kernels/core/numbers.ts'
import { COST, inChunks } from '../../kernels/core/pace.ts'
import { fillDrawn } from '../../kernels/random/fill.ts'
import { defineOp, type Op, params, type ShapeContext } from '../../op-kit/define.ts'
import { float, ints, optional, type } from '../../op-kit/sources.ts'
import { FLOATS, NUMERIC } from '../../op-kit/types.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { shapeFrom } from '../../shapes/lists.ts'
import type { DType } from '../../tensor/dtype.ts'
import { allocate } from '../../tensor/tensor.ts'

/** Nanoseconds of drawing a number, for a normal distribution too. */
const DRAW_COST = 2 * COST.element + 4 * COST.transcendental

interface Distribution {
  /** Low end, or mean. */
  first: number
  /** High end, or standard deviation. */
  second: number
  seed: number | undefined
}

/** Given a function that draws from [0, 1), makes one that draws from a distribution. */
type Drawer = (random: () => number, p: Distribution) => () => number

const uniform: Drawer =
  (random, { first, second }) =>
  () =>
    first + random() * (second - first)

/** Box-Muller transform: two uniform numbers give two normal ones, the second of which is kept for the next draw. */
const normal: Drawer = (random, { first, second }) => {
  let kept: number | undefined
  return () => {
    let value = kept
    if (value === undefined) {
      const radius = Math.sqrt(-2 * Math.log(1 - random()))
      const angle = 2 * Math.PI * random()
      value = radius * Math.cos(angle)
      kept = radius * Math.sin(angle)
    } else kept = undefined
    return first + value * second
  }
}

const seed = optional(float('seed'))
const UNIFORM = { first: float('low'), second: float('high'), seed } as const
const NORMAL = { first: float('mean'), second: float('scale'), seed } as const

/**
 * Random tensors: ONNX RandomUniform-1, -22, RandomNormal-1, -22, their variants `Like`, and Bernoulli. The
 * specification leaves the stream of numbers open: it is that of the session, or, where `seed` is given, one that
 * depends on this seed only, the same in every run. Computed in double precision and rounded once.
 */
export const randomOps: readonly Op[] = [
  ofShape('RandomUniform', uniform, UNIFORM),
  ofShape('RandomNormal', normal, NORMAL),
  like('RandomUniformLike', uniform, UNIFORM),
  like('RandomNormalLike', normal, NORMAL),
  bernoulli()
]

function ofShape(name: string, drawer: Drawer, bind: typeof UNIFORM | typeof NORMAL): Op {
  return defineOp({
    name,
    operands: {},
    params: params<Distribution & { shape: readonly number[]; dtype: DType }>(),
    onnx: [{ since: 1, bind: { ...bind, shape: ints('shape'), dtype: type('dtype') } }],
    impure: 'random',
    shape: (_, { dtype, shape }, call) => [tensorFact(checkFloat(dtype, call), shapeFrom(shape, 'the shape'))],
    run: (_, p, call) => fillDrawn(call.output(), drawer(call.random(p.seed), p), DRAW_COST)
  })
}

function like(name: string, drawer: Drawer, bind: typeof UNIFORM | typeof NORMAL): Op {
  return defineOp({
    name,
    operands: { like: 'tensor' },
    params: params<Distribution & { dtype: DType | undefined }>(),
    onnx: [{ since: 1, bind: { ...bind, dtype: optional(type('dtype')) } }],
    impure: 'random',
    shape: (operands, { dtype }, call) => [tensorFact(outputType(operands.like, dtype, call), operands.like.shape)],
    run: (_, p, call) => fillDrawn(call.output(), drawer(call.random(p.seed), p), DRAW_COST)
  })
}

function outputType({ type }: TensorFact, dtype: DType | undefined, call: ShapeContext): DType | undefined {
  const found = dtype ?? type
  return found && checkFloat(found, call)
}

/** @throws NodewiseError `type-not-allowed` */
function checkFloat(found: DType, { version }: ShapeContext): DType {
  const allowed = version >= 22 ? FLOATS : FLOATS.filter(each => each !== 'bfloat16')
  if (!allowed.includes(found))
    fail('type-not-allowed', `the output has type ${found}; allowed are ${allowed.join(', ')}`)
  return found
}

/** 1 with the probability that the input gives for each element, else 0. ONNX Bernoulli-15, -22 (bfloat16 inputs). */
function bernoulli(): Op {
  return defineOp({
    name: 'Bernoulli',
    operands: { x: 'tensor' },
    params: params<{ dtype: DType | undefined; seed: number | undefined }>(),
    onnx: [{ since: 15, bind: { dtype: optional(type('dtype')), seed } }],
    impure: 'random',

    shape({ x }, { dtype }) {
      if (dtype !== undefined && dtype !== 'bool' && !NUMERIC.includes(dtype)) {
        fail('type-not-allowed', `the output has type ${dtype}; a numeric type or bool is expected`)
      }
      return [tensorFact(dtype ?? x.type, x.shape)]
    },

    *run({ x }, p, call) {
      const out = call.output()
      const random = call.random(p.seed)
      const numbers = yield* readNumbers(x)
      const drawn = allocate('uint8', x.dims)
      const drawRange = (from: number, to: number): void => {
        for (let i = from; i < to; i++) {
          if (!(numbers[i] >= 0 && numbers[i] <= 1))
            fail('value-out-of-range', `element ${i} is ${numbers[i]}; probabilities lie in 0..1`)
          drawn.data[i] = random() < numbers[i] ? 1 : 0
        }
      }
      yield* inChunks(numbers.length, drawRange, DRAW_COST)
      yield* convertPaced(drawn, out)
    }
  })
}
