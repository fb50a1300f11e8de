import type { Call } from '../bind/call.ts'
import type { Constant, ValueId } from '../graph/graph.ts'
import { FOLDING, runCall } from '../infer/run.ts'
import { drain } from '../kernels/core/pace.ts'
import type { SelectKernel } from '../op-kit/define.ts'
import { isConcrete } from '../shapes/dim.ts'
import { DTYPES } from '../tensor/dtype.ts'
import { elementCount, type Tensor, type Value } from '../tensor/tensor.ts'
import { derivedConstant, keyOfMade, tensorOf } from './derive.ts'
import {
  isPlanCall,
  nodesOfAll,
  operandOf,
  outputsOf,
  type PlanCall,
  type PlanGraph,
  shapeOf,
  typeOf
} from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed } from './patterns.ts'

const isConv = isNamed('Conv', 'ConvTranspose')
const isProduct = isNamed('MatMul')
const isGemm = isNamed('Gemm')
const isNorm = isNamed('BatchNormalization')
const isRecurrent = isNamed('LSTM', 'GRU', 'RNN')
/** What moves weights, or converts them, has patterns of its own, and so have codes. */
const isMoving = isNamed('Cast', 'Flatten', 'Identity', 'Reshape', 'Squeeze', 'Transpose', 'Unsqueeze')
/**
 * Operators whose kernels take a few passes over their elements: what is computed for a constant cannot be interrupted.
 * None of them takes codes.
 */
const isQuick = isNamed(
  ...['Abs', 'Add', 'BatchNormalization', 'Cast', 'Clip', 'Concat', 'Div', 'Exp', 'Expand', 'Flatten', 'Identity'],
  ...['InstanceNormalization', 'LayerNormalization', 'Max', 'Min', 'Mul', 'Neg', 'Pow', 'Reciprocal', 'ReduceL1'],
  ...['ReduceL2', 'ReduceMax', 'ReduceMean', 'ReduceSum', 'ReduceSumSquare', 'Reshape', 'Sigmoid', 'Slice', 'Softplus'],
  ...['Split', 'Sqrt', 'Squeeze', 'Sub', 'Sum', 'Tanh', 'Transpose', 'Unsqueeze', 'Where']
)

/** More calls have steps of their own, whose memory is counted. */
const MAX_CALLS = 32

/** Calls that read constants alone and make weights of them. */
interface Chain {
  /** In the order in which they run. */
  readonly calls: PlanCall[]
  readonly constants: Map<ValueId, Constant | Tensor>
}

/**
 * Weights that nodes compute of constants become constants themselves: of weights that are held as a direction and a
 * length (`weight_norm`), or made to have mean 0 and variance 1 before a convolution reads them; and so do biases, such
 * as the zeros that PyTorch's exporter expands for a convolution without one. They are computed when they are first
 * read, and let go of once a kernel has packed them.
 */
export const computedWeights: Pass = {
  name: 'computed weights',
  requires: ['prune'],
  run(graph) {
    if (graph.isObserved) return false
    const ofConstants = callsOfConstants(graph)
    const made = new Set<PlanCall>()
    // Backwards, so that a chain is as long as it may be: it may grow no larger than the constants that it begins with.
    for (const item of graph.calls.toReversed()) {
      const { call } = item
      if (made.has(item)) continue
      for (const id of partsOf(graph, call)) {
        const maker = id === undefined ? undefined : graph.makerOf(id)
        if (id === undefined || !ofConstants.has(maker as PlanCall) || graph.constantOf(id)) continue
        const chain = chainOf(graph, id)
        if (!isBounded(graph, chain, call) || !(graph.isBody || isComputed(chain)) || !areWeights(graph, id)) continue
        graph.constants.set(id, constantOf(graph, id, chain))
        for (const each of chain.calls) made.add(each)
      }
    }
    // Backwards, so that what read the result of a call is gone before it.
    for (const item of graph.calls.toReversed())
      if (made.has(item) && !isNeeded(graph, item)) graph.remove(item, 'folded')
    return made.size > 0
  }
}

/**
 * The operands that a kernel may pack, or that belong to them; in a body, whose nodes run with each iteration whatever
 * they make, all inputs.
 */
function partsOf(graph: PlanGraph, call: Call): readonly (ValueId | undefined)[] {
  if (graph.isBody) return call.inputs
  const names = isConv(call) ? ['w', 'bias'] : isGemm(call) ? ['b', 'c'] : isProduct(call) ? ['b'] : []
  const all = isNorm(call) ? ['scale', 'bias', 'mean', 'variance'] : isRecurrent(call) ? ['w', 'r', 'b'] : names
  return all.map(name => operandOf(call, name))
}

