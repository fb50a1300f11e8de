import { oncePer } from '../kernels/core/once.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { defineOp, type Op, type Parameters, params } from './define.ts'
import { withOutput } from './with-output.ts'

/** Operands of {@link joinedProducts} that are second factors. */
export const FACTORS = ['b0', 'b1', 'b2'] as const

type Factors<T> = Readonly<Partial<Record<(typeof FACTORS)[number], T | undefined>>>

/** The second factors that are given. */
export const factorsOf = <T>({ b0, b1, b2 }: Factors<T>): T[] => [b0, b1, b2].filter(b => b !== undefined)

/**
 * Several products of one first factor, such as queries, keys and values of the same rows: an output for each second
 * factor. Its own kernel computes one after the other.
 * @param base the product; its operands are `a` and `b`
 */
export const joinedProducts = /* @__PURE__ */ oncePer((base: Op) =>
  defineOp({
    name: `Joined${base.name}`,
    operands: { a: 'tensor', b0: 'tensor', b1: 'tensor', b2: 'optional' },
    params: params<Parameters>(),
    shape: ({ a, ...rest }, parameters, call) =>
      factorsOf(rest).map(b => base.shape({ a, b }, parameters as Parameters, call)[0]),

    *run({ a, ...rest }, parameters, context) {
      for (const [i, b] of factorsOf<Tensor>(rest).entries()) {
        yield* base.run({ a, b }, parameters, withOutput(context, context.rawOutput(i))) ?? []
      }
    }
  })
)
