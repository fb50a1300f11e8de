import { readNumbers } from '../../kernels/core/numbers.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { params } from '../../op-kit/define.ts'
import { checkRank, sharedDim } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, is } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { Numbers } from '../../tensor/elements.ts'

interface Params {
  /** Of what differs in size, which power is summed up: 2 is that of ONNX, others are those of plans. */
  power: number
  /** Whether the square root of the sum is taken. */
  isRoot: boolean
}

/** Rules of {@link cdist}. */
export const cdistRules = defineRules({
  name: 'CDist',
  operands: { a: 'tensor', b: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      bind: { power: is(2), isRoot: choice<boolean>('metric', { sqeuclidean: false, euclidean: true }) }
    }
  ],

  shape({ a, b }) {
    checkRank('A', a, 2)
    checkRank('B', b, 2)
    sharedDim({ A: [a, 1], B: [b, 1] })
    return [tensorFact(commonType({ A: a, B: b }), a.shape && b.shape && [a.shape[0], b.shape[0]])]
  }
})

/** Distances of each row of one matrix to each row of another, Euclidean or their squares. com.microsoft CDist-1. */
export const cdist = /* @__PURE__ */ withKernel(cdistRules, {
  *run({ a, b }, { power, isRoot }, call) {
    const out = call.rawOutput().data as Numbers
    const [x, y] = [yield* readNumbers(a), yield* readNumbers(b)]
    const [count, width] = b.dims
    const pace = new Pace()
    const sumOf = power === 2 ? sumOfSquares : power === 1 ? sumOfSizes : power === 3 ? sumOfCubes : sumOfPowers
    const cost = COST.element + width * (sumOf === sumOfPowers ? COST.transcendental : COST.multiplyAdd)
    for (let i = 0, at = 0; at < out.length; i++) {
      for (let j = 0; j < count; j++, at++) {
        const sum = sumOf(x, i * width, y, j * width, width, power)
        out[at] = isRoot ? Math.sqrt(sum) : sum
        if (pace.isDue(cost)) yield
      }
    }
  }
})

/** Sums up powers of what the `n` numbers of `a` from `p` on and those of `b` from `q` on differ by. */
type SumOf = (a: Numbers, p: number, b: Numbers, q: number, n: number, power: number) => number

const sumOfSquares: SumOf = (a, p, b, q, n) => {
  let sum = 0
  for (let i = 0; i < n; i++) {
    const difference = a[p + i] - b[q + i]
    sum += difference * difference
  }
  return sum
}

const sumOfSizes: SumOf = (a, p, b, q, n) => {
  let sum = 0
  for (let i = 0; i < n; i++) sum += Math.abs(a[p + i] - b[q + i])
  return sum
}

const sumOfCubes: SumOf = (a, p, b, q, n) => {
  let sum = 0
  for (let i = 0; i < n; i++) {
    const size = Math.abs(a[p + i] - b[q + i])
    sum += size * size * size
  }
  return sum
}

const sumOfPowers: SumOf = (a, p, b, q, n, power) => {
  let sum = 0
  for (let i = 0; i < n; i++) sum += Math.abs(a[p + i] - b[q + i]) ** power
  return sum
}
