import { altered } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { MOVING, UNARY } from './fuse-codes.ts'
import { isPlanCall, type PlanGraph } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed } from './patterns.ts'

const isConv = isNamed('Conv', 'FusedConv')
/** Operators that move elements, map each by itself, or normalize: errors of what they read stay as large beside it. */
const isPassing = isNamed(
  ...[...MOVING.keys(), 'Cast', 'Concat', 'Pad', 'Split'],
  ...[...UNARY, 'Elementwise', 'Add', 'Sub', 'Mul', 'Div', 'Maximum', 'Minimum', 'Pow', 'PRelu', 'Where'],
  ...['BatchNormalization', 'GroupNormalization', 'LayerNormalization', 'LpNormalization', 'RMSNormalization'],
  ...['MeanVarianceNormalization', 'NormalizeL2', 'Softmax', 'LogSoftmax']
)
const isJoining = isNamed('Concat')

/**
 * Tells convolutions whose results become outputs of the graph, moved, mapped or normalized at most, that they are
 * `isLast`. What a kernel errs by is seen as it is there; further sums would even it out. So kernels leave algorithms
 * whose errors are several times those of the definition. A call that reads several computed values ends the way,
 * but for Concat: else the way would lead through residuals to many convolutions.
 */
export const lastConvolutions: Pass = {
  name: 'last convolutions',
  requires: ['fuse'],
  run(graph) {
    const seen = new Set<ValueId>()
    const found = graph.wanted.map(id => markFrom(graph, id, seen))
    return found.includes(true)
  }
}

/** @returns whether there is a convolution on the way back from a value */
function markFrom(graph: PlanGraph, id: ValueId, seen: Set<ValueId>): boolean {
  const item = graph.makerOf(id)
  if (seen.has(id) || item === undefined || !isPlanCall(item)) return false
  seen.add(id)
  const { call } = item
  if (isConv(call)) {
    if (call.known.isLast === true) return false
    graph.replace(item, { ...item, call: altered(call, { known: { ...call.known, isLast: true } }) })
    return true
  }
  if (!isPassing(call)) return false
  const computed = call.inputs.filter(input => input !== undefined && graph.makerOf(input) !== undefined)
  if (computed.length > 1 && !isJoining(call)) return false
  return computed.map(input => markFrom(graph, input!, seen)).includes(true)
}
