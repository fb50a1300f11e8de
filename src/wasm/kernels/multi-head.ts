import type { Heads } from '../../kernels/attention/heads.ts'
import { maskReader, paddingReader } from '../../kernels/attention/masks.ts'
import { type Attending, behindPast, multiHead, type MultiHead } from '../../kernels/attention/multi-head.ts'
import { broadcastStrides } from '../../kernels/core/elementwise.ts'
import { doubles } from '../../kernels/core/numbers.ts'
import { Pace, type Paced } from '../../kernels/core/pace.ts'
import type { Kernel, Pack } from '../../op-kit/define.ts'
import { attendInputs, type MultiHeadTensors } from '../../op-kit/multi-head-run.ts'
import { attendProjected } from '../../op-kit/projected-run.ts'
import { allocateRaw, product, Tensor } from '../../tensor/tensor.ts'
import { heapAllocate, heapFree } from '../heap.ts'
import { runJob } from '../jobs.ts'
import { areFloat32, arrayOf, selectorFor } from '../selector.ts'
import { attentionTemplate, matrixStrides, type Scoring, type Strides } from './attention.ts'
import { packFactor, productOf, productTemplate } from './matrix.ts'

/** MultiHeadAttention of float32. Where beams are followed, or scores are wanted, the reference attends. */
export const selectMultiHeadAttention = selectorFor(({ operands: { mask: _mask, beams, ...floats } }) =>
  beams === undefined && areFloat32(floats) ? { kernel: attendApart } : undefined
)

const attendApart: Kernel = (operands, parameters, context) =>
  onTheHeap(context.threads, attending =>
    attendInputs(operands as unknown as MultiHeadTensors, parameters as never, context, attending)
  )

/** com.microsoft Attention of float32: a product for queries, keys and values together, and attention over them. */
export const selectProjectedAttention = selectorFor(({ op, operands: { mask: _mask, ...floats } }) => {
  const { input, weights, bias } = floats
  const found = input && weights && areFloat32(floats) ? productOf(input.dims, weights.dims, PLAIN) : undefined
  if (found === undefined) return undefined
  const extras = { bias: bias && ({ operand: 'bias', kind: 'column' } as const), activation: undefined }
  const [plain, packed] = [false, true].map(isPacked => productTemplate(found, extras, isPacked))
  const kernel: Kernel = function* (operands, parameters, context) {
    const { input: x, weights: w, bias: added, ...rest } = operands as Record<string, Tensor>
    const panels = context.packed?.weights
    const dims = [x.dims[0], x.dims[1], w.dims[1]]
    const inputs = [x, panels ?? w, added ?? x, x].map(arrayOf)
    yield* onTheHeap(context.threads, function* (attending) {
      const projected = attending.allocate(product(dims)) as Float32Array
      if ((yield* runJob(panels ? packed : plain, inputs, projected, context.threads)) === 'done')
        yield* attendProjected(projected, dims, rest as never, parameters as never, context, attending)
      else yield* op.run(operands, parameters, context) ?? []
    })
  }
  return { kernel, pack: packWeights }
})

const PLAIN = { transposeA: false, transposeB: false }

const packWeights: Pack = function* ({ weights }, _parameters, context) {
  const packed = weights && (yield* packFactor(weights, false, context))
  return packed && { weights: packed }
}

/** Runs `work` with arrays on the heap for what it needs in between, which are given back. */
function* onTheHeap(threads: number, work: (attending: Attending) => Paced): Paced {
  const blocks: Uint8Array[] = []
  const allocate = (count: number): Float32Array => {
    const block = heapAllocate(count * 4, { zero: false })
    if (block === undefined) return allocateRaw('float32', [count]).data
    blocks.push(block)
    return new Float32Array(block.buffer, block.byteOffset, count)
  }
  try {
    yield* work({ allocate, attend: given => attend(given, allocate, threads) })
  } finally {
    blocks.forEach(heapFree)
  }
}

/** {@link multiHead} by the kernel of attention; by the reference where there is little to do or the heap is full. */
function* attend(given: MultiHead, allocate: Attending['allocate'], threads: number): Generator<void> {
  const { batches, k, v, out, scores } = given
  const pace = new Pace()
  const rows = given.q.length
  const q = yield* behindPast({ heads: given.q, bias: given.queryBias, rows }, 0, batches, pace, allocate)
  if (scores === undefined && out.numbers.length > 0) {
    const added = yield* additionOf(given, allocate, pace)
    const template = attentionTemplate(
      {
        batches,
        heads: q.count,
        group: 1,
        queries: rows,
        keys: k.length,
        depth: q.size,
        width: v.size,
        q: stridesOf(q),
        k: stridesOf(k),
        v: stridesOf(v),
        y: stridesOf(out)
      },
      scoringOf(given, added)
    )
    const inputs = [...[q, k, v].map(arrayFrom), added ? arrayOf(added) : arrayFrom(q)]
    if (template && (yield* runJob(template, inputs, out.numbers, threads)) === 'done') return
  }
  yield* multiHead({ ...given, q, queryBias: undefined })
}

const stridesOf = ({ batchStride, headStride, rowStride }: Heads): Strides => [batchStride, headStride, rowStride, 1]

const arrayFrom = ({ numbers, offset }: Heads): Float32Array => (numbers as Float32Array).subarray(offset)

const scoringOf = ({ batches, q, k, scale, causal, past }: MultiHead, added: Tensor | undefined): Scoring => ({
  scale: scale ?? 1 / Math.sqrt(q.size),
  mask: added && {
    tensor: added,
    strides: matrixStrides(broadcastStrides(added.dims, [batches, q.count, q.length, k.length]))
  },
  causalOffset: causal ? past : undefined,
  unseen: 0
})

/** What mask and bias add to the scores, as one tensor; undefined where there is neither. */
function* additionOf(
  { batches, q, k, mask, attentionBias, past, filter }: MultiHead,
  allocate: Attending['allocate'],
  pace: Pace
): Generator<void, Tensor | undefined> {
  if (mask === undefined) return attentionBias
  const keys = k.length
  const heads = attentionBias?.dims[1] ?? 1
  const rows = attentionBias || mask.dims.length > 2 ? q.length : 1
  const numbers = allocate(batches * heads * rows * keys) as Float32Array
  const addMask = paddingReader(mask, batches, keys, past, filter)
  const addBias = attentionBias && maskReader(attentionBias, [batches, heads], rows, keys)
  const line = doubles(keys)
  for (let at = 0; at < batches * heads; at++) {
    for (let row = 0; row < rows; row++) {
      line.fill(0)
      addBias?.(at, row, line)
      addMask(Math.floor(at / heads), row, line)
      numbers.set(line, (at * rows + row) * keys)
      if (pace.isDue(4 * keys)) yield
    }
  }
  return new Tensor('float32', numbers, [batches, heads, rows, keys])
}
