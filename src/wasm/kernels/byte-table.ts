import type { UnaryLoop } from '../../kernels/core/elementwise.ts'
import { bytesOf, quantizationOf, recodingTable } from '../../kernels/quantized/codes.ts'
import type { TableParams } from '../../op-kit/byte-table.ts'
import type { Op, Selection } from '../../op-kit/define.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { remembered } from '../remembered.ts'
import { arrayOf, type Candidate, jobKernel, selectorFor, staged } from '../selector.ts'
import { selectBinaryTable } from './byte-binary.ts'

/** Elements below which the reference is as fast, which has the table too. */
const MIN_ELEMENTS = 1 << 10
/** Codes of a type, and entries of a table of one operand. */
const CODES = 256
/** Elements of a block. */
const LINE = 1 << 15
/** Bytes that could be copied while one element is looked up. */
const WORK = 8

/** ByteTable of one operand, or of two with the dims of the result or one element; sums and products are computed. */
export const selectByteTable = selectorFor<TableParams>(call => selectBinaryTable(call) ?? tableSelection(call))

function tableSelection({ op, operands: { a, b }, dims }: Candidate<unknown>): Selection | undefined {
  const count = product(dims)
  if (!a || count < MIN_ELEMENTS) return undefined
  const [isWhole, isSecondWhole] = [a, b].map(operand => operand === undefined || product(operand.dims) === count)
  const kernel = isWhole && isSecondWhole ? elementByElement(op, count) : byOneCode(op, a, b, count)
  return kernel && { kernel, ...(op.pack && { pack: op.pack }), looksAt: [] }
}

function elementByElement(op: Op, count: number): Selection['kernel'] {
  const template = { one: templateOf(1, count), two: templateOf(2, count) }
  return jobKernel(
    op,
    ({ a, b }, packed) =>
      packed && {
        template: b ? template.two : template.one,
        inputs: [arrayOf(a!), arrayOf(b ?? a!), arrayOf(packed.table)]
      }
  )
}

/** One of two operands is a single code, which leaves a row or a column of the table for those of the other. */
function byOneCode(op: Op, a: Tensor, b: Tensor | undefined, count: number): Selection['kernel'] | undefined {
  const isFirst = product(a.dims) === 1
  if (!b || product((isFirst ? b : a).dims) !== count || product((isFirst ? a : b).dims) !== 1) return undefined
  const template = templateOf(1, count)
  return jobKernel(op, ({ a, b }, packed) => {
    const [single, codes] = isFirst ? [a!, b!] : [b!, a!]
    if (!packed) return undefined
    const [code] = bytesOf(single)
    const pairs = bytesOf(packed.table)
    const table = Uint8Array.from({ length: CODES }, (_, i) => pairs[isFirst ? code * CODES + i : i * CODES + code])
    return { template, inputs: [arrayOf(codes), arrayOf(codes), table] }
  })
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
