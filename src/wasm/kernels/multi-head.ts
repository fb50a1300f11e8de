import type { Heads } from '../../kernels/attention/heads.ts'
import { maskReader, paddingReader } from '../../kernels/attention/masks.ts'
import type { Attending, MultiHead } from '../../kernels/attention/multi-head.ts'
import { broadcastStrides } from '../../kernels/core/elementwise.ts'
import { doubles } from '../../kernels/core/numbers.ts'
import { Pace, type Paced } from '../../kernels/core/pace.ts'
import type { Kernel, KernelContext, Op, Pack, Packed, ValueOperands } from '../../op-kit/define.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import { Tensor } from '../../tensor/tensor.ts'
import { runJob } from '../jobs.ts'
import { areFloat32, arrayOf, selectorFor } from '../selector.ts'
import { temporaries } from '../temporary.ts'
import { attentionInputs, attentionTemplate, layoutOfHeads, matrixStrides, type Scoring } from './attention.ts'
import { packFactor, productOf, productTemplate } from './matrix.ts'
import { selectMatMulIntegerToFloat } from './quantized-products.ts'

/** MultiHeadAttention of float32. Where beams are followed, or scores are wanted, the reference attends. */
export const selectMultiHeadAttention = selectorFor(({ op, operands: { mask: _mask, beams, ...floats } }) =>
  beams === undefined && areFloat32(floats) ? { kernel: accelerated(op) } : undefined
)

/** com.microsoft Attention of float32: a product for queries, keys and values together, and attention over them. */
export const selectProjectedAttention = selectorFor(({ op, operands: { mask: _mask, ...floats } }) =>
  floats.input && floats.weights && areFloat32(floats) ? { kernel: accelerated(op), pack: packWeights } : undefined
)

const packWeights: Pack = function* ({ weights }, _parameters, context) {
  const packed = weights && (yield* packFactor(weights, false, context))
  return packed && { weights: packed }
}

/**
 * QAttention of bytes to float32: the product is that of MatMulIntegerToFloat, whose operands have other names, and
 * attention that of floats.
 */
export const selectQAttention = selectorFor(call => {
  const { input, weights, bias, past } = call.operands
  if (input === undefined || weights === undefined || bias?.type !== 'float32') return undefined
  if (past && past.type !== 'float32') return undefined
  const dims = [...input.dims.slice(0, 2), weights.dims[1]]
  const byReference: Kernel = (_, { reference }) => (reference as () => Paced)()
  const found = selectMatMulIntegerToFloat({
    op: { ...call.op, run: byReference },
    operands: factorsOf(call.operands),
    parameters: {},
    dims
  })
  const { kernel, pack } = found ?? {}
  if (kernel === undefined || pack === undefined) return undefined
  const projectBy =
    (operands: ValueOperands, context: KernelContext): ProjectBy =>
    (reference, x, factor, added, projected) => {
      const out = new Tensor('float32', projected as Float32Array, dims)
      const own = { ...withOutput(context, out), packed: context.packed && panelsOf(context.packed) }
      const parameters = { reference: () => reference.project(x, factor, added, projected) }
      return kernel(factorsOf(operands), parameters, own) ?? NOTHING
    }
  const packFactors: Pack = function* (given, parameters, context) {
    const packing = pack(constantFactors(given), parameters, context)
    const packed = packing && Symbol.iterator in packing ? yield* packing : packing
    if (packed === undefined) return undefined
    const { b: panels, ...lists } = packed
    return { ...lists, weights: panels }
  }
  return { kernel: accelerated(call.op, projectBy), pack: packFactors }
})

const NOTHING: Paced = (function* () {})()

/** The packed form of QAttention as that of MatMulIntegerToFloat. */
const panelsOf = ({ weights: b, ...lists }: Packed): Packed => ({ ...lists, b })

/** Names of operands of QAttention, and those that MatMulIntegerToFloat has for them. */
const FACTORS = Object.entries({
  ...{ input: 'a', weights: 'b', inputScale: 'aScale', weightScale: 'bScale', inputZero: 'aZero', weightZero: 'bZero' },
  bias: 'bias'
})

