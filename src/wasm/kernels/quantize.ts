import { axisLayout } from '../../kernels/core/axis-layout.ts'
import type { Paced } from '../../kernels/core/pace.ts'
import type { Quantization } from '../../kernels/quantized/codes.ts'
import { quantizationOfRange, quantizeByRange } from '../../kernels/quantized/dynamic.ts'
import type { Granularity } from '../../op-kit/granularity.ts'
import type { RoundedParams } from '../../op-kit/rounded-codes.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import type { DType, NumericArray } from '../../tensor/dtype.ts'
import { allocate, product, Tensor } from '../../tensor/tensor.ts'
import { isOnHeap } from '../heap.ts'
import { type JobTemplate, runAtOnce } from '../jobs.ts'
import { arrayOf, type BoundJob, jobKernel, runHere, selectorFor, staged } from '../selector.ts'
import { bindByteProduct, byteProductOf, type Finish, isOfColumns, packProduct, productMemory } from './byte-product.ts'

/** Elements of a line where there is one scale for all, and of a tile. */
const LINE = 1 << 14
/** Bytes that could be copied while one element is quantized. */
const WORK = 8

interface Params extends Granularity {
  readonly to?: DType | undefined
  readonly precision?: DType | undefined
}

/** Types of codes, by their numbers in ../assembly/int8/codes.ts. */
const CODES: readonly DType[] = ['uint8', 'int8', 'uint16', 'int16']

/** QuantizeLinear of float32 to 8 or 16 bits, with one scale or one for each position along an axis. */
export const selectQuantizeLinear = selectorFor<Params>(({ op, operands, parameters: p }) => {
  const { x, scale, zero } = operands
  if (x?.type !== 'float32' || scale?.type !== 'float32' || (p.precision ?? 'float32') !== 'float32') return undefined
  const to = zero?.type ?? p.to ?? 'uint8'
  const layout = layoutOf(x.dims, scale, p)
  if (!CODES.includes(to) || layout === undefined) return undefined
  const codes = codesOf('quantize', to, layout)
  return {
    kernel: jobKernel(op, ({ x, scale, zero }) => codes(arrayOf(x!), arrayOf(scale!), zero && arrayOf(zero))),
    looksAt: ['zero']
  }
})

/** DequantizeLinear of 8 or 16 bits to float32, with one scale or one for each position along an axis. */
export const selectDequantizeLinear = selectorFor<Params>(({ op, operands, parameters: p }) => {
  const { x, scale, zero } = operands
  if (!x || !CODES.includes(x.type) || scale?.type !== 'float32' || (p.to ?? 'float32') !== 'float32') return undefined
  if (zero && zero.type !== x.type) return undefined
  const layout = layoutOf(x.dims, scale, p)
  if (layout === undefined) return undefined
  const codes = codesOf('dequantize', x.type, layout)
  return {
    kernel: jobKernel(op, ({ x, scale, zero }) => codes(arrayOf(x!), arrayOf(scale!), zero && arrayOf(zero))),
    looksAt: ['zero']
  }
})

/** RoundedCodes, with one scale. */
export const selectRoundedCodes = selectorFor<RoundedParams>(({ op, operands: { x, scale }, parameters: { type } }) => {
  const count = x?.type === 'float32' && scale?.type === 'float32' ? product(x.dims) : 0
  if (count === 0 || !CODES.includes(type)) return undefined
  const levels = codesOf('roundCodes', type, { count, line: LINE, channels: 1, isByElement: false })
  return {
    kernel: jobKernel(op, ({ x, scale, zero }) => levels(arrayOf(x!), arrayOf(scale!), zero && arrayOf(zero))),
    looksAt: ['zero']
  }
})

/** Elements in lines; the lines take the scales in turn, or the elements of each line do. */
interface Layout {
  readonly count: number
  readonly line: number
  readonly channels: number
  readonly isByElement: boolean
}

function layoutOf(dims: readonly number[], scale: Tensor, { axis, blockSize }: Granularity): Layout | undefined {
  const count = product(dims)
  if (count === 0) return undefined
  if (product(scale.dims) === 1) return { count, line: LINE, channels: 1, isByElement: false }
  if (axis === undefined) return undefined
  const { size, inner } = axisLayout(dims, normalizeAxis(axis, dims.length))
  // Blocks side by side are lines.
  const isWhole = inner === 1 && size % blockSize === 0
  if (blockSize !== 0)
    return isWhole ? { count, line: blockSize, channels: count / blockSize, isByElement: false } : undefined
  return inner === 1
    ? { count, line: size, channels: size, isByElement: true }
    : { count, line: inner, channels: size, isByElement: false }
}

type BindCodes = (x: NumericArray, scales: NumericArray, zeros: NumericArray | undefined) => BoundJob

/**
 * Makes jobs, each of which must run before the next is made: they share the array of zero points. The arguments are
 * those of CodesArguments in ../assembly/int8/codes.ts.
 */
