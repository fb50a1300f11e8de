import { COST, Pace } from '../../kernels/core/pace.ts'
import { addScaled, route, type Routing, type Served } from '../../kernels/matrix/experts.ts'
import { codeBytes } from '../../kernels/quantized/packed.ts'
import type { Kernel, Op, Pack, Packed } from '../../op-kit/define.ts'
import { type ExpertParams, routingOf } from '../../op-kit/experts.ts'
import type { Activation } from '../../op-kit/fused.ts'
import {
  expertBlocks,
  type QuantizedExpertParams,
  type QuantizedLayer,
  quantizedLayersOf,
  quantizedRoutingOf
} from '../../op-kit/quantized-experts.ts'
import type { NumericArray } from '../../tensor/dtype.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import { attemptKernel, type Work } from '../attempt.ts'
import type { JobTemplate } from '../jobs.ts'
import { areFloat32, arrayOf, type BoundJob, floatBits, selectorFor, staged, type TensorOperands } from '../selector.ts'
import { PANEL } from '../workspace.ts'
import { isFloat8 } from './coded-floats.ts'
import { bindCoded, type CodedProduct, isServed, rowsOf } from './coded.ts'
import { activationArguments } from './elementwise.ts'
import { MIN_MULTIPLICATIONS, packFactor, productOf, productTemplate } from './matrix.ts'

/**
 * Mixtures of experts: tokens are sorted by expert, each expert's layers are products of its tokens alone, and what
 * comes out is added to the results of these tokens.
 */

/** Numbers that a part of an expert's tokens takes between its layers; more tokens read the weights once more. */
const PART = 1 << 22
/** Elements of a tile of what lies between the layers. */
const TILE = 1 << 12
/** Work of such an element, in bytes that could be copied in the same time. */
const GATE_WORK = 64

/** A layer of all experts, as jobs compute it. */
interface Layer {
  readonly rows: number
  readonly columns: number
  /** The job of `m` rows of `a` by the weights of an expert. */
  bind(expert: number, a: NumericArray, m: number): BoundJob
}

type Layers = readonly [first: Layer, second: Layer, third: Layer | undefined]

/** MoE of float32. */
export const selectMoe = selectorFor<ExpertParams>(({ op, operands, parameters: p }) => {
  const { first, second, third } = operands
  if (!areFloat32(operands) || !first || !second) return undefined
  if (rowsOf(operands.x!.dims) * p.chosen * product(first.dims, 1) < MIN_MULTIPLICATIONS) return undefined
  const layersOf = (given: TensorOperands, packed: Packed | undefined): Layers => [
    denseLayer(given.first!, packed?.first, given.firstBias),
    denseLayer(given.second!, packed?.second, given.secondBias),
    given.third && denseLayer(given.third, packed?.third, given.thirdBias)
  ]
  const kernel = expertsKernel(op, p, layersOf, ({ scores }, experts) => routingOf(scores!, experts, p))
  const isPackable = [first, second, third].every(weights => weights === undefined || weights.dims[1] % PANEL === 0)
  return isPackable ? { kernel, pack: packExperts } : { kernel }
})

/** QMoE of float32. */
export const selectQMoe = selectorFor<QuantizedExpertParams>(({ op, operands, parameters: p }) => {
  const { x, scores, weights, first, second } = operands
  if (!first || !second) return undefined
  const layers = quantizedLayersOf({ ...operands, first, second })
  const numbers = [x, scores, weights, ...layers.flatMap(layer => [layer?.bias, layer?.global])]
  if (!numbers.every(tensor => tensor === undefined || tensor.type === 'float32')) return undefined
  const rows = rowsOf(x!.dims) * p.chosen
  const isCoded = layers.every(
    (layer, i) =>
      layer === undefined || isServed(codedProduct(layer, rows, p.bits[i], p), layer.scales?.type ?? 'float32')
  )
  if (!isCoded) return undefined
  const layersOf = (given: TensorOperands): Layers => {
    const layers = quantizedLayersOf({ ...given, first: given.first!, second: given.second! })
    const [fc1, fc2, fc3] = layers.map((layer, i) => layer && codedLayer(layer, p.bits[i], p))
    return [fc1!, fc2!, fc3]
  }
  const kernel = expertsKernel(op, p, layersOf, (given, experts) =>
    quantizedRoutingOf(given.scores!, given.weights, experts, p)
  )
  return { kernel }
})

