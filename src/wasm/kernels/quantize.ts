import type { Paced } from '../../kernels/core/pace.ts'
import type { Quantization } from '../../kernels/quantized/codes.ts'
import { quantizationOfRange, quantizeByRange } from '../../kernels/quantized/dynamic.ts'
import type { Op, Selection } from '../../op-kit/define.ts'
import type { Granularity } from '../../op-kit/granularity.ts'
import type { RoundedParams } from '../../op-kit/rounded-codes.ts'
import { type DType, DTYPES, isFloat, isHalf } from '../../tensor/dtype.ts'
import { allocate, product, Tensor } from '../../tensor/tensor.ts'
import { attemptKernel } from '../attempt.ts'
import { isOnHeap } from '../heap.ts'
import { runAtOnce, runJob } from '../jobs.ts'
import { arrayOf, type Candidate, jobKernel, selectorFor } from '../selector.ts'
import { bindByteProduct, byteProductOf, type Finish, isOfColumns, packProduct, productMemory } from './byte-product.ts'
import { codesOf, isCode, LINE, linesTemplate, type Made } from './code-jobs.ts'
import { codesLayout, layoutOfOne } from './code-layout.ts'

/** Floats that the kernels read and write. */
const isNarrow = (type: DType): boolean => type === 'float32' || isHalf(type)
const isScale = (type: DType): boolean => isNarrow(type) || type === 'float8e8m0'

interface Params extends Granularity {
  readonly to?: DType | undefined
  readonly precision?: DType | undefined
  readonly saturates?: boolean
}

/** QuantizeLinear to up to 16 bits, where quotients of float32 are those of doubles, rounded. */
export const selectQuantizeLinear = selectorFor<Params>(({ op, operands: { x, scale, zero }, parameters: p }) => {
  if (!x || !scale || !isNarrow(x.type) || !isScale(scale.type)) return undefined
  const quotients = p.precision ?? (scale.type === 'float8e8m0' ? 'float32' : scale.type)
  if (quotients !== 'float32' && !(isHalf(quotients) && isHalf(x.type) && isHalf(scale.type))) return undefined
  const to = zero?.type ?? p.to ?? 'uint8'
  // Subnormal numbers of float16 have fewer digits.
  if (isFloat(to) && quotients === 'float16') return undefined
  const { saturates } = p
  return codesSelection(op, { kernel: 'quantize', type: to, numbers: x.type, quotients, saturates }, x.dims, scale, p)
})

/** DequantizeLinear of integers, where float32 holds products that are rounded to 16 bits. */
export const selectDequantizeLinear = selectorFor<Params>(call => selectNumbers(call, true))

/** DequantizeLinear of integers. Numbers of 16 bits are rounded to float32 first. */
export const selectRoundedDequantizeLinear = selectorFor<Params>(call => selectNumbers(call, false))

function selectNumbers({ op, operands, parameters: p }: Candidate<Params>, isExact: boolean): Selection | undefined {
  const { x, scale, zero } = operands
  if (!x || !scale || !isScale(scale.type) || (zero && zero.type !== x.type)) return undefined
  const to = p.to ?? scale.type
  const isShort = DTYPES[x.type].bits <= 8 && scale.type !== 'float32'
  if (!isNarrow(to) || (isExact && isHalf(to) && !isShort)) return undefined
  return codesSelection(op, { kernel: 'dequantize', type: x.type, numbers: to }, x.dims, scale, p)
}

function codesSelection(
  op: Op,
  made: Made,
  dims: readonly number[],
  scale: Tensor,
  granularity: Granularity
): Selection | undefined {
  const layout = codesLayout(dims, scale, granularity)
  const { type, kernel } = made
  if (layout === undefined || !isCode(type)) return undefined
  const isOfFloats = isFloat(type)
  if (kernel === 'quantize' ? type === 'int32' : isOfFloats) return undefined
  const codes = codesOf(made, layout)
  return {
    kernel: jobKernel(op, ({ x, scale, zero }) => {
      const zeros = zero && arrayOf(zero)
      // The reference adds zero points to floats.
      if (isOfFloats && zeros?.some(code => code !== 0)) return undefined
      return codes(arrayOf(x!), scale!, zeros)
    }),
    looksAt: scale.type === 'float32' ? ['zero'] : ['zero', 'scale']
  }
}

/** RoundedCodes, with one scale. */
export const selectRoundedCodes = selectorFor<RoundedParams>(({ op, operands: { x, scale }, parameters: { type } }) => {
  const count = x?.type === 'float32' && scale?.type === 'float32' ? product(x.dims) : 0
  if (count === 0 || !isCode(type) || type === 'int32' || isFloat(type)) return undefined
  const levels = codesOf({ kernel: 'roundCodes', type, numbers: 'float32' }, layoutOfOne(count))
  return {
    kernel: jobKernel(op, ({ x, scale, zero }) => levels(arrayOf(x!), scale!, zero && arrayOf(zero))),
    looksAt: ['zero']
  }
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
  if (!(yield* runJob(template, [numbers], ranges, threads))) return yield* quantizeByRange(x, codes)
  let [low, high] = [0, 0]
  for (let i = 0; i < ranges.length; i += 2) {
    low = Math.min(low, ranges[i])
    high = Math.max(high, ranges[i + 1])
  }
  const found = quantizationOfRange(low, high)
  // Ranges that are infinite or no numbers, or so narrow that the scale is 0, have codes that only the reference knows.
  if (Number.isNaN(found.zero)) return yield* quantizeByRange(x, codes)
  const scale = new Tensor('float32', [found.scale], [])
  const codesJob = codesOf({ kernel: 'quantize', type: 'uint8', numbers: 'float32' }, layoutOfOne(count))
  const job = codesJob(numbers, scale, Uint8Array.of(found.zero))
  if (yield* runJob(job.template, job.inputs, arrayOf(codes), threads)) return found
  return yield* quantizeByRange(x, codes)
}

/** DynamicQuantizeMatMul of float32 and bytes. */
export const selectDynamicQuantizeMatMul = selectorFor<unknown>(({ op, operands: { a, b, bScale, bZero, bias } }) => {
  const product = a?.type === 'float32' && b ? byteProductOf({ type: 'uint8', dims: a.dims }, b) : undefined
  if (!product || ![bScale, bZero, bias].every(list => isOfColumns(list, product.found.n))) return undefined
  const memory = productMemory()
  const listed = Object.entries({ bScale, bZero, bias }).flatMap(([name, list]) => (list ? [name] : []))
  return {
    kernel: attemptKernel(op, function* ({ a, b, bScale, bZero, bias }, out, { run }, { packed, threads }) {
      const y = arrayOf(out())
      const codes = allocate('uint8', a!.dims)
      const { scale, zero } = yield* quantized(a!, codes, threads)
      const factors = { a: codes, b: b!, packs: packed }
      const finish: Finish = {
        aZero: new Tensor('uint8', [zero], []),
        bZero,
        scales: { a: new Tensor('float32', [scale], []), b: bScale! },
        bias
      }
      const { template, inputs } = bindByteProduct(product, factors, 'float32', finish, memory)
      return yield* run(template, inputs, y)
    }),
    pack: packProduct(op, product, listed, ({ bZero, bias }) => ({ aZero: undefined, bZero, bias }))
  }
})
