import type { Call } from '../bind/call.ts'
import type { Constant, ValueId } from '../graph/graph.ts'
import { isConcrete } from '../shapes/dim.ts'
import { isFloat } from '../tensor/dtype.ts'
import { toNumbers } from '../tensor/elements.ts'
import { product, Tensor, withDims } from '../tensor/tensor.ts'
import { type CentredCodes, type CodeOps, dequantizing, lowestByte, NEAR_INTEGER } from './code-ops.ts'
import { transposedBytes } from './codes-in-rows.ts'
import { addList, derivedConstant, elementsAtHand, tensorOf } from './derive.ts'
import { callMaking, isByteValue, isFloat32, isPlanCall, operandOf, type PlanGraph, shapeOf, typeOf } from './graph.ts'
import { isNamed, turnsMatrix } from './patterns.ts'
import { roundedWeights, type WeightsInCodes } from './rounded-weights.ts'

const isCast = isNamed('Cast')
const isSub = isNamed('Sub')
const isMul = isNamed('Mul')
const isFake = isNamed('FakeQuantize')
const isReshape = isNamed('Reshape')
const isTranspose = isNamed('Transpose')
const isTaking = isNamed('Conv', 'MatMul')

/**
 * States calls that make the numbers of constant bytes, `(code - zero point) * scale`, or round constants to levels
 * that bytes can count, as one call of DequantizeLinear, where a convolution or product reads them whose other factor
 * has codes, too.
 * @param made numbers that are made of codes
 */
export function numbersAsCodes(graph: PlanGraph, made: ReadonlySet<ValueId>, ops: CodeOps): void {
  for (const item of graph.calls) {
    const { call } = item
    const to = call.outputs[0]
    if (to === undefined || !isFloat32(graph, to) || graph.isOutside(to)) continue
    if (![...graph.readersOf(to)].every(reader => isPlanCall(reader) && takesCodes(reader.call, to, made))) continue
    const weights = isFake(call) ? roundedWeights(graph, call) : weightsOf(graph, call)
    if (weights) graph.replace(item, { ...item, call: dequantizing(call, ops, weights.codes, weights.axis) })
  }
}

const takesCodes = (call: Call, id: ValueId, made: ReadonlySet<ValueId>): boolean =>
  isTaking(call) && call.inputs[1] === id && made.has(call.inputs[0]!)

/** Undefined where a call does not end the computation of numbers of bytes. */
function weightsOf(graph: PlanGraph, call: Call): WeightsInCodes | undefined {
  if (!isReshape(call) && !isTranspose(call)) return scaledWeightsOf(graph, call)
  const made = callMaking(graph, operandOf(call, 'data'))
  const weights = made && scaledWeightsOf(graph, made)
  if (weights === undefined) return undefined
  return isReshape(call) ? reshaped(graph, call, weights) : transposed(graph, call, weights)
}

/** Weights whose dims change behind the first one, along which scales may lie: OpenVINO puts groups in front. */
function reshaped(graph: PlanGraph, call: Call, { codes, axis }: WeightsInCodes): WeightsInCodes | undefined {
  const dims = shapeOf(graph, call.outputs[0])
  const constant = constantOf(graph, codes.codes)!
  if (dims === undefined || !isConcrete(dims)) return undefined
  if (axis !== undefined && (axis !== 0 || dims[0] !== constant.dims[0])) return undefined
  const read = (): Tensor => withDims(tensorOf(constant), dims)
  const key = `\0[${dims.join()}]`
  const moved = derivedConstant(constant, key, constant.type, dims, read)
  return { codes: { ...codes, codes: graph.addConstant(`${codes.codes}${key}`, moved) }, axis }
}

/** A matrix of weights whose axes change places. */
function transposed(graph: PlanGraph, call: Call, { codes, axis }: WeightsInCodes): WeightsInCodes | undefined {
  const { dims } = constantOf(graph, codes.codes)!
  if (dims.length !== 2 || !turnsMatrix(graph, call)) return undefined
  const turned = { ...codes, codes: transposedBytes(graph, codes.codes, dims) }
  return { codes: turned, axis: axis === undefined ? undefined : 1 - axis }
}

