import { altered, type BoundGraph, type Call, isCall } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { toDoubles } from '../tensor/elements.ts'
import { elementCount } from '../tensor/tensor.ts'
import { fusedCall } from './fuse.ts'
import { type PlanCall, planCall, type PlanGraph, shapeOf } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed, operatorOf } from './patterns.ts'

const isScan = isNamed('Scan')
const PLAIN_ATTRIBUTES = new Set(['body', 'num_scan_inputs'])

/**
 * Distances between the rows of two matrices, as sums of squares, sizes or other powers of what they differ by, in
 * place of a Scan over the rows of one, whose body takes them from the other. This is how scikit-learn's neighbours and
 * kernels are exported, and a run of the body takes much longer than its few numbers.
 */
export const scanDistances: Pass = {
  name: 'scan-distances',
  requires: ['prune'],
  ops: ['Scan'],
  run(graph) {
    if (graph.isObserved) return false
    const spread = new Map<PlanCall, readonly PlanCall[]>()
    for (const item of graph.calls) {
      const call = isScan(item.call) ? distancesFor(graph, item.call) : undefined
      if (call) spread.set(item, [planCall(call)])
    }
    graph.spread(spread)
    return spread.size > 0
  }
}

function distancesFor(graph: PlanGraph, call: Call): Call | undefined {
  const body = call.bodies.get('body')
  const op = operatorOf(graph, 'CDist', 1, 'onnx', 'com.microsoft')
  const [kept, scanned] = call.inputs
  const [unchanged, result] = call.outputs
  if (body === undefined || op === undefined || call.inputs.length !== 2 || result === undefined) return undefined
  if (![...call.node.attributes.keys()].every(name => PLAIN_ATTRIBUTES.has(name))) return undefined
  if (unchanged !== undefined && graph.isRead(unchanged)) return undefined
  if (!haveRows(graph, kept, scanned)) return undefined
  const power = powerOf(body)
  if (power === undefined) return undefined
  return altered(fusedCall(call, op, { a: scanned, b: kept }, { power, isRoot: false }), {
    outputs: [result],
    outputCount: 1
  })
}

/** Whether both are matrices with rows of the same known size. */
function haveRows(graph: PlanGraph, ...ids: readonly (ValueId | undefined)[]): boolean {
  const [a, b] = ids.map(id => (id === undefined ? undefined : shapeOf(graph, id)))
  return a?.length === 2 && b?.length === 2 && typeof a[1] === 'number' && a[1] === b[1]
}

/** The power whose sums a body gives, of what its rows differ by from the one row, where it hands its matrix on. */
function powerOf(body: BoundGraph): number | undefined {
  const { graph, items } = body
  if (graph.inputs.length !== 2 || graph.outputs.length !== 2 || !items.every(isCall)) return undefined
  const makers: Makers = new Map(items.filter(isCall).flatMap(call => call.outputs.map(id => [id, call] as const)))
  const [matrix, row] = graph.inputs.map(({ value }) => value)
  const [handedOn, sums] = graph.outputs.map(({ value }) => value)
  const sum = makerOf(sums, makers)
  if (originOf(handedOn, makers) !== matrix || sum === undefined || !isOverRows(sum, body)) return undefined
  const { power, of } = summedBy(sum, body, makers) ?? {}
  const difference = makerOf(of, makers)
  if (difference === undefined || !isNamed('Sub')(difference)) return undefined
  const parts = difference.inputs.map(id => originOf(id, makers))
  return parts.includes(matrix) && parts.includes(row) ? power : undefined
}

type Makers = ReadonlyMap<ValueId | undefined, Call>

/** Which power of the size of a value is summed up, and of which value. */
interface Summed {
  readonly power: number
  readonly of: ValueId | undefined
}

function summedBy(sum: Call, body: BoundGraph, makers: Makers): Summed | undefined {
  const [of] = sum.inputs
  if (isNamed('ReduceSumSquare')(sum)) return { power: 2, of }
  if (isNamed('ReduceL1')(sum)) return { power: 1, of }
  const call = makerOf(of, makers)
  if (!isNamed('ReduceSum')(sum) || call === undefined) return undefined
  if (isNamed('Abs')(call)) return { power: 1, of: call.inputs[0] }
  const power = isNamed('Pow')(call) ? exponentOf(call, body) : undefined
  if (power === undefined) return undefined
  const size = makerOf(call.inputs[0], makers)
  if (size && isNamed('Abs')(size)) return { power, of: size.inputs[0] }
  return power % 2 === 0 ? { power, of: call.inputs[0] } : undefined
}

/** The one number that a call raises a matrix to, where it is a constant. */
function exponentOf({ inputs: [, id] }: Call, { constants }: BoundGraph): number | undefined {
  const given = id === undefined ? undefined : constants.get(id)
  return given && given.dims.length <= 2 && elementCount(given.dims) === 1 ? toDoubles(given.read())[0] : undefined
}

const makerOf = (id: ValueId | undefined, makers: Makers): Call | undefined => makers.get(originOf(id, makers))

/** The value that an Identity, or one after the other, has made another one of. */
function originOf(id: ValueId | undefined, makers: Makers): ValueId | undefined {
  let origin = id
  for (let call = makers.get(origin); call && isNamed('Identity')(call); call = makers.get(origin))
    origin = call.inputs[0]
  return origin
}

/** Whether a call reduces the rows of a matrix, each to a number. */
function isOverRows(call: Call, { constants }: BoundGraph): boolean {
  if (call.known.keepDims !== false) return false
  const source = call.dataDependent.find(({ name }) => name === 'axes')?.source
  const id = source && call.inputs[source.index]
  const given = id === undefined ? undefined : constants.get(id)
  const known = call.known.axes as readonly number[] | undefined
  const axes = source === undefined ? (known ?? []) : given ? toDoubles(given.read()) : []
  return axes.length === 1 && (axes[0] === 1 || axes[0] === -1)
}
