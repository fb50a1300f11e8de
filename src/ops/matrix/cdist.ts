import { readNumbers } from '../../kernels/core/numbers.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { params } from '../../op-kit/define.ts'
import { checkRank, sharedDim } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { Numbers } from '../../tensor/elements.ts'

interface Params {
  /** Whether the root of the sum of squares is taken. */
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
      bind: { isRoot: choice<boolean>('metric', { sqeuclidean: false, euclidean: true }) }
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
  *run({ a, b }, { isRoot }, call) {
    const out = call.rawOutput().data as Numbers
    const [x, y] = [yield* readNumbers(a), yield* readNumbers(b)]
    const [count, width] = b.dims
    const pace = new Pace()
    const cost = COST.element + width * COST.multiplyAdd
    for (let i = 0, at = 0; at < out.length; i++) {
      for (let j = 0; j < count; j++, at++) {
        const sum = squaredDistance(x, i * width, y, j * width, width)
        out[at] = isRoot ? Math.sqrt(sum) : sum
        if (pace.isDue(cost)) yield
      }
    }
  }
})

function squaredDistance(a: Numbers, p: number, b: Numbers, q: number, n: number): number {
  let sum = 0
  for (let i = 0; i < n; i++) {
    const difference = a[p + i] - b[q + i]
    sum += difference * difference
  }
  return sum
}
