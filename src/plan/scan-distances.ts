import { altered, type Call, isCall } from '../bind/call.ts'
import type { Node, ValueId } from '../graph/graph.ts'
import type { DType } from '../tensor/dtype.ts'
import { BodyCalls, isOne } from './body-calls.ts'
import { fusedCall } from './fuse.ts'
import { type PlanGraph, shapeOf, typeOf } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed, operatorOf } from './patterns.ts'

const isScan = isNamed('Scan')
/** Others say along which axis of an input or an output a Scan goes, and from which end. */
const PLAIN_ATTRIBUTES = new Set(['body', 'num_scan_inputs'])
/** Types of CDist: its kernel writes no codes of 16-bit floats, and its sums do not wrap as those of integers do. */
const TYPES: readonly (DType | undefined)[] = ['float32', 'float64']

/**
 * Distances between the rows of two matrices, as sums of squares, sizes or other powers of what they differ by, in
 * place of a Scan over the rows of one, whose body takes them from the other. This is how scikit-learn's neighbours and
 * kernels are exported, and a run of the body takes much longer than its few numbers.
 */
export const scanDistances: Pass = {
  name: 'scan-distances',
  requires: ['prune'],
  ops: ['Scan'],
  run: graph => !graph.isObserved && graph.replaceEach(call => (isScan(call) ? distancesFor(graph, call) : undefined))
}

function distancesFor(graph: PlanGraph, call: Call): Call | undefined {
  const body = call.bodies.get('body')
  const op = operatorOf(graph, 'CDist', 1, 'onnx', 'com.microsoft')
  const [kept, scanned] = call.inputs
  const [unchanged, result] = call.outputs
  if (body === undefined || op === undefined || call.inputs.length !== 2 || result === undefined) return undefined
  if (!isOverOneInput(call.node)) return undefined
  if (unchanged !== undefined && graph.isRead(unchanged)) return undefined
  if (!haveRows(graph, kept, scanned)) return undefined
  const power = body.items.every(isCall) ? powerOf(new BodyCalls(body, graph)) : undefined
  if (power === undefined) return undefined
  return altered(fusedCall(call, op, { a: scanned, b: kept }, { power, isRoot: false }), {
    outputs: [result],
    outputCount: 1
  })
}

/** Whether a Scan goes over the rows of one input, from the first one on. */
function isOverOneInput({ attributes }: Node): boolean {
  const count = attributes.get('num_scan_inputs')
  return count?.kind === 'int' && count.value === 1n && [...attributes.keys()].every(name => PLAIN_ATTRIBUTES.has(name))
}

/** Whether both are matrices of a type that CDist takes, with rows of the same known size. */
function haveRows(graph: PlanGraph, ...ids: readonly (ValueId | undefined)[]): boolean {
  const [a, b] = ids.map(id => shapeOf(graph, id))
  const areServed = ids.every(id => TYPES.includes(typeOf(graph, id)))
  return areServed && a?.length === 2 && b?.length === 2 && typeof a[1] === 'number' && a[1] === b[1]
}

/** The power whose sums a body gives, of what its rows differ by from the one row, where it hands its matrix on. */
function powerOf(calls: BodyCalls): number | undefined {
  const [matrix, row, ...moreInputs] = calls.inputs
  const [handedOn, sums, ...moreOutputs] = calls.outputs
  if (row === undefined || sums === undefined || moreInputs.length > 0 || moreOutputs.length > 0) return undefined
  const sum = calls.makerOf(sums, 'ReduceSumSquare', 'ReduceL1', 'ReduceSum')
  if (calls.originOf(handedOn) !== matrix || sum === undefined || !isOverRows(sum, calls)) return undefined
  const { power, of } = summedBy(sum, calls) ?? {}
  const difference = calls.makerOf(of, 'Sub')
  if (difference === undefined) return undefined
  const parts = difference.inputs.map(id => calls.originOf(id))
  return parts.includes(matrix) && parts.includes(row) ? power : undefined
}

/** Which power of the size of a value is summed up, and of which value. */
interface Summed {
  readonly power: number
  readonly of: ValueId | undefined
}

function summedBy(sum: Call, calls: BodyCalls): Summed | undefined {
  const [of] = sum.inputs
  if (sum.op.name === 'ReduceSumSquare') return { power: 2, of }
  if (sum.op.name === 'ReduceL1') return { power: 1, of }
  const call = calls.makerOf(of, 'Abs', 'Pow')
  if (call?.op.name === 'Abs') return { power: 1, of: call.inputs[0] }
  const exponent = call?.inputs[1]
  const power = calls.numberOf(exponent)
  if (call === undefined || power === undefined || !addsNoAxis(exponent, calls)) return undefined
  // CDist raises as JavaScript does, to which 1 to an infinite power is NaN. Pow gives 1.
  if (!Number.isFinite(power)) return undefined
  const size = calls.makerOf(call.inputs[0], 'Abs')
  if (size) return { power, of: size.inputs[0] }
  return power % 2 === 0 ? { power, of: call.inputs[0] } : undefined
}

/** Whether a number that is broadcast to a matrix leaves it one. */
const addsNoAxis = (id: ValueId | undefined, calls: BodyCalls): boolean => {
  const constant = calls.constantOf(calls.originOf(id))
  return constant !== undefined && constant.dims.length <= 2
}

/** Whether a call reduces the rows of a matrix, each to a number. */
function isOverRows(call: Call, calls: BodyCalls): boolean {
  const axes = calls.numbersOf(call, 'axes')
  return call.known.keepDims === false && (isOne(axes, 1) || isOne(axes, -1))
}
