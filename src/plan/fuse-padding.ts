import type { Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import type { Activation } from '../op-kit/fused.ts'
import type { PoolParams } from '../op-kit/pool-shape.ts'
import { normalizeAxes } from '../shapes/dim.ts'
import type { WindowParams } from '../shapes/window.ts'
import { inputsOf } from './code-ops.ts'
import { fusedCall } from './fuse.ts'
import { callMaking, operandOf, type PlanGraph, scalarOf, shapeOf } from './graph.ts'
import type { Match, Pattern } from './match.ts'
import { isNamed, numbersOf } from './patterns.ts'

/**
 * Zeros that a Pad puts around what another call slides windows over, as converters of TensorFlow and Keras write them:
 * pads of that call, which makes no copy.
 * @param admits whether pads of this call are as good as zeros
 */
const paddedBy = (name: string, admits: (match: Match, graph: PlanGraph) => boolean): Pattern => ({
  name: 'padding',
  calls: {
    pad: { ops: ['Pad'], where: ({ known }) => known.mode === 'constant', reads: { data: 'x' } },
    windows: { ops: [name], where: isExplicit, reads: { x: 'pad' } }
  },
  root: 'windows',
  guard: (match, graph) => fillsWithZeros(graph, match.calls.get('pad')!.call) && admits(match, graph),
  fuse(match, graph) {
    const { call } = match.calls.get('windows')!
    const pads = padsOf(match, graph)
    if (pads === undefined) return undefined
    const inputs = { ...inputsOf(call), x: match.values.get('x') }
    return { call: fusedCall(call, call.op, inputs, { ...call.known, ...pads, autoPad: 'explicit' }) }
  }
})

/** Windows of a convolution, whose pads are zeros. */
const convolutionPattern = paddedBy('Conv', () => true)

/** Windows of MaxPool, whose pads count as nothing: the same where all else is at least 0, and in each window. */
const maxPoolPattern = paddedBy('MaxPool', (match, graph) => {
  const { call } = match.calls.get('windows')!
  const { kernel, rounding, dilations } = call.known as unknown as PoolParams
  const pads = padsOf(match, graph)
  const isNarrow = (list: readonly number[]): boolean => list.every((pad, i) => pad < kernel[i])
  return (
    pads !== undefined &&
    isNarrow(pads.begin) &&
    isNarrow(pads.end) &&
    rounding === 'floor' &&
    (dilations ?? []).every(dilation => dilation === 1) &&
    call.outputs[1] === undefined &&
    isAtLeastZero(graph, match.values.get('x')!)
  )
})

export const paddingPatterns: readonly Pattern[] = [convolutionPattern, maxPoolPattern]

/** Whether the call that makes a value is, or ends with, a function that gives no number below 0. */
function isAtLeastZero(graph: PlanGraph, id: ValueId): boolean {
  const maker = callMaking(graph, id)
  if (maker === undefined) return false
  const activation = maker.known.activation as Activation | undefined
  return isNamed('Relu', 'Sigmoid')(maker) || (activation?.name === 'clip' && (activation.p ?? 0) >= 0)
}

const windowsOf = ({ known }: Call): WindowParams => known as unknown as WindowParams

function isExplicit(call: Call): boolean {
  const { autoPad } = windowsOf(call)
  return autoPad === 'explicit' || autoPad === 'valid'
}

/** Whether a Pad of constants puts zeros: the number is an input, or an attribute in ONNX before opset 11. */
export function fillsWithZeros(graph: PlanGraph, pad: Call): boolean {
  const fill = operandOf(pad, 'fill')
  return fill === undefined ? pad.known.value === 0 : scalarOf(graph, fill) === 0
}

interface Pads {
  readonly begin: readonly number[]
  readonly end: readonly number[]
}

/** Pads of both calls. */
function padsOf(match: Match, graph: PlanGraph): Pads | undefined {
  const pads = spatialPads(match, graph)
  const { begin, end, autoPad } = windowsOf(match.calls.get('windows')!.call)
  const added = (more: readonly number[], own: readonly number[] | undefined): readonly number[] =>
    more.map((pad, i) => pad + (autoPad === 'valid' ? 0 : (own?.[i] ?? 0)))
  return pads && { begin: added(pads.begin, begin), end: added(pads.end, end) }
}

/** Pads of the spatial axes; undefined where they are not known, others are padded, or something is cut off. */
function spatialPads({ calls, values }: Match, graph: PlanGraph): Pads | undefined {
  const { call } = calls.get('pad')!
  const rank = shapeOf(graph, values.get('x'))?.length
  const lists = listsOf(graph, call)
  const axes = given(graph, call, 'axes')
  if (rank === undefined || lists === undefined || axes === undefined) return undefined
  const padded = axes.length === 0 ? Array.from({ length: rank }, (_, i) => i) : normalizeAxes(axes, rank)
  const [begin, end] = lists.map(list => {
    const all = new Array<number>(rank).fill(0)
    padded.forEach((axis, i) => {
      all[axis] = list[i]
    })
    return all
  })
  const isSpatial = (list: readonly number[]): boolean => list.every((pad, axis) => (axis < 2 ? pad === 0 : pad >= 0))
  return isSpatial(begin) && isSpatial(end) ? { begin: begin.slice(2), end: end.slice(2) } : undefined
}

/** Pads at the beginnings and at the ends of the axes. */
function listsOf(graph: PlanGraph, call: Call): readonly [readonly number[], readonly number[]] | undefined {
  const pads = given(graph, call, 'pads')
  if (pads === undefined) return undefined
  if (pads.length > 0) return [pads.slice(0, pads.length / 2), pads.slice(pads.length / 2)]
  const [begin, end] = [given(graph, call, 'begin'), given(graph, call, 'end')]
  return begin?.length && end?.length === begin.length ? [begin, end] : undefined
}

/** A list of numbers, empty where a version of the operator has none; undefined where it is not known. */
const given = (graph: PlanGraph, call: Call, name: string): readonly number[] | undefined =>
  numbersOf(graph, call, name)?.filter((pad: number | undefined) => pad !== undefined)
