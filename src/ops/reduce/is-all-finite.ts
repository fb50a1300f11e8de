import { fail } from '../../errors.ts'
import { readNumbers } from '../../kernels/core/numbers.ts'
import { chunkSize, COST } from '../../kernels/core/pace.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { flag } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { Numbers } from '../../tensor/elements.ts'

interface Params {
  /** NaN counts as finite. */
  infinityOnly: boolean
  /** Infinities count as finite. */
  nanOnly: boolean
}

/** Elements that are looked at between two yields. */
const CHUNK = chunkSize(COST.element)

/**
 * Whether all elements of all tensors are finite; with one of the flags, whether none is infinite, or none is NaN. ONNX
 * Runtime, which runs this operator on GPUs only, refuses both flags at once and begins with true, so that empty
 * tensors are finite. com.microsoft IsAllFinite-1.
 */
export const isAllFinite = defineOp({
  name: 'IsAllFinite',
  operands: { inputs: 'variadic' },
  params: params<Params>(),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      bind: { infinityOnly: flag('isinf_only'), nanOnly: flag('isnan_only') }
    }
  ],

  shape(_, { infinityOnly, nanOnly }) {
    if (infinityOnly && nanOnly)
      fail('unknown-attribute-value', 'isinf_only and isnan_only are both set; neither asks for both')
    return [tensorFact('bool', [])]
  },

  *run({ inputs }, { infinityOnly, nanOnly }, call) {
    const isFound = infinityOnly ? hasInfinity : nanOnly ? hasNaN : hasEither
    const out = call.output()
    for (const input of inputs) {
      const numbers = yield* readNumbers(input)
      for (let from = 0; from < numbers.length; from += CHUNK) {
        if (isFound(numbers, from, Math.min(numbers.length, from + CHUNK))) return
        yield
      }
    }
    out.data[0] = 1
  }
})

function hasInfinity(numbers: Numbers, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (Math.abs(numbers[i]) === Infinity) return true
  return false
}

function hasNaN(numbers: Numbers, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (Number.isNaN(numbers[i])) return true
  return false
}

function hasEither(numbers: Numbers, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (!Number.isFinite(numbers[i])) return true
  return false
}
