import { copyStrided } from '../kernels/core/copy-strided.ts'
import type { Paced } from '../kernels/core/pace.ts'
import type { Dim } from '../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../shapes/fact.ts'
import { allocate, product, type Tensor } from '../tensor/tensor.ts'
import { defineOp, type Op, type Operands, type Parameters } from './define.ts'
import { withOutput } from './with-output.ts'

/** Whether data and result have their channels as the last dim, not as dim 1. */
export interface ChannelsParams {
  readonly channelsLast: boolean
}

/** Dims with the channels moved from the end to dim 1. */
export const channelsFirstDims = <D extends Dim>(dims: readonly D[]): D[] =>
  dims.length < 3 ? [...dims] : [dims[0], dims[dims.length - 1], ...dims.slice(1, -1)]

/** The fact of data whose channels come last, with the channels as dim 1. */
export const channelsFirstFact = ({ type, shape }: TensorFact): TensorFact =>
  tensorFact(type, shape && channelsFirstDims(shape))

/** Dims with the channels moved from dim 1 to the end. */
export const channelsLastDims = <D extends Dim>(dims: readonly D[]): D[] =>
  dims.length < 3 ? [...dims] : [dims[0], ...dims.slice(2), dims[1]]

/** A copy of data whose channels come last, with the channels as dim 1. */
export function* channelsFirst(x: Tensor): Generator<void, Tensor> {
  const out = allocate(x.type, channelsFirstDims(x.dims))
  const { dims } = out
  yield* swap(x, out, dims[0], product(dims, 2), dims[1])
  return out
}

/** Copies data whose channels are dim 1 to where they come last. */
export const toChannelsLast = (x: Tensor, out: Tensor): Generator<void> =>
  swap(x, out, x.dims[0], x.dims[1], product(x.dims, 2))

/** Transposes each of `count` matrices. */
const swap = (x: Tensor, out: Tensor, count: number, rows: number, columns: number): Generator<void> =>
  copyStrided(x, out, [
    { count, from: rows * columns, to: rows * columns },
    { count: columns, from: 1, to: rows },
    { count: rows, from: columns, to: 1 }
  ])

/**
 * An operator that takes the data of `base` in either layout: its operand `x` has the channels last where the parameter
 * `channelsLast` says so, and then the result has, too.
 */
export const inEitherLayout = (base: Op): Op =>
  defineOp<Operands, Parameters & ChannelsParams>({
    name: base.name,
    operands: base.operands,

    shape(operands, params, call) {
      const x = operands.x as TensorFact
      if (!params.channelsLast) return base.shape(operands, params, call)
      const [y] = base.shape({ ...operands, x: channelsFirstFact(x) }, params, call) as readonly TensorFact[]
      return [tensorFact(y.type, y.shape && channelsLastDims(y.shape))]
    },

    *run(operands, params, context): Paced {
      const x = operands.x as Tensor
      if (!params.channelsLast) return yield* base.run(operands, params, context) ?? []
      const out = context.rawOutput()
      const work = allocate(out.type, channelsFirstDims(out.dims))
      yield* base.run({ ...operands, x: yield* channelsFirst(x) }, params, withOutput(context, work)) ?? []
      yield* toChannelsLast(work, out)
    }
  })