function codesOf(
  kernel: 'quantize' | 'dequantize' | 'roundCodes',
  type: DType,
  { count, line, channels, isByElement }: Layout
): BindCodes {
  const points = new Int32Array(channels)
  const args = [line, count, channels, Number(isByElement), CODES.indexOf(type)]
  const template = linesTemplate(kernel, count, line, 3, args)
  return (x, scales, zeros) => {
    if (zeros === undefined) points.fill(0)
    else points.set(zeros as Uint8Array)
    return { template, inputs: [x, scales, points] }
  }
}

const linesTemplate = (
  kernel: JobTemplate['kernel'],
  count: number,
  line: number,
  inputs: number,
  args: readonly number[]
): JobTemplate => ({
  kernel,
  blocks: Math.ceil(count / line),
  blockBytes: line * 4,
  tile: Math.max(1, Math.floor(LINE / line)),
  work: count * WORK,
  inputs: staged(inputs),
  outputStaging: 'whole',
  args
})

/** Elements from which on the range is found and numbers are quantized by jobs that threads share. */
const MIN_LINES = 1 << 15

/** DynamicQuantizeLinear. */
export const selectDynamicQuantizeLinear = selectorFor<unknown>(({ operands: { x } }) => {
  const count = x?.type === 'float32' ? product(x.dims) : 0
  if (count === 0) return undefined
  const together = linesTemplate('dynamicCodes', count, count, 3, [count])
  return {
    kernel: ({ x }, _, context) => {
      const outputs = [context.rawOutput(), context.rawOutput(1), context.rawOutput(2)]
      const [codes, scale, zero] = outputs.map(arrayOf)
      // What a job writes beside its output has to lie on the heap.
      const isOneJob = count < MIN_LINES && isOnHeap(scale) && isOnHeap(zero)
      if (isOneJob && runAtOnce(together, [arrayOf(x as Tensor), scale, zero], codes, context.threads)) return undefined
      return byLines(x as Tensor, outputs, context.threads)
    },
    looksAt: []
  }
})

function* byLines(x: Tensor, [codes, scale, zero]: readonly Tensor[], threads: number): Paced {
  const found = yield* quantized(x, codes, threads)
  scale.data[0] = found.scale
  zero.data[0] = found.zero
}

/** `quantizeByRange`, by jobs where the heap has room. */
function* quantized(x: Tensor, codes: Tensor, threads: number): Generator<void, Quantization> {
  const numbers = arrayOf(x)
  const count = numbers.length
  const ranges = new Float32Array(2 * Math.ceil(count / LINE))
  const template = linesTemplate('range', count, LINE, 1, [LINE, count])
  if (!(yield* runHere(template, [numbers], ranges, threads))) return yield* quantizeByRange(x, codes)
  let [low, high] = [0, 0]
  for (let i = 0; i < ranges.length; i += 2) {
    low = Math.min(low, ranges[i])
    high = Math.max(high, ranges[i + 1])
  }
  const found = quantizationOfRange(low, high)
  // Ranges that are infinite or no numbers, or so narrow that the scale is 0, have codes that only the reference knows.
  if (Number.isNaN(found.zero)) return yield* quantizeByRange(x, codes)
  const layout = { count, line: LINE, channels: 1, isByElement: false }
  const scale = Float32Array.of(found.scale)
  const job = codesOf('quantize', 'uint8', layout)(numbers, scale, Uint8Array.of(found.zero))
  if (yield* runHere(job.template, job.inputs, arrayOf(codes), threads)) return found
  return yield* quantizeByRange(x, codes)
}

/** DynamicQuantizeMatMul of float32 and bytes. */
export const selectDynamicQuantizeMatMul = selectorFor<unknown>(({ op, operands: { a, b, bScale, bZero, bias } }) => {
  const product = a?.type === 'float32' && b ? byteProductOf({ type: 'uint8', dims: a.dims }, b) : undefined
  if (!product || ![bScale, bZero, bias].every(list => isOfColumns(list, product.found.n))) return undefined
  const memory = productMemory()
  const listed = Object.entries({ bScale, bZero, bias }).flatMap(([name, list]) => (list ? [name] : []))
  return {
    *kernel(operands, parameters, context): Paced {
      const { a, b, bScale, bZero, bias } = operands as Readonly<Record<string, Tensor | undefined>>
      const out = context.rawOutput()
      const codes = allocate('uint8', a!.dims)
      const { scale, zero } = yield* quantized(a!, codes, context.threads)
      const factors = { a: codes, b: b!, packs: context.packed }
      const finish: Finish = {
        aZero: new Tensor('uint8', [zero], []),
        bZero,
        scales: { a: new Tensor('float32', [scale], []), b: bScale! },
        bias
      }
      const { template, inputs } = bindByteProduct(product, factors, 'float32', finish, memory)
      if (yield* runHere(template, inputs, arrayOf(out), context.threads)) return
      const rest = op.run(operands, parameters, withOutput(context, out))
      if (rest) yield* rest
    },
    pack: packProduct(op, product, listed, ({ bZero, bias }) => ({ aZero: undefined, bZero, bias }))
  }
})
