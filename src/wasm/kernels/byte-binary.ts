import { quantizationOf } from '../../kernels/quantized/codes.ts'
import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, type BoundJob, floatBits, jobKernel, selectorFor, staged, type TensorOperands } from '../selector.ts'
import { broadcastLoops, lineBlocks } from './broadcast-loops.ts'
import { isByte, isSingle } from './byte-product.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 6
/** Elements of a tile. */
const TILE = 1 << 16
/** Bytes that could be copied while one element is computed. */
const WORK = 4
/** Quotients of scales above which sums of float32 could overflow. */
const MAX_FACTOR = 2 ** 40
/** The largest difference of a code and a zero point. */
const REACH = 255

/** Numbers of the functions in ../assembly/int8/binary.ts. */
const KINDS = { add: 0, multiply: 1 } as const

/** QLinearAdd and QLinearMul, broadcast by NumPy's rules. */
export const selectQLinearBinary = (kind: keyof typeof KINDS): ReturnType<typeof selectorFor> =>
  selectorFor<unknown>(({ op, operands, dims }) => {
    const { a, b, aScale, aZero, bScale, bZero, resultScale, resultZero } = operands
    if (!a || !b || !isByte(a.type) || product(dims) < MIN_ELEMENTS) return undefined
    if (![b, aZero, bZero, resultZero].every(tensor => tensor === undefined || tensor.type === a.type)) return undefined
    const scales = [aScale, bScale, resultScale]
    if (!scales.every(scale => scale?.type === 'float32') || ![...scales, aZero, bZero, resultZero].every(isSingle))
      return undefined
    const template = templateOf(a.dims, b.dims, dims)
    return template && { kernel: jobKernel(op, given => bind(kind, template, given)) }
  })

/** The loops as arguments; those before them are of each run. */
function templateOf(
  aDims: readonly number[],
  bDims: readonly number[],
  dims: readonly number[]
): JobTemplate | undefined {
  const strided = [aDims, bDims].map(own => ({ dims: own, width: 1 }))
  const loops = lineBlocks(broadcastLoops(strided, dims), 1, TILE)
  if (loops === undefined) return undefined
  const { inner, outerArguments, blocks, blockBytes, tile, elements } = loops
  return {
    kernel: 'byteBinary',
    blocks,
    blockBytes,
    tile,
    work: elements * WORK,
    inputs: staged(3),
    outputStaging: 'whole',
    args: [inner.size, ...inner.steps, ...outerArguments]
  }
}

/**
 * The arguments are those of ByteBinaryArguments in ../assembly/int8/binary.ts, which says where the limit comes from.
 * @returns undefined where float32 cannot hold what the scales make of codes
 */
function bind(kind: keyof typeof KINDS, template: JobTemplate, given: TensorOperands): BoundJob | undefined {
  const { a, b, aScale, aZero, bScale, bZero, resultScale, resultZero } = given
  const [first, second] = [quantizationOf(aScale!, aZero), quantizationOf(bScale!, bZero)]
  const result = quantizationOf(resultScale!, resultZero)
  const isSum = kind === 'add'
  const factors = isSum
    ? [first.scale / result.scale, second.scale / result.scale]
    : [(first.scale * second.scale) / result.scale, 0]
  // False also where one is no number.
  if (!factors.every(factor => Math.abs(factor) < MAX_FACTOR)) return undefined
  const largest = isSum ? REACH * (Math.abs(factors[0]) + Math.abs(factors[1])) : REACH + 1
  const args = [
    KINDS[kind],
    Number(a!.type === 'int8'),
    ...[first, second, result].map(({ zero }) => zero),
    ...[...factors, 0.5 - 2 ** -21 * (largest + 1)].map(floatBits),
    ...template.args
  ]
  const scales = Float64Array.of(first.scale, second.scale, result.scale)
  return { template: { ...template, args }, inputs: [arrayOf(a!), arrayOf(b!), scales] }
}
