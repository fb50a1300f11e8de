import { axisLayout } from '../../kernels/core/axis-layout.ts'
import { quantizationOf, softmaxDivisor } from '../../kernels/quantized/codes.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { remembered } from '../remembered.ts'
import { arrayOf, jobKernel, selectorFor, staged } from '../selector.ts'
import { isByte, isSingle } from './byte-product.ts'

/** Elements below which the reference is as fast. */
const MIN_ELEMENTS = 1 << 4
/** Elements of a tile. */
const TILE = 1 << 14
/** Bytes that could be copied while one element is computed. */
const WORK = 32
/** How far codes can be apart, and one. */
const CODES = 256

/** QLinearSoftmax along the last axis. */
export const selectQLinearSoftmax = selectorFor<{ readonly axis: number; readonly flattens: boolean }>(
  ({ op, operands, parameters: { axis, flattens } }) => {
    const { x, xScale, xZero, resultScale, resultZero } = operands
    if (!x || !isByte(x.type) || product(x.dims) < MIN_ELEMENTS) return undefined
    if (![xZero, resultZero].every(zero => zero === undefined || zero.type === x.type)) return undefined
    if (![xScale, resultScale].every(scale => scale?.type === 'float32')) return undefined
    if (![xScale, xZero, resultScale, resultZero].every(isSingle)) return undefined
    const { outer, size, inner } = axisLayout(x.dims, normalizeAxis(axis, x.dims.length))
    if (inner !== 1 && !flattens) return undefined
    const n = size * inner
    const tableFor = remembered<Float64Array>()
    return {
      kernel: jobKernel(op, given => {
        const to = quantizationOf(given.resultScale!, given.resultZero)
        const { scale } = quantizationOf(given.xScale!, undefined)
        const divisor = softmaxDivisor(to.scale)
        if (!(scale > 0 && scale < Infinity && divisor > 0 && divisor < Infinity)) return undefined
        // The arguments are those of ByteSoftmaxArguments in ../assembly/int8/softmax.ts.
        const template: JobTemplate = {
          kernel: 'byteSoftmax',
          blocks: outer,
          blockBytes: n,
          tile: Math.max(1, Math.floor(TILE / n)),
          work: product(x.dims) * WORK,
          inputs: staged(2),
          outputStaging: 'whole',
          args: [Number(x.type === 'int8'), to.zero, n]
        }
        return { template, inputs: [arrayOf(given.x!), tableFor([scale, divisor], () => tableOf(scale, divisor))] }
      }),
      looksAt: ['xScale', 'xZero', 'resultScale', 'resultZero']
    }
  }
)

/** Exponentials by the distance of a code from the highest, the divisor, and the exponentials as float32. */
function tableOf(scale: number, divisor: number): Float64Array {
  const table = new Float64Array(CODES + 1 + CODES / 2)
  const singles = new Float32Array(table.buffer, (CODES + 1) * 8)
  for (let distance = 0; distance < CODES; distance++) {
    table[distance] = Math.exp(-distance * scale)
    singles[distance] = table[distance]
  }
  table[CODES] = divisor
  return table
}
