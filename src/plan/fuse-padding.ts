import type { Call } from '../bind/call.ts'
import { normalizeAxes } from '../shapes/dim.ts'
import type { WindowParams } from '../shapes/window.ts'
import { fusedCall, type Match, type Pattern } from './fuse.ts'
import { type PlanGraph, positionOf, scalarOf, shapeOf } from './graph.ts'
import { isNamed, numbersOf } from './patterns.ts'

/**
 * Zeros that a Pad puts around what a convolution reads, as converters of TensorFlow and Keras write them: pads of the
 * convolution, which makes no copy.
 */
export const paddingPattern: Pattern = {
  name: 'padding',
  calls: {
    pad: { is: call => isNamed('Pad')(call) && call.known.mode === 'constant', reads: () => ({ data: 'x' }) },
    conv: {
      is: call => isNamed('Conv')(call) && isExplicit(call.known as unknown as WindowParams),
      reads: () => ({ x: 'pad' })
    }
  },
  root: 'conv',
  guard: (match, graph) => areZeros(graph, match.calls.get('pad')!.call) && padsOf(match, graph) !== undefined,
  fuse(match, graph) {
    const { call } = match.calls.get('conv')!
    const known = call.known as unknown as WindowParams
    const pads = padsOf(match, graph)!
    const added = (own: readonly number[] | undefined, more: readonly number[]): readonly number[] =>
      more.map((pad, i) => pad + (own?.[i] ?? 0))
    const isValid = known.autoPad === 'valid'
    const begin = added(isValid ? undefined : known.begin, pads.begin)
    const end = added(isValid ? undefined : known.end, pads.end)
    const operand = (name: string): string | undefined => call.inputs[positionOf(call, name)]
    const operands = { x: match.values.get('x'), w: operand('w'), bias: operand('bias') }
    return { call: fusedCall(call, call.op, operands, { ...call.known, begin, end, autoPad: 'explicit' }) }
  }
}

const isExplicit = ({ autoPad }: WindowParams): boolean => autoPad === 'explicit' || autoPad === 'valid'

function areZeros(graph: PlanGraph, pad: Call): boolean {
  const fill = pad.inputs[positionOf(pad, 'fill')]
  return fill === undefined ? pad.known.value === 0 : scalarOf(graph, fill) === 0
}

/** Pads of the spatial axes; undefined where they are not known, others are padded, or something is cut off. */
function padsOf(
  { calls, values }: Match,
  graph: PlanGraph
): { readonly begin: readonly number[]; readonly end: readonly number[] } | undefined {
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
