import type { Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { roundHalfToEven } from '../kernels/core/rounding.ts'
import type { Parameters } from '../op-kit/define.ts'
import { type Dim, normalizeAxis, sameDim } from '../shapes/dim.ts'
import { activationOf } from './fuse-epilogue.ts'
import { fusedCall, type Match, type Pattern, type PatternCall } from './fuse.ts'
import { isFloat32, type PlanGraph, positionOf, scalarOf, shapeOf, typeOf } from './graph.ts'
import { commutative, isNamed, operatorOf } from './patterns.ts'

/** What reads or makes codes: the values that an operand of a quantized operator is. */
export interface Codes {
  readonly codes: ValueId
  readonly scale: ValueId
  readonly zero: ValueId | undefined
}

/** What stands for an operand of a call. */
export const operandOf = (call: Call, name: string): ValueId | undefined => call.inputs[positionOf(call, name)]

/** DequantizeLinear of bytes to float32. Others may read its result, too. */
export const DEQUANTIZED: PatternCall = {
  is: (call, graph) =>
    isNamed('DequantizeLinear')(call) &&
    isByteValue(graph, operandOf(call, 'x')) &&
    isFloat32(graph, call.outputs[0]) &&
    call.known.blockSize === 0,
  repeats: true
}

/** QuantizeLinear of float32 to bytes, with one scale, after one of some calls. */
export const quantizedAfter = (...labels: readonly string[]): PatternCall => ({
  is: (call, graph) =>
    isNamed('QuantizeLinear')(call) &&
    isByteValue(graph, call.outputs[0]) &&
    isFloat32(graph, operandOf(call, 'x')) &&
    isFloat32(graph, operandOf(call, 'scale')) &&
    isOne(shapeOf(graph, operandOf(call, 'scale'))) &&
    (call.known.precision ?? 'float32') === 'float32',
  reads: () => labels.map(x => ({ x }))
})

/** Codes, scale and zero point of a call of DequantizeLinear. */
export const codesOf = (call: Call): Codes => ({
  codes: operandOf(call, 'x')!,
  scale: operandOf(call, 'scale')!,
  zero: operandOf(call, 'zero')
})

const isByteValue = (graph: PlanGraph, id: ValueId | undefined): boolean =>
  ['uint8', 'int8'].includes(typeOf(graph, id) ?? '')

const isOne = (shape: readonly Dim[] | undefined): boolean => shape?.every(dim => dim === 1) === true

/** Whether a call of DequantizeLinear has one scale for all, or one for each index along an axis. */
export function isAlong(graph: PlanGraph, call: Call, axis: number | undefined): boolean {
  const scale = shapeOf(graph, operandOf(call, 'scale'))
  if (isOne(scale)) return true
  const rank = shapeOf(graph, operandOf(call, 'x'))?.length
  const own = call.known.axis as number | undefined
  if (scale?.length !== 1 || rank === undefined || own === undefined || axis === undefined) return false
  return normalizeAxis(own, rank) === normalizeAxis(axis, rank)
}

const call = (match: Match, label: string): Call => match.calls.get(label)!.call

/** Relu or Clip before QuantizeLinear clamps the codes; undefined: something else. */
function rangeOf(graph: PlanGraph, match: Match): readonly [number, number] | 'all' | undefined {
  const activation = match.calls.get('activation')?.call
  const found = activation && activationOf(activation, graph)
  if (found === undefined) return 'all'
  const root = call(match, 'quantized')
  const [scale, zero] = [scalarOf(graph, operandOf(root, 'scale')), scalarOf(graph, operandOf(root, 'zero'))]
  if (found.name !== 'clip' || scale === undefined || zero === undefined || !(scale > 0)) return undefined
  const lowest = typeOf(graph, root.outputs[0]) === 'int8' ? -128 : 0
  const code = (value: number): number =>
    Math.max(lowest, Math.min(lowest + 255, roundHalfToEven(value / scale) + zero))
  return [code(found.p!), code(found.q!)]
}

const CLIPPING: PatternCall = { is: isNamed('Relu', 'Clip'), reads: () => ({ x: 'producer' }) }

/** The inputs that QuantizeLinear at the root gives to a quantized operator. */
const resultOf = (match: Match) => {
  const root = call(match, 'quantized')
  return { yScale: operandOf(root, 'scale'), yZero: operandOf(root, 'zero') }
}

/** A convolution of dequantized data and weights whose result is quantized. */
const convPattern: Pattern = {
  name: 'quantized convolution',
  calls: {
    x: DEQUANTIZED,
    w: DEQUANTIZED,
    producer: { is: isNamed('Conv'), reads: () => ({ x: 'x', w: 'w' }) },
    activation: CLIPPING,
    quantized: quantizedAfter('producer', 'activation')
  },
  root: 'quantized',
  guard(match, graph) {
    const conv = call(match, 'producer')
    return (
      conv.known.group !== 'leading' &&
      isAlong(graph, call(match, 'x'), undefined) &&
      isAlong(graph, call(match, 'w'), 0) &&
      operandOf(call(match, 'quantized'), 'zero') !== undefined &&
      rangeOf(graph, match) !== undefined
    )
  },
  fuse(match, graph) {
    const op = operatorOf(graph, 'QLinearConv', 10)
    const [conv, x, w] = [call(match, 'producer'), codesOf(call(match, 'x')), codesOf(call(match, 'w'))]
    const inputs = {
      ...{ x: x.codes, xScale: x.scale, xZero: x.zero, w: w.codes, wScale: w.scale, wZero: w.zero },
      ...resultOf(match),
      bias: operandOf(conv, 'bias')
    }
    const range = rangeOf(graph, match)
    const parameters: Parameters = { ...conv.known, channelsLast: false, range: range === 'all' ? undefined : range }
    return op && { call: fusedCall(call(match, 'quantized'), op, inputs, parameters) }
  }
}

/** The operands of a product of codes; undefined where the kernel of products takes others. */
function factorsOf(graph: PlanGraph, match: Match, columns: number) {
  const [a, b] = [call(match, 'a'), call(match, 'b')]
  const [left, right] = [codesOf(a), codesOf(b)]
  if (!isAlong(graph, a, undefined) || !isAlong(graph, b, columns)) return undefined
  if (left.zero === undefined || right.zero === undefined) return undefined
  return {
    ...{ a: left.codes, aScale: left.scale, aZero: left.zero },
    ...{ b: right.codes, bScale: right.scale, bZero: right.zero }
  }
}

const isMatrix = (graph: PlanGraph, call: Call, operand: string): boolean =>
  (shapeOf(graph, operandOf(call, operand))?.length ?? 0) > 1

/** A product of dequantized matrices whose result is quantized. */
const productPattern: Pattern = {
  name: 'quantized product',
  calls: {
    a: DEQUANTIZED,
    b: DEQUANTIZED,
    producer: { is: isNamed('MatMul'), reads: () => ({ a: 'a', b: 'b' }) },
    quantized: quantizedAfter('producer')
  },
  root: 'quantized',
  guard: (match, graph) =>
    isPlainProduct(call(match, 'producer')) &&
    ['a', 'b'].every(operand => isMatrix(graph, call(match, 'producer'), operand)) &&
    resultOf(match).yZero !== undefined &&
    factorsOf(graph, match, -1) !== undefined,
  fuse(match, graph) {
    const op = operatorOf(graph, 'QLinearMatMul', 10)
    const inputs = { ...factorsOf(graph, match, -1), ...resultOf(match) }
    return op && { call: fusedCall(call(match, 'quantized'), op, inputs, {}) }
  }
}

const POOLS: ReadonlyMap<string, string> = new Map([
  ['AveragePool', 'QLinearAveragePool'],
  ['GlobalAveragePool', 'QLinearGlobalAveragePool']
])

/** The means of windows of dequantized codes, which are quantized. */
const poolPattern: Pattern = {
  name: 'quantized pool',
  calls: {
    x: DEQUANTIZED,
    producer: { is: isNamed(...POOLS.keys()), reads: () => ({ x: 'x' }) },
    quantized: quantizedAfter('producer')
  },
  root: 'quantized',
  guard: (match, graph) =>
    isAlong(graph, call(match, 'x'), undefined) &&
    typeOf(graph, codesOf(call(match, 'x')).codes) === typeOf(graph, call(match, 'quantized').outputs[0]),
  fuse(match, graph) {
    const [pool, { codes, scale, zero }] = [call(match, 'producer'), codesOf(call(match, 'x'))]
    const op = operatorOf(graph, POOLS.get(pool.op.name)!, 1, 'onnx', 'com.microsoft')
    const { yScale, yZero } = resultOf(match)
    const inputs = { x: codes, xScale: scale, xZero: zero, resultScale: yScale, resultZero: yZero }
    return op && { call: fusedCall(call(match, 'quantized'), op, inputs, { ...pool.known, channelsLast: false }) }
  }
}

/** MatMul of OpenVINO can transpose its factors. */
const isPlainProduct = ({ known }: Call): boolean => known.transposeA !== true && known.transposeB !== true

/** Gemm of dequantized matrices whose result is quantized. */
const gemmPattern: Pattern = {
  name: 'quantized product',
  calls: {
    a: DEQUANTIZED,
    b: DEQUANTIZED,
    producer: {
      is: call => isNamed('Gemm')(call) && call.known.alpha === 1 && call.known.beta === 1,
      reads: () => ({ a: 'a', b: 'b' })
    },
    quantized: quantizedAfter('producer')
  },
  root: 'quantized',
  guard(match, graph) {
    const gemm = call(match, 'producer')
    const c = operandOf(gemm, 'c')
    const isList = c === undefined || shapeOf(graph, c)?.length === 1
    return isList && resultOf(match).yZero !== undefined && factorsOf(graph, match, columnsOf(gemm)) !== undefined
  },
  fuse(match, graph) {
    const gemm = call(match, 'producer')
    const op = operatorOf(graph, 'QGemm', 1, 'onnx', 'com.microsoft')
    const inputs = { ...factorsOf(graph, match, columnsOf(gemm)), c: operandOf(gemm, 'c'), ...resultOf(match) }
    const { alpha, transposeA, transposeB } = gemm.known
    return op && { call: fusedCall(call(match, 'quantized'), op, inputs, { alpha, transposeA, transposeB }) }
  }
}

const columnsOf = ({ known }: Call): number => (known.transposeB === true ? 0 : 1)

/**
 * A product of codes in int32 that is converted and multiplied by the product of two scales: dynamic quantization, as
 * ONNX Runtime's tools write it.
 */
const scaledPattern: Pattern = {
  name: 'scaled product',
  calls: {
    producer: {
      is: (call, graph) => isNamed('MatMulInteger')(call) && ['a', 'b'].every(name => isMatrix(graph, call, name)),
      reads: () => ({ a: 'a', b: 'b' })
    },
    cast: { is: isNamed('Cast'), reads: () => ({ input: 'producer' }) },
    scale: { ...commutative('Mul', ['aScale', 'bScale']), repeats: true },
    scaled: commutative('Mul', ['cast', 'scale'])
  },
  root: 'scaled',
  guard: (match, graph) => scaledInputs(match, graph) !== undefined,
  fuse(match, graph) {
    const op = operatorOf(graph, 'MatMulIntegerToFloat', 1, 'onnx', 'com.microsoft')
    return op && { call: fusedCall(call(match, 'scaled'), op, scaledInputs(match, graph)!, {}) }
  }
}

function scaledInputs(match: Match, graph: PlanGraph): Readonly<Record<string, ValueId | undefined>> | undefined {
  const product = call(match, 'producer')
  const scales = [match.values.get('aScale'), match.values.get('bScale')]
  // The order of the factors does not tell which is whose: what is a list belongs to the columns of B.
  const [aScale, bScale] = isOne(shapeOf(graph, scales[0])) ? scales : scales.reverse()
  const [aZero, bZero] = [operandOf(product, 'aZero'), operandOf(product, 'bZero')]
  const columns = shapeOf(graph, operandOf(product, 'b'))!.at(-1)
  const fits =
    [aScale, bScale, call(match, 'cast').outputs[0]].every(id => isFloat32(graph, id)) &&
    isOne(shapeOf(graph, aScale)) &&
    (aZero === undefined || isOne(shapeOf(graph, aZero))) &&
    [bScale, bZero].every(id => id === undefined || isOne(shapeOf(graph, id)) || isList(graph, id, columns))
  return fits ? { a: match.values.get('a'), b: match.values.get('b'), aScale, bScale, aZero, bZero } : undefined
}

const isList = (graph: PlanGraph, id: ValueId | undefined, length: Dim | undefined): boolean => {
  const shape = shapeOf(graph, id)
  return shape?.length === 1 && length !== undefined && sameDim(shape[0], length)
}

/** A list that is added to the columns of a scaled product. */
const biasPattern: Pattern = {
  name: 'scaled product',
  calls: {
    producer: {
      is: call => isNamed('MatMulIntegerToFloat')(call) && operandOf(call, 'bias') === undefined
    },
    sum: commutative('Add', ['producer', 'bias'])
  },
  root: 'sum',
  guard(match, graph) {
    const [made, bias] = [call(match, 'producer').outputs[0], match.values.get('bias')]
    return isFloat32(graph, made) && isFloat32(graph, bias) && isList(graph, bias, shapeOf(graph, made)?.at(-1))
  },
  fuse(match) {
    const product = call(match, 'producer')
    const inputs = Object.fromEntries(product.operands.map(({ name, index }) => [name, product.inputs[index]]))
    inputs.bias = match.values.get('bias')
    return { call: fusedCall(call(match, 'sum'), product.op, inputs, product.known) }
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
  biasPattern
]
