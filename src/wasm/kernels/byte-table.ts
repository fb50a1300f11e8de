import type { UnaryLoop } from '../../kernels/core/elementwise.ts'
import { quantizationOf, recodingTable } from '../../kernels/quantized/codes.ts'
import type { TableParams } from '../../op-kit/byte-table.ts'
import type { Selection } from '../../op-kit/define.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { remembered } from '../remembered.ts'
import { arrayOf, type Candidate, jobKernel, selectorFor, staged } from '../selector.ts'
import { pairTemplate, selectBinaryTable } from './byte-binary.ts'

/** Elements below which the reference is as fast, which has the table too. */
const MIN_ELEMENTS = 1 << 10
/** Elements of a block. */
const LINE = 1 << 15
/** Bytes that could be copied while one element is looked up. */
const WORK = 8

/** ByteTable; sums and products of two operands are computed. */
export const selectByteTable = selectorFor<TableParams>(call => {
  const table = tableSelection(call)
  return selectBinaryTable(call, table) ?? table
})

function tableSelection({ op, operands: { a, b }, dims }: Candidate<unknown>): Selection | undefined {
  const count = product(dims)
  const template = a && b ? pairsTemplate([a.dims, b.dims], dims) : templateOf(count)
  if (!a || count < MIN_ELEMENTS || template === undefined) return undefined
  const kernel = jobKernel(
    op,
    ({ a, b }, packed) => packed && { template, inputs: [arrayOf(a!), arrayOf(b ?? a!), arrayOf(packed.table)] }
  )
  return { kernel, ...(op.pack && { pack: op.pack }), looksAt: [] }
}

/** QLinearSigmoid and QLinearLeakyRelu. */
export const selectRecoding = selectorFor<{ readonly loop: UnaryLoop }>(({ op, operands: { x }, parameters, dims }) => {
  const count = product(dims)
  if (!x || count === 0) return undefined
  const { type } = x
  const template = templateOf(count)
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

/** One operand. The arguments are those of TableArguments in ../assembly/int8/table.ts. */
const templateOf = (count: number): JobTemplate => ({
  kernel: 'byteTable',
  blocks: Math.ceil(count / LINE),
  blockBytes: LINE,
  tile: 1,
  work: count * WORK,
  inputs: staged(3),
  args: [1, LINE, count, LINE, 0]
})

/** Two operands, broadcast; undefined where there are more loops than arguments have room for. */
function pairsTemplate(operands: readonly (readonly number[])[], dims: readonly number[]): JobTemplate | undefined {
  const template = pairTemplate('byteTable', operands, dims, { tile: LINE, work: WORK })
  const [line, ...loops] = template?.args ?? []
  return template && { ...template, args: [2, line, 0, 0, 0, ...loops] }
}
