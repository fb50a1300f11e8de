import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, jobKernel, selectorFor, staged } from '../selector.ts'

/** Elements below which the reference is as fast. */
const MIN_ELEMENTS = 1 << 10
/** Elements of a block. */
const LINE = 1 << 15
/** Bytes that could be copied while one element is looked up. */
const WORK = 8

/** ByteTable of one operand, or of two with the dims of the result. */
export const selectByteTable = selectorFor<unknown>(({ op, operands: { a, b }, dims }) => {
  const count = product(dims)
  const areWhole = [a, b].every(operand => operand === undefined || product(operand.dims) === count)
  if (!areWhole || count < MIN_ELEMENTS) return undefined
  // The arguments are those of TableArguments in ../assembly/int8/table.ts.
  const template: JobTemplate = {
    kernel: 'byteTable',
    blocks: Math.ceil(count / LINE),
    blockBytes: LINE,
    tile: 1,
    work: count * WORK,
    inputs: staged(3),
    outputStaging: 'whole',
    args: [Number(b !== undefined), LINE, count]
  }
  const kernel = jobKernel(
    op,
    (given, packed) =>
      packed && { template, inputs: [arrayOf(given.a!), arrayOf(given.b ?? given.a!), arrayOf(packed.table)] }
  )
  return { kernel, ...(op.pack && { pack: op.pack }) }
})
