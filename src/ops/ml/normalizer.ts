import { axisLayout } from '../../kernels/core/axis-layout.ts'
import { type ChangeLine, eachLine } from '../../kernels/core/lines.ts'
import { readReals } from '../../kernels/core/numbers.ts'
import { COST, inChunks } from '../../kernels/core/pace.ts'
import { L1, L2, MAX, type Norm } from '../../kernels/ml/norms.ts'
import { params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { Numbers } from '../../tensor/elements.ts'

/** Rules of {@link normalizer}. */
export const normalizerRules = defineRules({
  name: 'Normalizer',
  operands: { x: 'tensor' },
  params: params<{ norm: Norm }>(),
  onnx: [{ domain: 'ai.onnx.ml', since: 1, bind: { norm: choice('norm', { MAX, L1, L2 }) } }],

  shape({ x }) {
    checkRank('the input', x, 1, 2)
    return [tensorFact('float32', x.shape)]
  }
})

/**
 * Divides each row by its largest element (not the largest magnitude, as in ONNX Runtime), its 1-norm or its 2-norm,
 * into float32. Where that is 0 the row stays as it is. A vector is one row. ai.onnx.ml Normalizer-1.
 */
export const normalizer = /* @__PURE__ */ withKernel(normalizerRules, {
  *run({ x }, { norm }, call) {
    const numbers = yield* readReals(x)
    const out = call.rawOutput().data as Float32Array
    if (out.length === 0) return
    const layout = axisLayout(x.dims, x.dims.length - 1)
    const { outer, size } = layout
    if (size > MAX_SHORT) return yield* eachLine(numbers, out, layout, divideBy(norm))
    const line = new Float64Array(size)
    const divide = (from: number, to: number): void => divideRows(numbers, line, out, norm, from, to)
    yield* inChunks(outer, divide, COST.allocation + 4 * size * COST.element)
  }
})

/** Numbers of a row up to which rows are divided one after the other, without a look at the clock in between. */
const MAX_SHORT = 1 << 14

/** @param line a row to compute with */
function divideRows(
  numbers: Numbers,
  line: Float64Array,
  out: Float32Array,
  { start, add, divisor }: Norm,
  first: number,
  end: number
): void {
  const size = line.length
  for (let row = first; row < end; row++) {
    const at = row * size
    for (let i = 0; i < size; i++) line[i] = numbers[at + i]
    const by = divisor(add(start, line, 0, size))
    if (by === 0) for (let i = 0; i < size; i++) out[at + i] = line[i]
    else for (let i = 0; i < size; i++) out[at + i] = line[i] / by
  }
}

const divideBy =
  ({ start, add, divisor }: Norm): ChangeLine =>
  line => {
    let found = start
    return [
      (from, to) => {
        found = add(from === 0 ? start : found, line, from, to)
      },
      (from, to) => {
        const by = divisor(found)
        if (by !== 0) for (let i = from; i < to; i++) line[i] /= by
      }
    ]
  }
