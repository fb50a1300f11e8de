import { channelsFirst, channelsFirstDims } from '../../op-kit/channels-last.ts'
import type { Kernel, Pack, Parameters } from '../../op-kit/define.ts'
import type { PackContext } from '../../op-kit/pack-context.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import { unreadTensor } from '../../tensor/unread.ts'
import { workFor } from '../attempt.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, selectorFor, type TensorOperands } from '../selector.ts'
import type { FusedConvParams } from './conv-template.ts'
import { selectConv } from './conv.ts'
import { matrixTemplate } from './transpose.ts'

/** NhwcConv of float32: Conv between jobs that move the channels to the front and back. */
export const selectNhwcConv = selectorFor<FusedConvParams>(({ op, operands, parameters, dims }) => {
  const { x, w } = operands
  if (x === undefined || w === undefined || dims.length < 3) return undefined
  const [planeDims, weightDims, madeDims] = [x.dims, w.dims, dims].map(channelsFirstDims)
  // Selectors look at types and dims only, and kernels at what is packed.
  const turned = (tensor: Tensor, own: readonly number[]): Tensor =>
    unreadTensor({ type: tensor.type, dims: own }, () => tensor)
  const inner = selectConv({
    op: { ...op, run: values => void leftUndone.add(values) },
    operands: { ...operands, x: turned(x, planeDims), w: turned(w, weightDims) },
    parameters: parameters as unknown as Parameters,
    dims: madeDims
  })
  const toPlanes = turn(planeDims[0], product(planeDims, 2), planeDims[1])
  const back = turn(madeDims[0], madeDims[1], product(madeDims, 2))
  const run = inner?.kernel
  if (inner === undefined || run === undefined || toPlanes === undefined || back === undefined) return undefined
  const kernel: Kernel = function* (given, params, context) {
    const work = workFor(context)
    const t = given as TensorOperands
    const out = context.rawOutput()
    try {
      const data = work.allocate(product(planeDims))
      const made = new Tensor('float32', work.allocate(product(madeDims)), madeDims)
      if (yield* work.run(toPlanes, [arrayOf(t.x!)], data)) {
        const w = context.packed?.w ? turned(t.w!, weightDims) : yield* channelsFirst(t.w!)
        const values = { ...given, x: new Tensor('float32', data, planeDims), w }
        const rest = run(values, params, { ...withOutput(context, made), packed: context.packed })
        if (rest) yield* rest
        if (!leftUndone.has(values) && (yield* work.run(back, [arrayOf(made)], arrayOf(out)))) return
      }
    } finally {
      work.free()
    }
    const rest = op.run(given, params, withOutput(context, out))
    if (rest) yield* rest
  }
  const pack: Pack = function* ({ w: constant }, params, context) {
    if (constant?.type !== 'float32') return undefined
    const moved = yield* channelsFirst(constant)
    // What may be taken over is in the other order.
    const memory: PackContext = {
      threads: context.threads,
      allocate: (type, sizes) => context.allocate(type, sizes)
    }
    const packed = inner.pack?.({ w: moved }, params, memory)
    return packed && Symbol.iterator in packed ? yield* packed : packed
  }
  return inner.pack ? { kernel, pack } : { kernel }
})

/** Operands of Conv of which a job was not done. */
const leftUndone = new WeakSet<object>()

/** Transposes each of some matrices of float32. */
function turn(count: number, rows: number, columns: number): JobTemplate | undefined {
  const loops = [
    { size: count, xStep: rows * columns * 4, yStep: rows * columns * 4 },
    { size: columns, xStep: 4, yStep: rows * 4 },
    { size: rows, xStep: columns * 4, yStep: 4 }
  ]
  return matrixTemplate(loops, count * rows * columns * 4, 4)
}
