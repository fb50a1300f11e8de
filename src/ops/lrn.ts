import { fail } from '../errors.ts'
import { axisLayout, eachLine } from '../kernels/lines.ts'
import { targetOf } from '../kernels/numbers.ts'
import { isConcrete, normalizeAxes } from '../shapes/dim.ts'
import { tensorFact } from '../shapes/fact.ts'
import { toNumbers } from '../tensor/elements.ts'
import { defineOp, type Late, params } from './define.ts'
import { float, inputInts, int, is } from './sources.ts'
import { FLOATS, INDEX_TYPES } from './types.ts'

interface Params {
  axes: Late<readonly number[]>
  alpha: number
  beta: number
  bias: number
  size: number
}

const attributes = { alpha: float('alpha'), beta: float('beta'), bias: float('bias'), size: int('size') }

/**
 * `x / (bias + alpha / size^axes * sum of squares) ^ beta`; the sum goes over `floor((size - 1) / 2)` elements before and
 * `ceil((size - 1) / 2)` after each, along every axis (ONNX: the channels). Beside IR's page, whose example takes `size / 2` on both
 * sides, this gives regions of `size` elements for even sizes too, as the attribute is described.
 */
export const lrn = defineOp({
  name: 'LRN',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [{ since: 1, bind: { ...attributes, axes: is([1]) } }],
  openvino: [{ since: 1, types: { x: FLOATS, axes: INDEX_TYPES }, bind: { ...attributes, axes: inputInts(1) } }],

  shape({ x }, { axes, size }) {
    if (size < 1) fail('unknown-attribute-value', `size is ${size}; expected at least 1`)
    if (x.shape && axes !== 'unknown' && isConcrete(axes)) normalizeAxes(axes, x.shape.length)
    return [tensorFact(x.type, x.shape)]
  },

  *run({ x }, { axes, alpha, beta, bias, size }, call) {
    const numbers = toNumbers(x)
    const sums = Float64Array.from(numbers, value => value * value)
    for (const axis of normalizeAxes(axes, x.dims.length)) yield* eachLine(sums, sums, axisLayout(x.dims, axis), windowSums(size))
    const target = targetOf(call.output())
    const factor = alpha / size ** axes.length
    for (let i = 0; i < numbers.length; i++) target.numbers[i] = numbers[i] / (bias + factor * sums[i]) ** beta
    target.finish()
  }
})

/** Replaces each element of a line by the sum of the `size` around it, zeros beyond the ends. */
function windowSums(size: number): (line: Float64Array) => void {
  const before = Math.floor((size - 1) / 2)
  const after = size - 1 - before
  return line => {
    const elements = line.slice()
    for (let i = 0; i < line.length; i++) {
      const end = Math.min(line.length - 1, i + after)
      let sum = 0
      for (let k = Math.max(0, i - before); k <= end; k++) sum += elements[k]
      line[i] = sum
    }
  }
}
