import type { Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { roundHalfToEven } from '../kernels/core/rounding.ts'
import type { Parameters } from '../op-kit/define.ts'
import { type Dim, isConcrete, normalizeAxis, sameDim } from '../shapes/dim.ts'
import { allocate } from '../tensor/tensor.ts'
import { type Codes, codesOf, inputsOf, lowestByte } from './code-ops.ts'
import { transposedBytes } from './codes-in-rows.ts'
import { addList } from './derive.ts'
import { activationOf } from './fuse-epilogue.ts'
import { fusedCall } from './fuse.ts'
import { isByteValue, isFloat32, operandOf, type PlanGraph, scalarOf, shapeOf, typeOf } from './graph.ts'
import type { Match, Pattern, PatternCall } from './match.ts'
import { commutative, isNamed, isPlainProduct, numbersOf, operatorOf, shared } from './patterns.ts'

/** DequantizeLinear of bytes to float32. Others may read its result, too. */
export const DEQUANTIZED: PatternCall = shared({
  ops: ['DequantizeLinear'],
  where: (call, graph) =>
    isByteValue(graph, operandOf(call, 'x')) && isFloat32(graph, call.outputs[0]) && call.known.blockSize === 0
})

/** QuantizeLinear of float32 to bytes, with one scale, after one of some calls. */
export const quantizedAfter = (...labels: readonly string[]): PatternCall => ({
  ops: ['QuantizeLinear'],
  where: (call, graph) =>
    isByteValue(graph, call.outputs[0]) &&
    isFloat32(graph, operandOf(call, 'x')) &&
    isFloat32(graph, operandOf(call, 'scale')) &&
    isOne(shapeOf(graph, operandOf(call, 'scale'))) &&
    (call.known.precision ?? 'float32') === 'float32',
  reads: labels.map(x => ({ x }))
})

const isOne = (shape: readonly Dim[] | undefined): boolean => shape?.every(dim => dim === 1) === true

/** Whether a shape is that of a scalar or of a list of one: more axes would be axes of a product, too. */
const isSingle = (shape: readonly Dim[] | undefined): boolean => isOne(shape) && shape!.length <= 1

/** Whether a call of DequantizeLinear has one scale for all, or one for each index along an axis. */
export function isAlong(graph: PlanGraph, call: Call, axis: number | undefined): boolean {
  const scale = shapeOf(graph, operandOf(call, 'scale'))
  if (isOne(scale)) return true
  const rank = shapeOf(graph, operandOf(call, 'x'))?.length
  const own = call.known.axis as number | undefined
  if (scale?.length !== 1 || rank === undefined || own === undefined || axis === undefined) return false
  return normalizeAxis(own, rank) === normalizeAxis(axis, rank)
}

/** The call of a label. */
export const callOf = (match: Match, label: string): Call => match.calls.get(label)!.call

/** Relu or Clip before QuantizeLinear clamps the codes; undefined: something else. */
function rangeOf(graph: PlanGraph, match: Match): readonly [number, number] | 'all' | undefined {
  const activation = match.calls.get('activation')?.call
  const found = activation && activationOf(activation, graph)
  if (found === undefined) return 'all'
  const root = callOf(match, 'quantized')
  const [scale, zero] = [scalarOf(graph, operandOf(root, 'scale')), scalarOf(graph, operandOf(root, 'zero'))]
  if (found.name !== 'clip' || scale === undefined || zero === undefined || !(scale > 0)) return undefined
  const lowest = lowestByte(typeOf(graph, root.outputs[0]))
  const code = (value: number): number =>
    Math.max(lowest, Math.min(lowest + 255, roundHalfToEven(value / scale) + zero))
  return [code(found.p!), code(found.q!)]
}

const CLIPPING: PatternCall = { ops: ['Relu', 'Clip'], reads: { x: 'producer' } }

/** The inputs that QuantizeLinear at the root gives to a quantized operator. */
const resultOf = (match: Match) => {
  const root = callOf(match, 'quantized')
  return { yScale: operandOf(root, 'scale'), yZero: operandOf(root, 'zero') }
}

/** Whether a convolution of x and w has one quantization of its data, and of each output channel at most one. */
export function isOfCodes(match: Match, graph: PlanGraph, label: string): boolean {
  const w = callOf(match, 'w')
  const isGrouped = callOf(match, label).known.group === 'leading'
  // With groups in front there is a number for each group, which is enough where it has one output channel.
  const fits = !isGrouped || isAlong(graph, w, undefined) || shapeOf(graph, operandOf(w, 'x'))?.[1] === 1
  return fits && isAlong(graph, callOf(match, 'x'), undefined) && isAlong(graph, w, 0)
}

/** A convolution of dequantized data and weights whose result is quantized. */
const convPattern: Pattern = {
  name: 'quantized convolution',
  calls: {
    x: DEQUANTIZED,
    w: DEQUANTIZED,
    producer: { ops: ['Conv'], reads: { x: 'x', w: 'w' } },
    activation: CLIPPING,
    quantized: quantizedAfter('producer', 'activation')
  },
  root: 'quantized',
  guard: (match, graph) =>
    isOfCodes(match, graph, 'producer') &&
    operandOf(callOf(match, 'quantized'), 'zero') !== undefined &&
    rangeOf(graph, match) !== undefined,
  fuse(match, graph) {
    const op = operatorOf(graph, 'QLinearConv', 10)
    const [conv, x, w] = [callOf(match, 'producer'), codesOf(callOf(match, 'x')), codesOf(callOf(match, 'w'))]
    const inputs = {
      ...{ x: x.codes, xScale: x.scale, xZero: x.zero, w: w.codes, wScale: w.scale, wZero: w.zero },
      ...resultOf(match),
      bias: operandOf(conv, 'bias')
    }
    const range = rangeOf(graph, match)
    const parameters: Parameters = { ...conv.known, channelsLast: false, range: range === 'all' ? undefined : range }
    return op && { call: fusedCall(callOf(match, 'quantized'), op, inputs, parameters) }
  }
}

/** Makes the operands of a product of codes; undefined where the kernel of products takes others. */
export function factorsOf(
  graph: PlanGraph,
  match: Match,
  product: Call
): (() => Readonly<Record<string, ValueId | undefined>>) | undefined {
  const [a, b] = [callOf(match, 'a'), callOf(match, 'b')]
  const columns = shapeOf(graph, operandOf(b, 'x'))
  const isTurned = product.known.transposeB === true && isNamed('MatMul')(product)
  if (!isAlong(graph, a, undefined) || !isAlong(graph, b, product.known.transposeB === true ? -2 : -1)) return undefined
  const [left, right] = [codesOf(a), codesOf(b)]
  // What is no constant is not transposed before.
  const canTurn = graph.constantOf(right.codes) !== undefined && columns?.length === 2 && isConcrete(columns)
  if (isTurned && !canTurn) return undefined
  return () => ({
    ...{ a: left.codes, aScale: left.scale, aZero: left.zero ?? zerosFor(graph, left) },
    ...{ b: isTurned ? transposedBytes(graph, right.codes, columns as readonly number[]) : right.codes },
    ...{ bScale: right.scale, bZero: right.zero ?? zerosFor(graph, right) }
  })
}

/** A zero point of 0 for codes that have none. */
const zerosFor = (graph: PlanGraph, { codes }: Codes): ValueId =>
  graph.addConstant(`${codes}\0zero`, allocate(typeOf(graph, codes)!, []))

const isMatrix = (graph: PlanGraph, call: Call, operand: string): boolean =>
  (shapeOf(graph, operandOf(call, operand))?.length ?? 0) > 1

/** A product of dequantized matrices whose result is quantized. */
const productPattern: Pattern = {
  name: 'quantized product',
  calls: {
    a: DEQUANTIZED,
    b: DEQUANTIZED,
    producer: { ops: ['MatMul'], where: isPlainProduct, reads: { a: 'a', b: 'b' } },
    quantized: quantizedAfter('producer')
  },
  root: 'quantized',
  guard: (match, graph) =>
    ['a', 'b'].every(operand => isMatrix(graph, callOf(match, 'producer'), operand)) &&
    resultOf(match).yZero !== undefined &&
    factorsOf(graph, match, callOf(match, 'producer')) !== undefined,
  fuse(match, graph) {
    const op = operatorOf(graph, 'QLinearMatMul', 10)
    const inputs = { ...factorsOf(graph, match, callOf(match, 'producer'))!(), ...resultOf(match) }
    return op && { call: fusedCall(callOf(match, 'quantized'), op, inputs, {}) }
  }
}

const POOLS: ReadonlyMap<string, string> = new Map([
  ['AveragePool', 'QLinearAveragePool'],
  ['GlobalAveragePool', 'QLinearGlobalAveragePool'],
  // As OpenVINO writes it.
  ['ReduceMean', 'QLinearGlobalAveragePool']
])

/** Whether a mean is one over planes that keep their axes. */
function isOfPlanes(call: Call, graph: PlanGraph): boolean {
  const rank = shapeOf(graph, call.inputs[0])?.length ?? 0
  const axes = numbersOf(graph, call, 'axes')?.map(axis => (axis < 0 ? axis + rank : axis))
  return call.known.keepDims === true && rank > 2 && new Set(axes).size === rank - 2 && axes!.every(axis => axis > 1)
}

/** The means of windows of dequantized codes, which are quantized. */
const poolPattern: Pattern = {
  name: 'quantized pool',
  calls: {
    x: DEQUANTIZED,
    producer: {
      ops: [...POOLS.keys()],
      where: (call, graph) => call.op.name !== 'ReduceMean' || isOfPlanes(call, graph),
      reads: ({ operands }) => ({ [operands[0].name]: 'x' })
    },
    quantized: quantizedAfter('producer')
  },
  root: 'quantized',
  guard: (match, graph) =>
    isAlong(graph, callOf(match, 'x'), undefined) &&
    typeOf(graph, codesOf(callOf(match, 'x')).codes) === typeOf(graph, callOf(match, 'quantized').outputs[0]),
  fuse(match, graph) {
    const [pool, { codes, scale, zero }] = [callOf(match, 'producer'), codesOf(callOf(match, 'x'))]
    const op = operatorOf(graph, POOLS.get(pool.op.name)!, 1, 'onnx', 'com.microsoft')
    const { yScale, yZero } = resultOf(match)
    const inputs = { x: codes, xScale: scale, xZero: zero, resultScale: yScale, resultZero: yZero }
    // QuantizeLinear adds the zero point after it has rounded.
    const known = { ...pool.known, channelsLast: false, evenCodes: false }
    return op && { call: fusedCall(callOf(match, 'quantized'), op, inputs, known) }
  }
}

/** Gemm of dequantized matrices whose result is quantized. */
const gemmPattern: Pattern = {
  name: 'quantized product',
  calls: {
    a: DEQUANTIZED,
    b: DEQUANTIZED,
    producer: {
      ops: ['Gemm'],
      where: ({ known }) => known.alpha === 1 && known.beta === 1,
      reads: { a: 'a', b: 'b' }
    },
    quantized: quantizedAfter('producer')
  },
  root: 'quantized',
  guard(match, graph) {
    const gemm = callOf(match, 'producer')
    const c = operandOf(gemm, 'c')
    const isList = c === undefined || shapeOf(graph, c)?.length === 1
    return isList && resultOf(match).yZero !== undefined && factorsOf(graph, match, gemm) !== undefined
  },
  fuse(match, graph) {
    const gemm = callOf(match, 'producer')
    const op = operatorOf(graph, 'QGemm', 1, 'onnx', 'com.microsoft')
    const inputs = { ...factorsOf(graph, match, gemm)!(), c: operandOf(gemm, 'c'), ...resultOf(match) }
    const { alpha, transposeA, transposeB } = gemm.known
    return op && { call: fusedCall(callOf(match, 'quantized'), op, inputs, { alpha, transposeA, transposeB }) }
  }
}

/**
 * A product of codes in int32 that is converted and multiplied by the product of two scales: dynamic quantization, as
 * ONNX Runtime's tools write it.
 */
const scaledPattern: Pattern = {
  name: 'scaled product',
  calls: {
    producer: {
      ops: ['MatMulInteger'],
      where: (call, graph) => ['a', 'b'].every(name => isMatrix(graph, call, name)),
      reads: { a: 'a', b: 'b' }
    },
    cast: { ops: ['Cast'], reads: { input: 'producer' } },
    scale: shared(commutative('Mul', ['aScale', 'bScale'])),
    scaled: commutative('Mul', ['cast', 'scale'])
  },
  root: 'scaled',
  guard: (match, graph) => scaledInputs(match, graph) !== undefined,
  fuse(match, graph) {
    const op = operatorOf(graph, 'MatMulIntegerToFloat', 1, 'onnx', 'com.microsoft')
    return op && { call: fusedCall(callOf(match, 'scaled'), op, scaledInputs(match, graph)!, {}) }
  }
}

function scaledInputs(match: Match, graph: PlanGraph): Readonly<Record<string, ValueId | undefined>> | undefined {
  const product = callOf(match, 'producer')
  const scales = [match.values.get('aScale'), match.values.get('bScale')]
  // The order of the factors does not tell which is whose: what is a list belongs to the columns of B.
  const [aScale, bScale] = isOne(shapeOf(graph, scales[0])) ? scales : scales.reverse()
  const [aZero, bZero] = [operandOf(product, 'aZero'), operandOf(product, 'bZero')]
  const columns = shapeOf(graph, operandOf(product, 'b'))!.at(-1)
  const fits =
    [aScale, bScale, callOf(match, 'cast').outputs[0]].every(id => isFloat32(graph, id)) &&
    isSingle(shapeOf(graph, aScale)) &&
    (aZero === undefined || isSingle(shapeOf(graph, aZero))) &&
    [bScale, bZero].every(id => id === undefined || isSingle(shapeOf(graph, id)) || isList(graph, id, columns))
  return fits ? { a: match.values.get('a'), b: match.values.get('b'), aScale, bScale, aZero, bZero } : undefined
}

/** A scaled product whose scales stand in the other order: kernels take one scale of A. */
const swappedPattern: Pattern = {
  name: 'scaled product',
  calls: { product: { ops: ['MatMulIntegerToFloat'] } },
  root: 'product',
  guard(match, graph) {
    const [aScale, bScale] = ['aScale', 'bScale'].map(name => shapeOf(graph, operandOf(callOf(match, 'product'), name)))
    return aScale?.length === 1 && aScale[0] !== 1 && isOne(bScale)
  },
  fuse(match) {
    const call = callOf(match, 'product')
    const inputs = inputsOf(call)
    const swapped = { ...inputs, aScale: inputs.bScale, bScale: inputs.aScale }
    return { call: fusedCall(call, call.op, swapped, call.known) }
  }
}

const isList = (graph: PlanGraph, id: ValueId | undefined, length: Dim | undefined): boolean => {
  const shape = shapeOf(graph, id)
  return shape?.length === 1 && length !== undefined && sameDim(shape[0], length)
}

/** Whether a constant has a number for each column, and axes of size 1 before. */
function isColumn(graph: PlanGraph, id: ValueId | undefined, length: Dim | undefined): boolean {
  const dims = id === undefined ? undefined : graph.constantOf(id)?.dims
  return dims !== undefined && dims.at(-1) === length && dims.slice(0, -1).every(dim => dim === 1)
}

/** A list that is added to the columns of a scaled product. */
export const biasPattern: Pattern = {
  name: 'scaled product',
  calls: {
    producer: { ops: ['MatMulIntegerToFloat'], where: call => operandOf(call, 'bias') === undefined },
    sum: commutative('Add', ['producer', 'bias'])
  },
  root: 'sum',
  guard(match, graph) {
    const [made, bias] = [callOf(match, 'producer').outputs[0], match.values.get('bias')]
    const [dims, rank] = [shapeOf(graph, bias), shapeOf(graph, made)?.length]
    // OpenVINO gives the list as many axes as the product has.
    const isOfColumns =
      isList(graph, bias, shapeOf(graph, made)?.at(-1)) ||
      (dims !== undefined && dims.length === rank && isColumn(graph, bias, shapeOf(graph, made)?.at(-1)))
    return isFloat32(graph, made) && isFloat32(graph, bias) && isOfColumns
  },
  fuse(match, graph) {
    const product = callOf(match, 'producer')
    const inputs = inputsOf(product)
    const bias = match.values.get('bias')!
    inputs.bias = shapeOf(graph, bias)?.length === 1 ? bias : addList(graph, bias)
    return { call: fusedCall(callOf(match, 'sum'), product.op, inputs, product.known) }
  }
}

/**
 * Convolutions, products and means of codes, in place of the numbers that the codes stand for. Sums are exact then, and
 * scaled in double precision, where the nodes apart round each product to float32.
 */
export const quantizedPatterns: readonly Pattern[] = [
  convPattern,
  productPattern,
  gemmPattern,
  poolPattern,
  scaledPattern,
  swappedPattern,
  biasPattern
]
