import { axisLayout } from '../../kernels/core/axis-layout.ts'
import type { Paced } from '../../kernels/core/pace.ts'
import { bytesOf, type Quantization, quantizationOf, recodingTable } from '../../kernels/quantized/codes.ts'
import { quantizedParts } from '../../op-kit/quantized.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import { heapAllocate, heapFree, isOnHeap } from '../heap.ts'
import { type JobTemplate, runAtOnce, runJob } from '../jobs.ts'
import { arrayOf, selectorFor, staged } from '../selector.ts'
import { isByte } from './byte-product.ts'

/** Elements below which the reference is as fast. */
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
  if (product(dims) < MIN_ELEMENTS || !areFloat32 || !areBytes) return undefined
  const { outer, size, inner } = axisLayout(dims, normalizeAxis(parameters.axis, dims.length))
  return {
    *kernel(operands, parameters, context): Paced {
      const { yScale, yZero, parts } = operands as unknown as Operands
      const to = quantizationOf(yScale, yZero)
      const out = context.rawOutput()
      const whole = isOnHeap(arrayOf(out)) ? undefined : heapAllocate(product(dims), { zero: false })
      const target = whole ?? (isOnHeap(arrayOf(out)) ? bytesOf(out) : undefined)
      try {
        let before = 0
        for (const [codes, scale, zero] of quantizedParts(parts)) {
          const line = product(codes.dims) / outer
          const place = { line, outer, step: size * inner, before }
          if (!target || !(yield* put(codes, quantizationOf(scale, zero), to, place, target, context.threads))) break
          before += line
        }
        const isDone = before === size * inner
        if (isDone && whole) bytesOf(out).set(whole.subarray(0, out.data.length))
        if (isDone) return
      } finally {
        if (whole) heapFree(whole)
      }
      const rest = op.run(operands, parameters, withOutput(context, out))
      if (rest) yield* rest
    }
  }
})

/** Where a part lies in the result: `outer` lines, which are `step` apart, the first after so many bytes. */
interface Place {
  readonly line: number
  readonly outer: number
  readonly step: number
  readonly before: number
}

/** Writes the codes of a part; false where the heap is full. */
function* put(
  codes: Tensor,
  from: Quantization,
  to: Quantization,
  { line, outer, step, before }: Place,
  target: Uint8Array,
  threads: number
): Generator<void, boolean> {
  if (line === 0) return true
  // A scale that is no number differs from itself.
  const isSame = from.scale === to.scale && from.zero === to.zero && from.scale > 0 && from.scale < Infinity
  const table = isSame ? codes : recodingTable({ from: codes.type, to: codes.type }, from, to)
  const template: JobTemplate = {
    kernel: 'byteTable',
    blocks: outer,
    blockBytes: line,
    tile: Math.max(1, Math.floor(TILE / line)),
    work: outer * line * (isSame ? 1 : WORK),
    inputs: staged(3),
    outputStaging: 'whole',
    // The arguments are those of TableArguments in ../assembly/int8/table.ts.
    args: [isSame ? 0 : 1, line, outer * line, step, before]
  }
  const inputs = [arrayOf(codes), arrayOf(codes), arrayOf(table)]
  if (runAtOnce(template, inputs, target)) return true
  return (yield* runJob(template, inputs, target, threads)) === 'done'
}