/** Operands of QAttention as those of MatMulIntegerToFloat. */
function factorsOf<T>(operands: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  const factors: Record<string, T> = {}
  for (const [from, to] of FACTORS) factors[to] = operands[from]
  return factors
}

/** {@link factorsOf} constants, as far as they are there, each read when it is asked for. */
function constantFactors(constants: Readonly<Record<string, Tensor>>): Readonly<Record<string, Tensor>> {
  const factors: Record<string, Tensor> = {}
  for (const [from, to] of FACTORS)
    if (from in constants) Object.defineProperty(factors, to, { enumerable: true, get: () => constants[from] })
  return factors
}

/** Projects as {@link Attending} does. */
type ProjectBy = (reference: Attending, ...given: Parameters<Attending['project']>) => Paced

const projectFloats =
  (_: ValueOperands, { packed, threads }: KernelContext): ProjectBy =>
  (reference, x, weights, bias, projected) =>
    project([x, weights, bias], packed?.weights, projected as Float32Array, threads, reference)

/** The operator's own kernel, whose products and attention are computed by jobs. */
const accelerated = (op: Op, projectBy = projectFloats): Kernel =>
  function* (operands, parameters, context) {
    const { allocate, free } = temporaries()
    const { threads } = context
    const projecting = projectBy(operands, context)
    const accelerateAttention = (reference: Attending): Attending => ({
      allocate,
      project: (...given) => projecting(reference, ...given),
      attend: given => attend(given, allocate, threads, reference)
    })
    try {
      const rest = op.run(operands, parameters, { ...withOutput(context, context.rawOutput()), accelerateAttention })
      if (rest) yield* rest
    } finally {
      free()
    }
  }

const PLAIN = { transposeA: false, transposeB: false }

/** @param panels the weights, where they are packed */
function* project(
  [x, weights, bias]: readonly [Tensor, Tensor, Tensor | undefined],
  panels: Tensor | undefined,
  projected: Float32Array,
  threads: number,
  reference: Attending
): Paced {
  const found = productOf(x.dims, weights.dims, PLAIN)
  const extras = { bias: bias && ({ operand: 'bias', kind: 'column' } as const), activation: undefined }
  const template = found && productTemplate(found, extras, panels !== undefined && 'float32')
  const inputs = (): Float32Array[] => [x, panels ?? weights, bias ?? x, x].map(({ data }) => data as Float32Array)
  if (template && (yield* runJob(template, inputs(), projected, threads))) return
  yield* reference.project(x, weights, bias, projected)
}

/** Attention by its kernel; by the reference where there is little to do, or the heap is full. */
function* attend(given: MultiHead, allocate: Attending['allocate'], threads: number, reference: Attending): Paced {
  const { batches, q, k, v, out, scores } = given
  if (scores === undefined && out.numbers.length > 0) {
    const added = yield* additionOf(given, allocate)
    const layout = layoutOfHeads(batches, q, k, v, out)
    const template = attentionTemplate(layout, scoringOf(given, added))
    const inputs = attentionInputs(arrayFrom(q), arrayFrom(k), arrayFrom(v), { mask: added && arrayOf(added) })
    if (template && (yield* runJob(template, inputs, out.numbers, threads))) return
  }
  yield* reference.attend(given)
}

const arrayFrom = ({ numbers, offset }: Heads): Float32Array => (numbers as Float32Array).subarray(offset)

const scoringOf = ({ batches, q, k, scale, causal, past }: MultiHead, added: Tensor | undefined): Scoring => ({
  scale: scale ?? 1 / Math.sqrt(q.size),
  mask: added && {
    type: added.type,
    strides: matrixStrides(broadcastStrides(added.dims, [batches, q.count, q.length, k.length]))
  },
  causalOffset: causal ? past : undefined,
  unseen: 0
})

/** What mask and bias add to the scores, as one tensor; undefined where there is neither. */
function* additionOf(
  { batches, q, k, mask, attentionBias, past, filter }: MultiHead,
  allocate: Attending['allocate']
): Generator<void, Tensor | undefined> {
  if (mask === undefined) return attentionBias
  const pace = new Pace()
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
