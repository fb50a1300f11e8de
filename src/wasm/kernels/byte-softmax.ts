import type { AxisLayout } from '../../kernels/core/axis-layout.ts'
import { copyStrided } from '../../kernels/core/copy-strided.ts'
import { quantizationOf, softmaxDivisor } from '../../kernels/quantized/codes.ts'
import type { Kernel, Op } from '../../op-kit/define.ts'
import { allocate, product, type Tensor } from '../../tensor/tensor.ts'
import { attemptKernel } from '../attempt.ts'
import type { JobTemplate } from '../jobs.ts'
import { remembered } from '../remembered.ts'
import { arrayOf, type BoundJob, jobKernel, selectorFor, staged, type TensorOperands } from '../selector.ts'
import { aroundAxis } from './axes.ts'
import { isQuantized } from './byte-pool.ts'

/** Elements below which the reference is as fast. */
const MIN_ELEMENTS = 1 << 4
/** Elements of a tile. */
const TILE = 1 << 14
/** Bytes that could be copied while one element is computed. */
const WORK = 32
/** How far codes can be apart, and one. */
const CODES = 256

/**
 * QLinearSoftmax: along the last axis rows are taken as they lie, along others they are put side by side before, and
 * back behind it.
 */
export const selectQLinearSoftmax = selectorFor<{ readonly axis: number; readonly flattens: boolean }>(
  ({ op, operands, parameters: { axis, flattens } }) => {
    const { x } = operands
    if (!x || !isQuantized(operands) || product(x.dims) < MIN_ELEMENTS) return undefined
    const layout = aroundAxis(x.dims, axis, flattens)
    const bind = binding(x, layout.size)
    if (layout.inner !== 1) return { kernel: alongColumns(op, bind, layout) }
    return {
      kernel: jobKernel(op, given => bind(given, given.x!)),
      looksAt: ['xScale', 'xZero', 'resultScale', 'resultZero']
    }
  }
)

type Binding = (given: TensorOperands, rows: Tensor) => BoundJob | undefined

/** Makes jobs for rows of `n` codes; undefined where scales have no meaning. */
function binding({ type, dims }: Tensor, n: number): Binding {
  const tableFor = remembered<Float64Array>()
  const count = product(dims)
  return ({ xScale, resultScale, resultZero }, rows) => {
    const to = quantizationOf(resultScale!, resultZero)
    const { scale } = quantizationOf(xScale!, undefined)
    const divisor = softmaxDivisor(to.scale)
    if (!(scale > 0 && scale < Infinity && divisor > 0 && divisor < Infinity)) return undefined
    // The arguments are those of ByteSoftmaxArguments in ../assembly/int8/softmax.ts.
    const template: JobTemplate = {
      kernel: 'byteSoftmax',
      blocks: count / n,
      blockBytes: n,
      tile: Math.max(1, Math.floor(TILE / n)),
      work: count * WORK,
      inputs: staged(2),
      args: [Number(type === 'int8'), to.zero, n]
    }
    return { template, inputs: [arrayOf(rows), tableFor([scale, divisor], () => tableOf(scale, divisor))] }
  }
}

/** Puts columns into rows for the job, and its rows back into columns. */
const alongColumns = (op: Op, bind: Binding, { outer, size, inner }: AxisLayout): Kernel =>
  attemptKernel(op, function* (given, toMake, { run }) {
    const out = toMake()
    const [rows, made] = [allocate(out.type, out.dims), allocate(out.type, out.dims)]
    const job = bind(given, rows)
    if (job === undefined) return false
    const whole = { count: outer, from: size * inner, to: size * inner }
    const turned = [whole, { count: inner, from: 1, to: size }, { count: size, from: inner, to: 1 }]
    yield* copyStrided(given.x!, rows, turned)
    if (!(yield* run(job.template, job.inputs, arrayOf(made)))) return false
    const back = [whole, { count: size, from: 1, to: inner }, { count: inner, from: size, to: 1 }]
    yield* copyStrided(made, out, back)
    return true
  })

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
