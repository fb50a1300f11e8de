import type { Paced } from '../../kernels/core/pace.ts'
import { bytesOf, quantizationOf, recodingTable } from '../../kernels/quantized/codes.ts'
import type { ByteConcatParams } from '../../op-kit/byte-concat.ts'
import type { KernelContext, Op, Parameters, ValueOperands } from '../../op-kit/define.ts'
import { OPERANDS_OF_PART, quantizedParts } from '../../op-kit/quantized.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import { heapAllocate, heapFree, isOnHeap } from '../heap.ts'
import { jobWatcher } from '../job-watcher.ts'
import { type JobTemplate, runJob } from '../jobs.ts'
import { remembered } from '../remembered.ts'
import { arrayOf, selectorFor, staged } from '../selector.ts'
import { aroundAxis } from './axes.ts'
import { isByte } from './byte-product.ts'

/** Elements below which the reference is as fast, which has the tables too. */
const MIN_ELEMENTS = 1 << 10
/** Elements of a tile. */
const TILE = 1 << 15
/** Bytes that could be copied while one element is looked up. */
const WORK = 8

interface Operands {
  readonly yScale: Tensor
  readonly yZero: Tensor
  readonly parts: readonly Tensor[]
}

/** QLinearConcat of bytes: each part is written to its place, by a table or as it is. */
export const selectQLinearConcat = selectorFor<{ readonly axis: number }>(({ op, operands, parameters, dims }) => {
  const { yScale, yZero, parts } = operands as unknown as Operands
  const given = quantizedParts(parts)
  const areFloat32 = [yScale, ...given.map(([, scale]) => scale)].every(scale => scale.type === 'float32')
  const areBytes = isByte(yZero.type) && given.every(([codes]) => codes.type === yZero.type)
  if (product(dims) === 0 || !areFloat32 || !areBytes) return undefined
  const { outer, size } = aroundAxis(dims, parameters.axis, true)
  const tables = given.map(() => remembered<Tensor>())
  return {
    kernel(operands, _, context) {
      const { yScale, yZero, parts } = operands as unknown as Operands
      const to = quantizationOf(yScale, yZero)
      const recoded = quantizedParts(parts).map(([codes, scale, zero], i): Part => {
        const from = quantizationOf(scale, zero)
        // A scale that is no number differs from itself.
        const isSame = from.scale === to.scale && from.zero === to.zero && from.scale > 0 && from.scale < Infinity
        if (isSame) return { codes, table: undefined }
        const make = (): Tensor => recodingTable({ from: codes.type, to: codes.type }, from, to)
        return { codes, table: tables[i]([from.scale, from.zero, to.scale, to.zero], make) }
      })
      return joinParts(op, recoded, [outer, size], { operands, parameters, context })
    },
    looksAt: [
      'yScale',
      'yZero',
      ...given.flatMap((_, i) => [`parts ${OPERANDS_OF_PART * i + 1}`, `parts ${OPERANDS_OF_PART * i + 2}`])
    ]
  }
})

/** Concat of bytes, some of them by a table. */
export const selectByteConcat = selectorFor<ByteConcatParams>(({ op, operands, parameters, dims }) => {
  if (product(dims) < MIN_ELEMENTS) return undefined
  const { outer, size } = aroundAxis(dims, parameters.axis, true)
  const inputs = operands.inputs as unknown as readonly Tensor[]
  if (!inputs.every(({ type }) => isByte(type))) return undefined
  return {
    kernel(given, own, context) {
      const parts = (given.inputs as readonly Tensor[]).map((codes, i): Part => ({
        codes,
        table: parameters.tables[i]
      }))
      return joinParts(op, parts, [outer, size], { operands: given, parameters: own, context })
    },
    looksAt: []
  }
})

/** Codes, and those that they become where they do not stay as they are. */
interface Part {
  readonly codes: Tensor
  readonly table: Tensor | undefined
}

/** A call, which the operator's own kernel computes where the heap is full. */
interface JoinedCall {
  readonly operands: ValueOperands
  readonly parameters: Parameters
  readonly context: KernelContext
}

/** @param lines of the result, and the bytes of each */
function* joinParts(
  op: Op,
  parts: readonly Part[],
  [outer, step]: readonly [number, number],
  { operands, parameters, context }: JoinedCall
): Paced {
  const out = context.rawOutput()
  const whole = isOnHeap(arrayOf(out)) ? undefined : heapAllocate(out.data.length, { zero: false })
  const target = whole ?? (isOnHeap(arrayOf(out)) ? bytesOf(out) : undefined)
  try {
    let before = 0
    for (const part of parts) {
      const line = product(part.codes.dims) / outer
      if (!target || !(yield* put(part, { line, outer, step, before }, target, context.threads))) break
      before += line
    }
    const isDone = before === step
    if (isDone && whole) bytesOf(out).set(whole.subarray(0, out.data.length))
    if (isDone) return
  } finally {
    if (whole) heapFree(whole)
  }
  jobWatcher()?.missed()
  const rest = op.run(operands, parameters, withOutput(context, out))
  if (rest) yield* rest
}

/** Where a part lies in the result: `outer` lines, which are `step` apart, the first after so many bytes. */
interface PartLayout {
  readonly line: number
  readonly outer: number
  readonly step: number
  readonly before: number
}

/** Writes the codes of a part; false where the heap is full. */
function* put(
  { codes, table }: Part,
  { line, outer, step, before }: PartLayout,
  target: Uint8Array,
  threads: number
): Generator<void, boolean> {
  if (line === 0) return true
  const template: JobTemplate = {
    kernel: 'byteTable',
    blocks: outer,
    blockBytes: line,
    tile: Math.max(1, Math.floor(TILE / line)),
    work: outer * line * (table ? WORK : 1),
    inputs: staged(3),
    // The arguments are those of TableArguments in ../assembly/int8/table.ts.
    args: [Number(table !== undefined), line, outer * line, step, before]
  }
  const inputs = [arrayOf(codes), arrayOf(codes), arrayOf(table ?? codes)]
  return yield* runJob(template, inputs, target, threads)
}