/** A list or a matrix of an expert. */
const partOf = <A extends NumericArray>(array: A, expert: number, count: number): A =>
  array.subarray(expert * count, (expert + 1) * count) as A

/** @param panels the weights in panels, where they have been packed */
function denseLayer(weights: Tensor, panels: Tensor | undefined, bias: Tensor | undefined): Layer {
  const [, rows, columns] = weights.dims
  const extras = { bias: bias && ({ operand: 'bias', kind: 'column' } as const), activation: undefined }
  const matrices = arrayOf(panels ?? weights)
  return {
    rows,
    columns,
    bind(expert, a, m) {
      const found = productOf([m, columns], [rows, columns], { transposeA: false, transposeB: true })!
      const added = bias ? partOf(arrayOf(bias), expert, rows) : a
      return {
        template: productTemplate(found, extras, panels?.type ?? false),
        inputs: [a, partOf(matrices, expert, rows * columns), added, a]
      }
    }
  }
}

/** Puts constant weights into panels: whole ones for each expert, so that they are one matrix. */
const packExperts: Pack = function* (constants, _, context) {
  const packed: Record<string, Tensor> = {}
  for (const name of ['first', 'second', 'third']) {
    const weights = constants[name]
    if (weights === undefined) continue
    const [experts, rows, columns] = weights.dims
    const matrix = new Tensor(weights.type, weights.data, [experts * rows, columns])
    const panels = yield* packFactor(matrix, true, context, true)
    if (panels) packed[name] = panels
  }
  return packed
}

/** The product of an expert's layer for `m` rows. */
function codedProduct(
  { weights, scales, zeros }: QuantizedLayer<Tensor>,
  m: number,
  bits: number,
  p: QuantizedExpertParams
): CodedProduct {
  const [, n, rowBytes] = weights.dims
  if (isFloat8(weights.type))
    return {
      ...{ m, n, k: rowBytes, bits: 8, floats: weights.type, rowBytes, blockSize: rowBytes },
      zeros: { kind: 'one', zero: 0 }
    }
  const k = (rowBytes * 8) / bits
  const isByBlock = scales!.dims.length === 3
  return {
    ...{ m, n, k, bits, rowBytes },
    blockSize: isByBlock && p.blockSize > 0 ? p.blockSize : k,
    zeros: zeros
      ? // Zero points of whole rows are packed along these.
        { kind: 'codes', rowBits: isByBlock ? 8 * codeBytes(expertBlocks(k, p) as number, bits) : bits }
      : { kind: 'one', zero: 2 ** (bits - 1) }
  }
}

function codedLayer(layer: QuantizedLayer<Tensor>, bits: number, p: QuantizedExpertParams): Layer {
  const { weights, scales, zeros, bias, global } = layer
  const [experts, rows] = weights.dims
  const { k: columns } = codedProduct(layer, 1, bits, p)
  const ofExpert = (tensor: Tensor, expert: number): NumericArray =>
    partOf(arrayOf(tensor), expert, product(tensor.dims) / experts)
  const scalesOf = (expert: number): Tensor =>
    scales
      ? new Tensor(scales.type, ofExpert(scales, expert), scales.dims.slice(1))
      : new Tensor('float32', new Float32Array(rows).fill(global ? (global.data as Float32Array)[expert] : 1), [rows])
  return {
    rows,
    columns,
    bind: (expert, a, m) =>
      bindCoded(codedProduct(layer, m, bits, p), {
        a,
        codes: ofExpert(weights, expert),
        scales: scalesOf(expert),
        zeros: zeros && ofExpert(zeros, expert),
        bias: bias && ofExpert(bias, expert)
      })
  }
}

type RoutingOf = (operands: TensorOperands, experts: number) => Generator<void, Routing>

/** Where the heap is full the operator's own kernel computes the call. */
function expertsKernel(
  op: Op,
  p: ExpertParams,
  layersOf: (operands: TensorOperands, packed: Packed | undefined) => Layers,
  routingOf: RoutingOf
): Kernel {
  return attemptKernel(op, function* (given, out, work, { packed }) {
    const [x, y] = [given.x!, out()].map(tensor => arrayOf(tensor) as Float32Array)
    const pace = new Pace()
    const served = yield* route(yield* routingOf(given, given.first!.dims[0]), rowsOf(given.x!.dims), pace)
    return yield* mix({ x, y, layers: layersOf(given, packed), p, work }, served, pace)
  })
}

