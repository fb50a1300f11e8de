import { altered, type Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { BINARY, MOVING, UNARY } from './fuse-codes.ts'
import { operandOf, planCallMaking, type PlanGraph, shapeOf } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed } from './patterns.ts'

const isConv = isNamed('Conv', 'FusedConv')
/** Operators that move elements, map each by itself, or normalize: errors of what they read stay as large beside it. */
const isPassing = isNamed(
  ...[...MOVING.keys(), 'Cast', 'Concat', 'Pad', 'Split'],
  ...[...UNARY, ...BINARY, 'Elementwise', 'Pow', 'PRelu', 'Where'],
  ...['BatchNormalization', 'GroupNormalization', 'LayerNormalization', 'LpNormalization', 'RMSNormalization'],
  ...['MeanVarianceNormalization', 'NormalizeL2', 'Softmax', 'LogSoftmax']
)
const isJoining = isNamed('Concat')
/** Output channels of a head. */
const MAX_HEAD_OUTPUTS = 32

/**
 * Tells convolutions that they are `isLast`: their results become outputs of the graph, moved, mapped or normalized at
 * most, or are read by the head that makes one. What a kernel errs by is seen as it is there; further sums would even
 * it out. So kernels leave algorithms whose errors are several times those of the definition. A call that reads several
 * computed values ends the way, but for Concat: else the way would lead through residuals to many convolutions.
 */
export const lastConvolutions: Pass = {
  name: 'last convolutions',
  requires: ['fuse'],
  ops: ['Conv', 'FusedConv'],
  run(graph) {
    const seen = new Set(graph.wanted)
    let changed = false
    // A set goes on to what is added meanwhile.
    for (const id of seen) {
      const item = planCallMaking(graph, id)
      if (item === undefined) continue
      const { call } = item
      if (isPassing(call) || isHead(graph, call)) for (const input of readBy(graph, call)) seen.add(input)
      if (isConv(call)) {
        graph.replace(item, { ...item, call: altered(call, { known: { ...call.known, isLast: true } }) })
        changed = true
      }
    }
    return changed
  }
}

/**
 * Whether a call makes few numbers of the channels at each place, as heads do: it evens out little. What lies before
 * heads of more channels is left as it is: detectors would take 1.04 of the time, and err the same.
 */
function isHead(graph: PlanGraph, call: Call): boolean {
  const [outputs, , ...taps] = (isConv(call) && shapeOf(graph, operandOf(call, 'w'))) || []
  return typeof outputs === 'number' && outputs <= MAX_HEAD_OUTPUTS && taps.every(count => count === 1)
}

/** The computed values that a call passes on; of a call that reads several, only where it joins them. */
function readBy(graph: PlanGraph, call: Call): ValueId[] {
  const computed = call.inputs.filter(input => input !== undefined && graph.makerOf(input) !== undefined) as ValueId[]
  return computed.length === 1 || isJoining(call) ? computed : []
}
