import { altered, type Call } from '../bind/call.ts'
import type { Attribute, Constant, ValueId } from '../graph/graph.ts'
import { drain } from '../kernels/core/pace.ts'
import { staysInOrder } from '../kernels/core/share.ts'
import { computed } from '../op-kit/byte-table.ts'
import { type Equation, labelDims, outputLabels } from '../op-kit/equation.ts'
import type { Dim } from '../shapes/dim.ts'
import { tensorFact } from '../shapes/fact.ts'
import { allocate, product, Tensor, withDims } from '../tensor/tensor.ts'
import { derivedConstant, tensorOf } from './derive.ts'
import { isFloat32, type PlanCall, planCall, type PlanGraph, shapeOf } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed, standardCall } from './patterns.ts'

const isEinsum = isNamed('Einsum')

/**
 * Einsum of a value by constant weights becomes MatMul, whose weights are packed once and to which what follows can be
 * added, where the last labels of the value are summed over and the last ones of the result are of the weights alone:
 * `abc,cde->abde` and `abde,dec->abc`, as exporters write the dense layers of attention. Reshapes merge the labels that
 * are summed over, and part those of the weights.
 */
export const einsumProducts: Pass = {
  name: 'einsum products',
  requires: ['prune'],
  ops: ['Einsum'],
  run: graph =>
    !graph.isObserved &&
    graph.spreadEach(({ call }) => (isEinsum(call) && !graph.hasFailed(call) ? productCalls(graph, call) : undefined))
}

/** A product of a value by constant weights. */
interface WeightedTerms {
  readonly x: ValueId
  /** The dims of `x` that the result keeps, which come first. */
  readonly rows: readonly Dim[]
  readonly id: ValueId
  readonly weights: Constant | Tensor
  /** Axes of the weights: those that are summed over in the order of `x`, and those of the result in its order. */
  readonly summed: readonly number[]
  readonly made: readonly number[]
}

function productCalls(graph: PlanGraph, call: Call): readonly PlanCall[] | undefined {
  const terms = weightedTerms(graph, call)
  const to = call.outputs[0]
  const matrix = terms && to !== undefined ? matrixOf(graph, call, terms) : undefined
  if (terms === undefined || to === undefined || matrix === undefined) return undefined
  const { x, rows, weights, summed, made } = terms
  const { dims } = weights
  const [depth, columns] = [summed, made].map(axes => product(axes.map(axis => dims[axis]))) as [number, number]
  const isMerged = summed.length === 1
  const isParted = made.length === 1
  const [merged, result] = [isMerged ? x : `${to}\0rows`, isParted ? to : `${to}\0product`]
  const calls = [
    isMerged ? 'none' : reshaping(graph, call, { from: x, to: merged, rows, last: [depth] }),
    calling(graph, call, { type: 'MatMul', inputs: [merged, matrix], to: result, shape: [...rows, columns] }),
    isParted ? 'none' : reshaping(graph, call, { from: result, to, rows, last: made.map(axis => dims[axis]) })
  ]
  return calls.includes(undefined) ? undefined : (calls.filter(made => made !== 'none') as PlanCall[])
}

/** The terms of a call that such a product stands for; undefined of others. */
function weightedTerms(graph: PlanGraph, call: Call): WeightedTerms | undefined {
  const { inputs } = call
  const constants = inputs.map(id => (id === undefined ? undefined : graph.constantOf(id)))
  const at = constants.findIndex(constant => constant !== undefined)
  const [x, id, weights] = [inputs[1 - at], inputs[at], constants[at]]
  const shape = shapeOf(graph, x)
  if (inputs.length !== 2 || x === undefined || id === undefined || shape === undefined || weights === undefined)
    return undefined
  if (constants[1 - at] !== undefined || !isFloat32(graph, x) || weights.type !== 'float32') return undefined
  // Reshape takes a 0 for another dim.
  if (weights.dims.includes(0)) return undefined
  const equation = call.known.equation as Equation
  const labels = labelDims(equation.terms, at === 1 ? [shape, weights.dims] : [weights.dims, shape])
  const [own, others, output] = [labels[1 - at], labels[at], outputLabels(equation, labels)]
  const summed = own.filter(label => others.includes(label))
  const made = others.filter(label => output.includes(label)).toSorted((a, b) => output.indexOf(a) - output.indexOf(b))
  const kept = own.slice(0, own.length - summed.length)
  const isProduct =
    areAlike(others.toSorted(), [...summed, ...made].toSorted()) &&
    areAlike(own, [...kept, ...summed]) &&
    areAlike(output, [...kept, ...made]) &&
    new Set([...own, ...made]).size === own.length + made.length &&
    Math.min(kept.length, summed.length, made.length) > 0
  const isWhole = summed.every(label => shape[own.indexOf(label)] === weights.dims[others.indexOf(label)])
  if (!isProduct || !isWhole) return undefined
  const axesOf = (of: readonly string[]): number[] => of.map(label => others.indexOf(label))
  return { x, id, rows: shape.slice(0, kept.length), weights, summed: axesOf(summed), made: axesOf(made) }
}

const areAlike = (a: readonly string[], b: readonly string[]): boolean => String(a) === String(b)

interface Calling {
  readonly type: string
  readonly inputs: readonly ValueId[]
  readonly to: ValueId
  readonly shape: readonly Dim[]
}

/** A call of an operator of ai.onnx in the place of another, with a result of its own. */
function calling(graph: PlanGraph, call: Call, { type, inputs, to, shape }: Calling): PlanCall | undefined {
  const made = standardCall(graph, call, { type, opset: 13, inputs })
  if (made === undefined) return undefined
  graph.describe(to, tensorFact('float32', shape))
  return planCall(altered(made, { outputs: [to] }))
}

interface Reshaping {
  readonly from: ValueId
  readonly to: ValueId
  /** Dims that stay. */
  readonly rows: readonly Dim[]
  /** Dims that come behind these. */
  readonly last: readonly number[]
}

function reshaping(graph: PlanGraph, call: Call, { from, to, rows, last }: Reshaping): PlanCall | undefined {
  // Reshape takes 0 for the dim that there is.
  const dims = BigInt64Array.from([...rows.map(() => 0), ...last], BigInt)
  const wanted = graph.addConstant(`${to}\0dims`, new Tensor('int64', dims, [dims.length]))
  return calling(graph, call, { type: 'Reshape', inputs: [from, wanted], to, shape: [...rows, ...last] })
}

/** Adds weights as a matrix of rows that are summed over, which is made when it is first read. */
function matrixOf(graph: PlanGraph, call: Call, { id, weights, summed, made }: WeightedTerms): ValueId | undefined {
  const order = [...summed, ...made]
  const perm: Attribute = { kind: 'ints', value: order.map(BigInt) }
  const turn = standardCall(graph, call, { type: 'Transpose', opset: 13, inputs: [id], attributes: { perm } })
  if (turn === undefined) return undefined
  const turned = order.map(axis => weights.dims[axis])
  const dims = [product(turned.slice(0, summed.length)), product(turned.slice(summed.length))]
  const constant = derivedConstant(weights, `\0matrix ${order.join()}:${summed.length}`, 'float32', dims, () => {
    const data = tensorOf(weights)
    // Transpose gives its operand itself where only axes of one element move, and makes nothing.
    if (staysInOrder(weights.dims, order)) return withDims(data, dims)
    const result = allocate('float32', turned)
    drain(computed(turn.op, { data }, turn.known, result) as Generator<void>)
    return withDims(result, dims)
  })
  const matrix = `${call.outputs[0]}\0weights`
  return graph.addConstant(matrix, constant)
}
