import { altered, type Call } from '../bind/call.ts'
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
    const seen = new Set(graph.wanted)
    let changed = false
    // A set goes on to what is added meanwhile.
    for (const id of seen) {
      const item = graph.makerOf(id)
      if (item === undefined || !isPlanCall(item)) continue
      const { call } = item
      if (isPassing(call)) for (const input of readBy(graph, call)) seen.add(input)
      else if (isConv(call) && call.known.isLast !== true) {
        graph.replace(item, { ...item, call: altered(call, { known: { ...call.known, isLast: true } }) })
        changed = true
      }
    }
    return changed
  }
}

/** The computed values that a call passes on; of a call that reads several, only where it joins them. */
function readBy(graph: PlanGraph, call: Call): ValueId[] {
  const computed = call.inputs.filter(input => input !== undefined && graph.makerOf(input) !== undefined) as ValueId[]
  return computed.length === 1 || isJoining(call) ? computed : []
}
