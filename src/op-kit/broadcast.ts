import { fail } from '../errors.ts'
import { broadcastDim, broadcastShapes, type Dim, meetDims, printDim, printShape } from '../shapes/dim.ts'
import { choice, derive, type DeriveSource, flag, int, type NodeFacts, type Written } from './sources.ts'

/**
 * How the operands of a binary operator are broadcast. `aligned`: dim 0 of the second operand belongs to dim `axis` of
 * the first (-1: the last dims of both belong together), and only the second is broadcast.
 */
export type Broadcast =
  | { readonly mode: 'numpy' }
  | { readonly mode: 'none' }
  | { readonly mode: 'aligned'; readonly axis: number }

/** ONNX before opset 7: `broadcast` and `axis`. */
export const legacyBroadcast: DeriveSource<Broadcast> = derive(node =>
  node.get(flag('broadcast')) === true ? aligned(node.get(int('axis')) ?? -1) : { mode: 'none' }
)

/** IR: `auto_broadcast`, and for `pdpd` its axis. `explicit` is an old spelling of `none`. */
export const autoBroadcast: DeriveSource<Broadcast> = derive(node => {
  const mode =
    node.get(choice('auto_broadcast', { numpy: 'numpy', none: 'none', explicit: 'none', pdpd: 'pdpd' }, 'numpy')) ??
    'numpy'
  return mode === 'pdpd' ? aligned(pdpdAxis(node)) : { mode }
}, broadcastAttributes)

function broadcastAttributes(broadcast: Broadcast): Readonly<Record<string, Written>> {
  if (broadcast.mode !== 'aligned') return { auto_broadcast: broadcast.mode }
  return { auto_broadcast: 'pdpd', 'auto_broadcast.auto_broadcast_axis': broadcast.axis }
}

const pdpdAxis = (node: NodeFacts): number => node.get(int('auto_broadcast.auto_broadcast_axis', 0)) ?? 0

function aligned(axis: number): Broadcast {
  if (axis < -1)
    fail('unknown-attribute-value', `the broadcast axis is ${axis}; expected -1 or a dimension of the first operand`)
  return { mode: 'aligned', axis }
}

/**
 * Shape of a binary operator's result; undefined when it cannot be known.
 * @throws NodewiseError `shape-mismatch`
 */
export function broadcastResult(
  a: readonly Dim[] | undefined,
  b: readonly Dim[] | undefined,
  broadcast: Broadcast
): readonly Dim[] | undefined {
  if (broadcast.mode === 'numpy') return broadcastShapes([a, b])
  if (broadcast.mode === 'none') return a && b ? equalShapes(a, b) : (a ?? b)
  if (a === undefined || b === undefined) return a
  const alignedB = alignedShape(a.length, b, broadcast.axis)
  return a.map((dim, i) => {
    const against = `${printDim(alignedB[i])} against ${printDim(dim)} at dim ${i}`
    return (
      oneWayDim(dim, alignedB[i]) ??
      fail('shape-mismatch', `shape ${printShape(b)} cannot be broadcast to ${printShape(a)}: ${against}`)
    )
  })
}

/** The shape of operands that are not broadcast and so must be equal. */
function equalShapes(a: readonly Dim[], b: readonly Dim[]): readonly Dim[] {
  const merged = a.length === b.length ? a.map((dim, i) => meetDims(dim, b[i])) : [undefined]
  if (merged.includes(undefined)) {
    fail(
      'shape-mismatch',
      `shapes ${printShape(a)} and ${printShape(b)} differ; without broadcasting they must be equal`
    )
  }
  return merged as Dim[]
}

/** `dim` where `other` is the same or 1, so that `other` can be broadcast to it; else undefined. */
function oneWayDim(dim: Dim, other: Dim): Dim | undefined {
  if (other === 1) return dim
  if (dim === 1 || typeof other === 'number') return meetDims(dim, other)
  return broadcastDim(dim, other) === undefined ? undefined : dim
}

/**
 * The second operand's shape with dims of 1 added up to the first operand's rank, ready for NumPy's rules. Trailing
 * dims of 1 that exceed that rank are dropped.
 * @throws NodewiseError `shape-mismatch` where the dims do not fit into the rank
 */
export function alignedShape<D extends Dim>(rank: number, shape: readonly D[], axis: number): (D | 1)[] {
  const start = axis === -1 ? rank - shape.length : axis
  const kept = [...shape]
  while (start + kept.length > rank && kept.at(-1) === 1) kept.pop()
  const after = rank - start - kept.length
  if (start < 0 || after < 0)
    fail('shape-mismatch', `rank ${shape.length} from dim ${start} on does not fit into rank ${rank}`)
  return [...new Array<1>(start).fill(1), ...kept, ...new Array<1>(after).fill(1)]
}