/** One run of a mixture of experts. */
interface Mixing {
  readonly x: Float32Array
  readonly y: Float32Array
  readonly layers: Layers
  readonly p: ExpertParams
  readonly work: Work
}

/** @returns false when the heap is full */
function* mix(mixing: Mixing, served: readonly Served[], pace: Pace): Generator<void, boolean> {
  const { x, y, layers, work } = mixing
  const [first, second, third] = layers
  const { columns } = first
  const { rows: width } = second
  const perToken = columns + first.rows + (third?.rows ?? 0) + second.columns + width
  const longest = served.reduce((most, { rows }) => Math.max(most, rows.length), 1)
  const most = Math.min(longest, Math.max(4, Math.floor(PART / perToken)))
  const { allocate } = work
  const [tokens, made] = [allocate(most * columns), allocate(most * width)]
  const buffers = {
    outputs: allocate(most * first.rows),
    values: third && allocate(most * third.rows),
    hidden: allocate(most * second.columns)
  }
  y.fill(0)
  for (const [expert, { rows, weights }] of served.entries())
    for (let from = 0; from < rows.length; from += most) {
      const part = rows.slice(from, from + most)
      part.forEach((row, i) => tokens.set(x.subarray(row * columns, (row + 1) * columns), i * columns))
      if (!(yield* applyExpert(mixing, expert, tokens, part.length, buffers, made))) return false
      for (const [i, row] of part.entries()) {
        addScaled(made, i * width, weights[from + i], y, row * width, width)
        if (pace.isDue(width * COST.multiplyAdd)) yield
      }
    }
  return true
}

/** What lies between an expert's layers. */
interface LayerBuffers {
  readonly outputs: Float32Array
  readonly values: Float32Array | undefined
  readonly hidden: Float32Array
}

/** What an expert makes of `m` tokens. */
function* applyExpert(
  { layers: [first, second, third], p, work }: Mixing,
  expert: number,
  tokens: Float32Array,
  m: number,
  buffers: LayerBuffers,
  made: Float32Array
): Generator<void, boolean> {
  const part = (array: Float32Array, { rows }: { readonly rows: number }): Float32Array => array.subarray(0, m * rows)
  const outputs = part(buffers.outputs, first)
  const values = third && part(buffers.values!, third)
  const hidden = part(buffers.hidden, { rows: second.columns })
  const inputs = part(tokens, { rows: first.columns })
  const jobs: readonly (readonly [job: BoundJob, to: Float32Array])[] = [
    [first.bind(expert, inputs, m), outputs],
    ...(third ? [[third.bind(expert, inputs, m), values!] as const] : []),
    [bindGating(p, outputs, values, m, second.columns), hidden],
    [second.bind(expert, hidden, m), part(made, second)]
  ]
  for (const [{ template, inputs }, to] of jobs) if (!(yield* work.run(template, inputs, to))) return false
  return true
}

/** The function of the first layer's outputs, or of their gates. */
function activationOf({ activation, alpha }: ExpertParams): Activation | undefined {
  if (activation === 'relu') return { name: 'clip', p: 0, q: Infinity }
  if (activation === 'gelu') return { name: 'geluTanh' }
  if (activation === 'silu') return { name: 'silu' }
  return activation === 'swiglu' ? { name: 'swish', p: alpha } : undefined
}

/**
 * The job of what lies between the layers. The arguments are those of GateArguments in ../assembly/f32/gate.ts.
 * @param values of the gates, where they have a layer of their own
 * @param width inputs of the second layer
 */
function bindGating(
  p: ExpertParams,
  outputs: Float32Array,
  values: Float32Array | undefined,
  m: number,
  width: number
): BoundJob {
  const isGlu = p.activation === 'swiglu'
  const isDoubled = isGlu && p.layout !== 'apart'
  const row = width * 4
  const template: JobTemplate = {
    kernel: 'gate',
    blocks: m,
    blockBytes: row,
    tile: Math.max(1, Math.floor(TILE / width)),
    work: m * width * GATE_WORK,
    inputs: staged(2),
    args: [
      ...[width, isDoubled ? 2 * row : row, isDoubled ? 2 * row : row],
      ...[Number(values !== undefined || isDoubled), Number(isDoubled && p.layout === 'interleaved')],
      ...[isGlu ? p.limit : Infinity, isGlu ? p.beta : 0].map(floatBits),
      ...activationArguments(activationOf(p))
    ]
  }
  return { template, inputs: [outputs, values ?? (isDoubled ? outputs.subarray(width) : outputs)] }
}
