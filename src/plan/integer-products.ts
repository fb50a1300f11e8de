import type { Call } from '../bind/call.ts'
import type { Constant, ValueId } from '../graph/graph.ts'
import { Tensor } from '../tensor/tensor.ts'
import { type CentredCodes, lowestByte } from './code-ops.ts'
import { transposedBytes } from './codes-in-rows.ts'
import { derivedConstant, elementsAtHand, tensorOf } from './derive.ts'
import { fusedCall } from './fuse.ts'
import { callMaking, isByteValue, operandOf, type PlanGraph, scalarOf, shapeOf, typeOf } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed, isPlainProduct, operatorOf } from './patterns.ts'

const isCast = isNamed('Cast')
const isSub = isNamed('Sub')
const isConv = isNamed('Conv')
const isProduct = isNamed('MatMul')

/**
 * Convolutions and products of int32 whose factors are bytes less a zero point, as ConvInteger and MatMulInteger: so
 * OpenVINO holds what ONNX Runtime quantized dynamically. Both give the same sums, which wrap.
 */
export const integerProducts: Pass = {
  name: 'integer products',
  requires: ['prune'],
  ops: ['Conv', 'MatMul'],
  run(graph) {
    if (graph.isObserved) return false
    let changed = false
    for (const item of graph.calls) {
      if (typeOf(graph, item.call.outputs[0]) !== 'int32') continue
      const call = isConv(item.call)
        ? convolutionOf(graph, item.call)
        : isProduct(item.call)
          ? productOf(graph, item.call)
          : undefined
      if (call === undefined) continue
      graph.replace(item, { ...item, call })
      changed = true
    }
    return changed
  }
}

function convolutionOf(graph: PlanGraph, call: Call): Call | undefined {
  const op = operatorOf(graph, 'ConvInteger', 10)
  if (op === undefined || operandOf(call, 'bias') !== undefined) return undefined
  const [x, w] = ['x', 'w'].map(name => centredOf(graph, operandOf(call, name)))
  return x && w && fusedCall(call, op, { x: x.codes, xZero: x.zero, w: w.codes, wZero: w.zero }, call.known)
}

function productOf(graph: PlanGraph, call: Call): Call | undefined {
  const op = operatorOf(graph, 'MatMulInteger', 10)
  if (op === undefined || !isPlainProduct(call)) return undefined
  const [a, b] = ['a', 'b'].map(name => centredOf(graph, operandOf(call, name)))
  if (a === undefined || b === undefined) return undefined
  let columns = b.codes
  if (call.known.transposeB === true) {
    const dims = graph.constantOf(b.codes)?.dims
    // What is no constant is not transposed before.
    if (dims?.length !== 2) return undefined
    columns = transposedBytes(graph, b.codes, dims)
  }
  return fusedCall(call, op, { a: a.codes, aZero: a.zero, b: columns, bZero: b.zero }, {})
}

/** The bytes of which a value of int32 is made, by Cast and Sub, or which hold the numbers of a constant. */
function centredOf(graph: PlanGraph, id: ValueId | undefined): CentredCodes | undefined {
  if (id === undefined) return undefined
  const constant = graph.constantOf(id)
  if (constant) return bytesOf(graph, id, constant)
  const maker = callMaking(graph, id)
  const shifts = maker !== undefined && isSub(maker)
  const codes = widenedBytes(graph, shifts ? callMaking(graph, operandOf(maker, 'a')) : maker)
  if (codes === undefined) return undefined
  const zero = shifts ? zeroOf(graph, operandOf(maker, 'b'), codes) : undefined
  return shifts && zero === undefined ? undefined : { codes, zero }
}

/** Bytes that a Cast makes wider. */
function widenedBytes(graph: PlanGraph, call: Call | undefined): ValueId | undefined {
  const codes = call?.inputs[0]
  return call !== undefined && isCast(call) && isByteValue(graph, codes) ? codes : undefined
}

/** A zero point for all, of the type of its codes, that gives them no more axes. */
function zeroOf(graph: PlanGraph, id: ValueId | undefined, codes: ValueId): ValueId | undefined {
  const dims = id === undefined ? undefined : shapeOf(graph, id)
  const rank = shapeOf(graph, codes)?.length
  if (id === undefined || rank === undefined || !dims?.every(dim => dim === 1) || dims.length > rank) return undefined
  const type = typeOf(graph, codes)!
  const found = scalarOf(graph, id)
  if (found !== undefined) {
    const lowest = lowestByte(type)
    const isCode = found >= lowest && found < lowest + 256
    return isCode ? graph.addConstant(`${id}\0${type}`, new Tensor(type, [found], [])) : undefined
  }
  const zero = widenedBytes(graph, callMaking(graph, id))
  return zero !== undefined && typeOf(graph, zero) === type && shapeOf(graph, zero)?.length === 0 ? zero : undefined
}

type Range = readonly [lowest: number, highest: number]

/** Ranges of constants and 0, for which they are read once. */
const ranges = new WeakMap<Constant | Tensor, Range>()

/**
 * The numbers of a constant of int32 as bytes, made when they are first read; undefined: no bytes can hold them, or
 * they are still on a server.
 */
function bytesOf(graph: PlanGraph, id: ValueId, constant: Constant | Tensor): CentredCodes | undefined {
  const range = constant.type === 'int32' ? (ranges.get(constant) ?? rangeOf(elementsAtHand(graph, id))) : undefined
  if (range === undefined) return undefined
  ranges.set(constant, range)
  const [lowest, highest] = range
  const isSigned = lowest >= -128 && highest <= 127
  const zero = isSigned ? 0 : Math.max(0, -lowest)
  if (!isSigned && Math.max(zero, highest + zero) > 255) return undefined
  const type = isSigned ? 'int8' : 'uint8'
  const read = (): Tensor => {
    const numbers = tensorOf(constant).data as Int32Array
    const codes = isSigned ? new Int8Array(numbers.length) : new Uint8Array(numbers.length)
    for (let i = 0; i < codes.length; i++) codes[i] = numbers[i] + zero
    return new Tensor(type, codes, constant.dims)
  }
  const codes = graph.addConstant(`${id}\0bytes`, derivedConstant(constant, '\0bytes', type, constant.dims, read))
  return { codes, zero: zero === 0 ? undefined : graph.addConstant(`${codes} zero`, new Tensor(type, [zero], [])) }
}

function rangeOf(tensor: Tensor | undefined): Range | undefined {
  if (tensor === undefined) return undefined
  const numbers = tensor.data as Int32Array
  let [lowest, highest] = [0, 0]
  for (let i = 0; i < numbers.length; i++) {
    lowest = Math.min(lowest, numbers[i])
    highest = Math.max(highest, numbers[i])
  }
  return [lowest, highest]
}