function scaledWeightsOf(graph: PlanGraph, call: Call): WeightsInCodes | undefined {
  // OpenVINO computes with float16 where it compresses constants, and widens what comes out.
  const scaled = isCast(call) ? callMaking(graph, call.inputs[0]) : call
  if (scaled === undefined || !isMul(scaled)) return undefined
  for (const [a, b] of [['a', 'b'] as const, ['b', 'a'] as const]) {
    const [numbers, scale] = [callMaking(graph, operandOf(scaled, a)), constantOf(graph, operandOf(scaled, b))]
    const found = numbers && scale && centredOf(graph, numbers)
    const weights = found && isFloat(scale.type) ? listedOf(graph, found, operandOf(scaled, b)!, scale) : undefined
    if (weights) return weights
  }
  return undefined
}

/** Convert, perhaps with Subtract behind it. */
function centredOf(graph: PlanGraph, call: Call): CentredCodes | undefined {
  const codes = codesOfCast(graph, isSub(call) ? callMaking(graph, operandOf(call, 'a')) : call)
  if (codes === undefined || !isSub(call)) return codes === undefined ? undefined : { codes, zero: undefined }
  const zero =
    codesOfCast(graph, callMaking(graph, operandOf(call, 'b'))) ?? zeroPointOf(graph, operandOf(call, 'b'), codes)
  return zero !== undefined && typeOf(graph, zero) === typeOf(graph, codes) ? { codes, zero } : undefined
}

/** Constant floats that are whole numbers, but for rounding, as bytes. */
function zeroPointOf(graph: PlanGraph, id: ValueId | undefined, codes: ValueId): ValueId | undefined {
  const constant = id !== undefined && isFloat32(graph, id) ? elementsAtHand(graph, id) : undefined
  if (constant === undefined) return undefined
  const type = typeOf(graph, codes)!
  const lowest = lowestByte(type)
  const numbers = toNumbers(constant)
  const isCode = (number: number): boolean =>
    Math.abs(number - Math.round(number)) <= NEAR_INTEGER && number > lowest - 0.5 && number < lowest + 255.5
  if (!Array.prototype.every.call(numbers, isCode)) return undefined
  return graph.addConstant(`${id}\0${type}`, new Tensor(type, Array.from(numbers, Math.round), constant.dims))
}

/** Constant bytes that a Cast makes floats of. */
function codesOfCast(graph: PlanGraph, call: Call | undefined): ValueId | undefined {
  const id = call?.inputs[0]
  if (call === undefined || id === undefined || !isCast(call)) return undefined
  return graph.constantOf(id) && isByteValue(graph, id) ? id : undefined
}

/** Scales and zero points as lists along the one axis on which both lie. */
function listedOf(
  graph: PlanGraph,
  { codes, zero }: CentredCodes,
  scaleId: ValueId,
  scale: Constant | Tensor
): WeightsInCodes | undefined {
  const { dims } = constantOf(graph, codes)!
  const zeros = zero === undefined ? undefined : constantOf(graph, zero)
  const axes = [scale, zeros].map(list => (list ? axisOf(list.dims, dims) : 'one'))
  if (axes.includes(undefined) || (zeros && axes[0] !== axes[1])) return undefined
  const own = { codes, scale: addList(graph, scaleId), zero: zero === undefined ? undefined : addList(graph, zero) }
  return { codes: own, axis: axes[0] === 'one' ? undefined : axes[0] }
}

/** The one axis of the codes along which a list lies; undefined: it lies along several, or fits none. */
function axisOf(list: readonly number[], codes: readonly number[]): number | 'one' | undefined {
  if (list.length > codes.length) return undefined
  const before = codes.length - list.length
  const along = list.flatMap((dim, i) => (dim === 1 ? [] : [i + before]))
  if (along.length === 0) return 'one'
  return along.length === 1 && codes[along[0]] === product(list) ? along[0] : undefined
}

const constantOf = (graph: PlanGraph, id: ValueId | undefined): Constant | Tensor | undefined =>
  id === undefined ? undefined : graph.constantOf(id)
