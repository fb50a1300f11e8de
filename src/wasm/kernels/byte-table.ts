import type { UnaryLoop } from '../../kernels/core/elementwise.ts'
import { quantizationOf, recodingTable } from '../../kernels/quantized/codes.ts'
import type { TableParams } from '../../op-kit/byte-table.ts'
import type { Selection } from '../../op-kit/define.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { remembered } from '../remembered.ts'
import { arrayOf, type Candidate, jobKernel, selectorFor, staged } from '../selector.ts'
import { selectBinaryTable } from './byte-binary.ts'

/** Elements below which the reference is as fast, which has the table too. */
const MIN_ELEMENTS = 1 << 10
/** Elements of a block. */
const LINE = 1 << 15
/** Bytes that could be copied while one element is looked up. */
const WORK = 8

/** ByteTable of one operand, or of two with the dims of the result; sums and products are computed. */
export const selectByteTable = selectorFor<TableParams>(call => selectBinaryTable(call) ?? tableSelection(call))

function tableSelection({ op, operands: { a, b }, dims }: Candidate<unknown>): Selection | undefined {
  const count = product(dims)
  const areWhole = [a, b].every(operand => operand === undefined || product(operand.dims) === count)
  if (!areWhole || count < MIN_ELEMENTS) return undefined
  const template = templateOf(b === undefined ? 1 : 2, count)
  const kernel = jobKernel(
    op,
    (given, packed) =>
      packed && { template, inputs: [arrayOf(given.a!), arrayOf(given.b ?? given.a!), arrayOf(packed.table)] }
  )
  return { kernel, ...(op.pack && { pack: op.pack }), looksAt: [] }
}

/** QLinearSigmoid and QLinearLeakyRelu. */
export const selectRecoding = selectorFor<{ readonly loop: UnaryLoop }>(({ op, operands: { x }, parameters, dims }) => {
  const count = product(dims)
  if (!x || count === 0) return undefined
  const { type } = x
  const template = templateOf(1, count)
  const tableFor = remembered<Tensor>()
  return {
    kernel: jobKernel(op, ({ x, xScale, xZero, yScale, yZero }) => {
      const [from, to] = [quantizationOf(xScale!, xZero), quantizationOf(yScale!, yZero)]
      const table = tableFor([from.scale, from.zero, to.scale, to.zero], () =>
        recodingTable({ from: type, to: type }, from, to, parameters.loop)
      )
      return { template, inputs: [arrayOf(x!), arrayOf(x!), arrayOf(table)] }
    }),
    looksAt: ['xScale', 'xZero', 'yScale', 'yZero']
  }
})

/** The arguments are those of TableArguments in ../assembly/int8/table.ts. */
const templateOf = (operands: number, count: number): JobTemplate => ({
  kernel: 'byteTable',
  blocks: Math.ceil(count / LINE),
  blockBytes: LINE,
  tile: 1,
  work: count * WORK,
  inputs: staged(3),
  outputStaging: 'whole',
  args: [operands, LINE, count, LINE, 0]
})
