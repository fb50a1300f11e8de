import { altered, type BoundGraph, type Call, isCall } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { toDoubles } from '../tensor/elements.ts'
import { fusedCall } from './fuse.ts'
import { type PlanCall, planCall, type PlanGraph, shapeOf } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed, operatorOf } from './patterns.ts'

const isScan = isNamed('Scan')
const PLAIN_ATTRIBUTES = new Set(['body', 'num_scan_inputs'])

/**
 * Squared distances between the rows of two matrices in place of a Scan over the rows of one, whose body takes them
 * from the other. This is how scikit-learn's neighbours and kernels are exported, and a run of the body takes much
 * longer than its few numbers.
 */
export const scanDistances: Pass = {
  name: 'scan-distances',
  requires: ['prune'],
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
  if (!haveRows(graph, kept, scanned) || !isDistance(body)) return undefined
  return altered(fusedCall(call, op, { a: scanned, b: kept }, { isRoot: false }), {
    outputs: [result],
    outputCount: 1
  })
}

/** Whether both are matrices with rows of the same known size. */
function haveRows(graph: PlanGraph, ...ids: readonly (ValueId | undefined)[]): boolean {
  const [a, b] = ids.map(id => (id === undefined ? undefined : shapeOf(graph, id)))
  return a?.length === 2 && b?.length === 2 && typeof a[1] === 'number' && a[1] === b[1]
}

/** Whether a body hands its matrix on and gives the sums of squares of what its rows differ by from the one row. */
function isDistance(body: BoundGraph): boolean {
  const { graph, items } = body
  if (graph.inputs.length !== 2 || graph.outputs.length !== 2 || !items.every(isCall)) return false
  const makers = new Map(items.filter(isCall).flatMap(call => call.outputs.map(id => [id, call] as const)))
  const makerOf = (id: ValueId | undefined): Call | undefined => makers.get(originOf(id, makers))
  const [matrix, row] = graph.inputs.map(({ value }) => value)
  const [handedOn, sums] = graph.outputs.map(({ value }) => value)
  const sum = makerOf(sums)
  if (originOf(handedOn, makers) !== matrix || sum === undefined || !isSumOfRows(sum, body)) return false
  const difference = makerOf(sum.inputs[0])
  if (difference === undefined || !isNamed('Sub')(difference)) return false
  const parts = difference.inputs.map(id => originOf(id, makers))
  return parts.includes(matrix) && parts.includes(row)
}

/** The value that an Identity, or one after the other, has made another one of. */
function originOf(id: ValueId | undefined, makers: ReadonlyMap<ValueId | undefined, Call>): ValueId | undefined {
  let origin = id
  for (let call = makers.get(origin); call && isNamed('Identity')(call); call = makers.get(origin))
    origin = call.inputs[0]
  return origin
}

function isSumOfRows(call: Call, { constants }: BoundGraph): boolean {
  if (!isNamed('ReduceSumSquare')(call) || call.known.keepDims !== false) return false
  const source = call.dataDependent.find(({ name }) => name === 'axes')?.source
  const id = source && call.inputs[source.index]
  const given = id === undefined ? undefined : constants.get(id)
  const axes = source === undefined ? (call.known.axes as readonly number[]) : given ? toDoubles(given.read()) : []
  return axes.length === 1 && (axes[0] === 1 || axes[0] === -1)
}
