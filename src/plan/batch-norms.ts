import type { Call } from '../bind/call.ts'
import type { Constant, InPlace, ValueId } from '../graph/graph.ts'
import { addedPart, fusedOp } from '../op-kit/fused.ts'
import { toDoubles } from '../tensor/elements.ts'
import { product, Tensor } from '../tensor/tensor.ts'
import { inputsOf } from './code-ops.ts'
import { derivedConstant, keyOfMade, tensorOf } from './derive.ts'
import { fusedCall } from './fuse.ts'
import {
  isFloat32,
  isPlanCall,
  nodesOfAll,
  operandOf,
  type PlanCall,
  planCallMaking,
  type PlanGraph,
  shapeOf
} from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed } from './patterns.ts'

const isNorm = isNamed('BatchNormalization')
const isConv = isNamed('Conv')
const isTransposed = isNamed('ConvTranspose')
const isGemm = isNamed('Gemm')
const isMatMul = isNamed('MatMul')
const isMerging = isNamed('Flatten', 'Reshape')

/**
 * BatchNormalization by constant statistics of what a convolution or a product by constant weights gives becomes part
 * of the weights and the bias: `(w * x + b - mean) * f + bias` is `(f * w) * x + (b - mean) * f + bias`. These are made
 * in double precision when they are first read. Between a product and its normalization there may be a reshape that
 * keeps the columns, beside which the file may ask for the dims of the product.
 */
export const batchNorms: Pass = {
  name: 'batch norms',
  requires: ['prune'],
  ops: ['BatchNormalization'],
  run(graph) {
    if (graph.isObserved) return false
    let changed = false
    for (const item of graph.calls) if (isNorm(item.call) && foldNorm(graph, item)) changed = true
    return changed
  }
}

/**
 * Where the channels of a result are in the weights: elements of one lie in runs of this length, one channel after the
 * other.
 */
interface Producer {
  readonly weights: 'w' | 'b'
  readonly bias: 'bias' | 'c' | undefined
  readonly run: number
  /** The factor of the bias. */
  readonly beta: number
}

function foldNorm(graph: PlanGraph, norm: PlanCall): boolean {
  const to = norm.call.outputs[0]
  const statistics = statisticsOf(graph, norm.call)
  const first = makerOf(graph, operandOf(norm.call, 'x'))
  const merging = first && isMerging(first.call) ? first : undefined
  // A product in front of a reshape keeps its name and dims, for which the file may ask to undo the reshape.
  const item = merging ? makerOf(graph, merging.call.inputs[0], isNamed('Shape')) : first
  if (to === undefined || statistics === undefined || item === undefined) return false
  const channels = statistics.scale.dims[0]
  const producer = producerOf(graph, item.call, channels)
  if (producer === undefined || !keepsColumns(graph, item.call, norm.call, merging !== undefined)) return false
  const nodes = nodesOfAll([item, norm])
  const made = folded(graph, item.call, producer, { ...statistics, to, key: keyOfMade(to, nodes) })
  graph.remove(norm)
  const call = { ...made, outputs: merging ? item.call.outputs : [to] }
  graph.replace(item, { ...item, call, nodes, fused: 'normalization' })
  if (merging) graph.replace(merging, { ...merging, call: { ...merging.call, outputs: [to] } })
  return true
}

/**
 * The call that makes a value which nothing else reads.
 * @param isOther says of further readers that they do no harm
 */
function makerOf(
  graph: PlanGraph,
  id: ValueId | undefined,
  isOther: (call: Call) => boolean = () => false
): PlanCall | undefined {
  if (id === undefined || graph.isOutside(id)) return undefined
  const readers = [...graph.readersOf(id)].filter(item => !isPlanCall(item) || !isOther(item.call))
  if (readers.length !== 1) return undefined
  const maker = planCallMaking(graph, id)
  return maker?.call.outputs[0] === id ? maker : undefined
}

/** What is normalized has the channels of the product as its axis 1: convolutions do, of products matrices do. */
function keepsColumns(graph: PlanGraph, call: Call, norm: Call, isMerged: boolean): boolean {
  const shape = shapeOf(graph, operandOf(norm, 'x'))
  if (isConv(call) || isTransposed(call)) return !isMerged
  return shape?.length === 2 && shape[1] === shapeOf(graph, call.outputs[0])?.at(-1)
}

interface Statistics {
  readonly epsilon: number
  readonly scale: Constant | Tensor
  readonly bias: Constant | Tensor
  readonly mean: Constant | Tensor
  readonly variance: Constant | Tensor
}

/** Statistics by channel, where they are constants; undefined in training mode, or where each element has its own. */
function statisticsOf(graph: PlanGraph, call: Call): Statistics | undefined {
  const { trains, perElement, epsilon } = call.known
  if (trains !== false || perElement !== false || call.dataDependent.length > 0) return undefined
  const lists = ['scale', 'bias', 'mean', 'variance'].map(name => constantOf(graph, operandOf(call, name)))
  const [scale, bias, mean, variance] = lists
  if (!scale || !bias || !mean || !variance || lists.some(list => list!.dims.length !== 1)) return undefined
  return { epsilon: epsilon as number, scale, bias, mean, variance }
}

/** A constant of float32. */
function constantOf(graph: PlanGraph, id: ValueId | undefined): Constant | Tensor | undefined {
  const constant = id === undefined ? undefined : graph.constantOf(id)
  return constant?.type === 'float32' ? constant : undefined
}

function producerOf(graph: PlanGraph, call: Call, channels: number): Producer | undefined {
  if (call.dataDependent.length > 0 || !isFloat32(graph, call.outputs[0])) return undefined
  const producer = layoutOf(graph, call, channels)
  const bias = producer?.bias && operandOf(call, producer.bias)
  const dims = bias === undefined ? undefined : constantOf(graph, bias)?.dims
  const isList = dims !== undefined && product(dims) === channels && dims.at(-1) === channels
  return bias === undefined || isList ? producer : undefined
}

