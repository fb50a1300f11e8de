import { fail } from '../../errors.ts'
import { workTensorOf } from '../../kernels/core/numbers.ts'
import { matmul } from '../../kernels/matrix/matmul.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { commonType, NUMERIC } from '../../op-kit/types.ts'
import { maxDim, meetDims, printDim } from '../../shapes/dim.ts'
import { knownValue, type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { toDoubles } from '../../tensor/elements.ts'
import { Tensor } from '../../tensor/tensor.ts'

/** Rules of {@link groupedMatmul}. */
export const groupedMatmulRules = defineRules({
  name: 'GroupedMatMul',
  operands: { a: 'tensor', b: 'tensor', offsets: 'optional' },
  openvino: [{ since: 17, types: { a: NUMERIC, b: NUMERIC, offsets: ['int32', 'int64'] }, bind: {} }],

  shape({ a, b, offsets }) {
    const type = commonType({ mat_a: a, mat_b: b })
    checkRank('mat_a', a, offsets ? 2 : 3)
    checkRank('mat_b', b, 3)
    checkRank('offsets', offsets, 1)
    const groups = offsets ? offsets.shape?.[0] : a.shape?.[0]
    if (groups !== undefined && b.shape && meetDims(groups, b.shape[0]) === undefined)
      fail('dims-mismatch', `there are ${printDim(groups)} groups and weights for ${printDim(b.shape[0])}`)
    if (a.shape && b.shape && meetDims(a.shape[a.shape.length - 1], b.shape[2]) === undefined) {
      const [rows, weights] = [a.shape[a.shape.length - 1], b.shape[2]].map(printDim)
      fail('shape-mismatch', `rows have ${rows} elements, those of the weights ${weights}`)
    }
    return [tensorFact(type, a.shape && b.shape && [...a.shape.slice(0, -1), b.shape[1]])]
  },

  validate({ a, offsets }) {
    const ends = offsets && knownValue(offsets)
    if (ends) checkEnds(toDoubles(ends), rowsOf(a))
  }
})

/**
 * A product of matrices for each group: OpenVINO GroupedMatMul-17. Weights `[groups, columns, depth]` lie transposed,
 * as in the release of OpenVINO; earlier texts have them as `[groups, depth, columns]`. Rows are
 * `[groups, rows, depth]`, or `[rows, depth]` where `offsets` says at which row each group ends. Rows beyond the last
 * group are zero.
 */
export const groupedMatmul = /* @__PURE__ */ withKernel(groupedMatmulRules, {
  *run({ a, b, offsets }, _, call) {
    const { work, finish } = workTensorOf(call.output())
    if (offsets === undefined) yield* matmul(a, b, work, { a: false, b: true })
    else {
      const ends = toDoubles(offsets)
      checkEnds(ends, a.dims[0])
      let start = 0
      for (const [group, end] of ends.entries()) {
        const weights = sliced(b, group, group + 1)
        if (end > start)
          yield* matmul(
            sliced(a, start, end),
            new Tensor(weights.type, weights.data, b.dims.slice(1)),
            sliced(work, start, end),
            { a: false, b: true }
          )
        start = end
      }
    }
    yield* finish()
  }
})

const rowsOf = ({ shape }: TensorFact): number => (shape ? maxDim(shape[0]) : Infinity)

/** Rows `[from, to)` along axis 0, sharing the memory. */
function sliced({ type, data, dims }: Tensor, from: number, to: number): Tensor {
  const row = dims.slice(1).reduce((count, dim) => count * dim, 1)
  return new Tensor(type, (data as Float32Array).subarray(from * row, to * row), [to - from, ...dims.slice(1)])
}

function checkEnds(ends: ArrayLike<number>, rows: number): void {
  for (let i = 0, start = 0; i < ends.length; start = ends[i++])
    if (!(ends[i] >= start && ends[i] <= rows))
      fail('value-out-of-range', `offsets[${i}] is ${ends[i]}; expected ${start}..${rows}, as groups follow each other`)
}