/** Whether more is done than to move what is there. */
const isComputed = ({ calls }: Chain): boolean => !calls.every(item => isMoving(item.call))

/** Whether a value is nothing but weights. */
const areWeights = (graph: PlanGraph, id: ValueId): boolean =>
  !graph.isOutside(id) &&
  [...graph.readersOf(id)].every(
    reader =>
      isPlanCall(reader) &&
      partsOf(graph, reader.call).includes(id) &&
      reader.call.inputs.filter(input => input === id).length === 1
  )

const isNeeded = (graph: PlanGraph, item: PlanCall): boolean =>
  outputsOf(item).some(id => id !== undefined && graph.isRead(id) && !graph.constants.has(id))

/** Calls that make the same tensors in every run, since they read constants alone, and others of these. */
function callsOfConstants(graph: PlanGraph): ReadonlySet<PlanCall> {
  const calls = new Set<PlanCall>()
  const isSteady = (id: ValueId | undefined): boolean => {
    if (id === undefined) return true
    const constant = graph.constantOf(id)
    if (constant) return !isOfFewBits(constant)
    return calls.has(graph.makerOf(id) as PlanCall)
  }
  for (const item of graph.calls)
    if (item.call.inputs.every(isSteady) && isRepeatable(graph, item.call)) calls.add(item)
  return calls
}

/** Codes, which are packed as they are. */
const isOfFewBits = ({ type }: Constant | Tensor): boolean => type !== 'bool' && DTYPES[type].bits <= 8

/** Whether a call makes the same tensors, of dims that are known, of the same constants. */
const isRepeatable = (graph: PlanGraph, call: Call): boolean =>
  isQuick(call) &&
  call.outputs.every(id => {
    const dims = shapeOf(graph, id)
    return id === undefined || (dims !== undefined && isConcrete(dims) && typeOf(graph, id) !== undefined)
  })

/** All that makes a value which comes of constants alone. */
function chainOf(graph: PlanGraph, id: ValueId): Chain {
  const chain: Chain = { calls: [], constants: new Map() }
  const seen = new Set<ValueId>()
  const visit = (value: ValueId | undefined): void => {
    if (value === undefined || seen.has(value)) return
    seen.add(value)
    const constant = graph.constantOf(value)
    if (constant) return void chain.constants.set(value, constant)
    const item = graph.makerOf(value) as PlanCall
    item.call.inputs.forEach(visit)
    if (!chain.calls.includes(item)) chain.calls.push(item)
  }
  visit(id)
  return chain
}

/**
 * Whether nothing on the way is larger than the largest constant, of these or of what the reader has beside them: what
 * is computed for a constant is not counted against the memory of a run, and a file may ask for any dims.
 */
function isBounded(graph: PlanGraph, { calls, constants }: Chain, reader: Call): boolean {
  const beside = reader.inputs.flatMap(id => (id === undefined ? [] : (graph.constantOf(id) ?? [])))
  const largest = Math.max(0, ...[...constants.values(), ...beside].map(({ dims }) => elementCount(dims)))
  const isSmall = (id: ValueId | undefined): boolean =>
    id === undefined || elementCount(shapeOf(graph, id) as readonly number[]) <= largest
  return calls.length <= MAX_CALLS && calls.every(({ call }) => call.outputs.every(isSmall))
}

function constantOf(graph: PlanGraph, id: ValueId, { calls, constants }: Chain): Constant {
  const [dims, type] = [shapeOf(graph, id) as readonly number[], typeOf(graph, id)!]
  const read = (): Tensor => computed(id, calls, constants, graph.select)
  const [source] = [...constants.values()].sort((a, b) => elementCount(b.dims) - elementCount(a.dims))
  const key = `${keyOfMade(id, nodesOfAll(calls))}\0computed${graph.select ? '' : ' by operators'}`
  return derivedConstant(source, key, type, dims, read, { beside: [...constants.values()] })
}

/** The value of the last of some calls. */
function computed(
  id: ValueId,
  calls: readonly PlanCall[],
  constants: ReadonlyMap<ValueId, Constant | Tensor>,
  select: SelectKernel | undefined
): Tensor {
  const values = new Map<ValueId, Value>()
  const valueOf = (input: ValueId | undefined): Value | undefined => {
    if (input === undefined) return undefined
    const value = values.get(input) ?? tensorOf(constants.get(input)!)
    values.set(input, value)
    return value
  }
  for (const { call } of calls) {
    const results = drain(runCall(call, call.inputs.map(valueOf), { ...FOLDING, select }) as Generator<void, Value[]>)
    call.outputs.forEach((to, i) => to !== undefined && values.set(to, results[i]))
  }
  return values.get(id) as Tensor
}