function layoutOf(graph: PlanGraph, call: Call, channels: number): Producer | undefined {
  const w = constantOf(graph, operandOf(call, 'w'))?.dims
  const b = constantOf(graph, operandOf(call, 'b'))?.dims
  const { group, transposeB, beta } = call.known as {
    readonly group?: number | 'leading'
    readonly transposeB?: boolean
    readonly beta?: number
  }
  const leading = group === 'leading' ? 2 : 1
  if (w !== undefined && isConv(call) && product(w, 0, leading) === channels)
    return { weights: 'w', bias: 'bias', run: product(w, leading), beta: 1 }
  // In groups the channels of a transposed convolution do not lie one after the other.
  if (w !== undefined && isTransposed(call) && group === 1 && w[1] === channels)
    return { weights: 'w', bias: 'bias', run: product(w, 2), beta: 1 }
  if (b?.length !== 2 || b[transposeB === true ? 0 : 1] !== channels) return undefined
  const run = transposeB === true ? b[1] : 1
  if (isGemm(call)) return { weights: 'b', bias: 'c', run, beta: beta! }
  return isMatMul(call) ? { weights: 'b', bias: undefined, run, beta: 1 } : undefined
}

/** The call with weights and bias of which the normalization is a part. */
function folded(
  graph: PlanGraph,
  call: Call,
  producer: Producer,
  { to, key, ...statistics }: Statistics & { readonly to: ValueId; readonly key: string }
): Call {
  const given = inputsOf(call)
  const { weights, bias } = producer
  const { scaled, shifts } = foldedConstants(
    constantOf(graph, given[weights])!,
    bias && constantOf(graph, given[bias]),
    producer,
    statistics,
    key
  )
  const inputs = {
    ...given,
    [weights]: graph.addConstant(`${to}\0weights`, scaled),
    [bias ?? 'bias']: graph.addConstant(`${to}\0bias`, shifts)
  }
  if (isGemm(call)) return fusedCall(call, call.op, inputs, { ...call.known, beta: 1 })
  if (!isMatMul(call)) return fusedCall(call, call.op, inputs, call.known)
  return fusedCall(call, fusedOp(call.op), inputs, {
    ...call.known,
    epilogue: [addedPart('bias')],
    activation: undefined
  })
}

/** Weights times the factor of their channel, and the bias of each channel. */
function foldedConstants(
  weights: Constant | Tensor,
  bias: Constant | Tensor | undefined,
  { run, beta }: Producer,
  statistics: Statistics,
  key: string
): Readonly<Record<'scaled' | 'shifts', Constant>> {
  const { mean, variance } = statistics
  const beside = [statistics.scale, statistics.bias, mean, variance, ...(bias ? [bias] : [])]
  // Weights and bias need the factors of the channels, whichever of them is read first.
  let made: Float64Array | undefined
  const factors = (): Float64Array => (made ??= factorsOf(statistics))
  const scale = (from: Float32Array, to: Float32Array): void => scaleChannels(from, to, factors(), run)
  const readScaled = (): Tensor => {
    const { data, dims } = tensorOf(weights)
    const result = new Float32Array(data.length)
    scale(data as Float32Array, result)
    return new Tensor('float32', result, dims)
  }
  const inPlace: InPlace | undefined =
    'read' in weights ? { of: weights, change: data => scale(data as Float32Array, data as Float32Array) } : undefined
  const readShifts = (): Tensor => shiftsOf(statistics, factors(), bias && tensorOf(bias), beta)
  return {
    scaled: derivedConstant(weights, key, 'float32', weights.dims, readScaled, {
      beside,
      ...(inPlace && { inPlace })
    }),
    shifts: derivedConstant(statistics.bias, `${key}\0bias`, 'float32', statistics.bias.dims, readShifts, { beside })
  }
}

/** `scale / sqrt(variance + epsilon)` of each channel. */
function factorsOf({ scale, variance, epsilon }: Statistics): Float64Array {
  const [gains, variances] = [toDoubles(tensorOf(scale)), toDoubles(tensorOf(variance))]
  const factors = new Float64Array(gains.length)
  for (let i = 0; i < factors.length; i++) factors[i] = gains[i] / Math.sqrt(variances[i] + epsilon)
  return factors
}

/** The bias of each channel after the normalization. */
function shiftsOf(statistics: Statistics, factors: Float64Array, before: Tensor | undefined, beta: number): Tensor {
  const [means, biases] = [toDoubles(tensorOf(statistics.mean)), toDoubles(tensorOf(statistics.bias))]
  const added = before && toDoubles(before)
  const shifts = new Float32Array(factors.length)
  for (let i = 0; i < shifts.length; i++)
    shifts[i] = ((added ? beta * added[i] : 0) - means[i]) * factors[i] + biases[i]
  return new Tensor('float32', shifts, [shifts.length])
}

/** Writes weights times the factor of their channel; `to` may be `from`. */
function scaleChannels(from: Float32Array, to: Float32Array, factors: Float64Array, run: number): void {
  const channels = factors.length
  // Of columns each element is of another channel than the one before: one loop, as loops of one turn take longer.
  if (run === 1)
    for (let row = 0; row < from.length; row += channels)
      for (let i = 0; i < channels; i++) to[row + i] = from[row + i] * factors[i]
  else
    for (let start = 0, channel = 0; start < from.length; start += run, channel++) {
      const factor = factors[channel % channels]
      for (let i = start; i < start + run; i++) to[i] = from[i] * factor
    }
}
