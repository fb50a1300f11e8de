import type { PortMapEntry } from '../graph/graph.ts'
import { tensorFact } from '../shapes/fact.ts'
import { unsqueezed } from './conversion-kit.ts'
import { dimsOf, type Made, type NewBody, typeOf, type Writer } from './conversion.ts'

/** What an iteration of a loop makes. */
export interface Iteration {
  /** Whether there is another one; left out: as many as the count says. */
  readonly goes?: Made
  /** The carried values of the next one, of the same dims. */
  readonly next: readonly Made[]
  /** Values that are stacked along a new first axis. */
  readonly stacked?: readonly Made[]
}

type MakeIteration = (inner: Writer, iteration: Made, carried: readonly Made[]) => Iteration

/** Carried values at the end of a loop, and all that was stacked. */
interface Looped {
  readonly carried: readonly Made[]
  readonly stacked: readonly Made[]
}

/**
 * A Loop.
 * @param count a scalar of int64: the most iterations
 * @param goes whether there is a first iteration
 * @param iterate makes the nodes of an iteration, which may read values from around the loop
 */
export function looped(
  w: Writer,
  { count, goes = w.scalar('bool', true) }: { readonly count: Made; readonly goes?: Made },
  initial: readonly Made[],
  iterate: MakeIteration
): Looped {
  const isOnnx = w.dialect === 'onnx'
  let stackedCount = 0
  const body = w.block('body', inner => {
    const iteration = inner.input(tensorFact('int64', []))
    const before = isOnnx ? inner.input(tensorFact('bool', [])) : inner.scalar('bool', true)
    const carried = initial.map(value => inner.input(tensorFact(typeOf(value), dimsOf(value))))
    const { goes: after = before, next, stacked = [] } = iterate(inner, iteration, carried)
    stackedCount = stacked.length
    return isOnnx
      ? [inner.node('Identity', [after]), ...next, ...stacked]
      : [after, ...next, ...stacked.map(each => unsqueezed(inner, each, [0]))]
  })
  const inputs = [count, goes, ...initial]
  const isStacked = [...initial.map(() => false), ...Array<boolean>(stackedCount).fill(true)]
  const values = isOnnx
    ? w.nodes('Loop', inputs, { body }, { outputs: isStacked.length })
    : loopOfOpenvino(w, body, inputs, isStacked)
  return { carried: values.slice(0, initial.length), stacked: values.slice(initial.length) }
}

/** An entry of the port map of a loop in IR. */
export const portEntry = (
  side: PortMapEntry['side'],
  externalPort: number,
  bodyIndex: number,
  more: Partial<PortMapEntry> = {}
): PortMapEntry => ({ side, externalPort, bodyIndex, ...more, place: {} })

/** How results of iterations are put side by side along a first axis of 1. */
const STACKED: Partial<PortMapEntry> = { axis: 0, start: 0, end: -1, stride: 1, partSize: 1 }

/**
 * A Loop of IR. Its body takes the number of the iteration and what is carried; its first result is the condition.
 * @param inputs the count, whether there is a first iteration, and the carried values, which lead the outputs
 * @param isStacked of each output: whether results of all iterations are put side by side
 */
export function loopOfOpenvino(
  w: Writer,
  body: NewBody,
  [count, goes, ...carried]: readonly Made[],
  isStacked: readonly boolean[]
): readonly Made[] {
  const inputs = [count, goes, ...carried]
  const entries = [
    portEntry('input', -1, 0, { purpose: 'current_iteration' }),
    ...carried.map((_, i) => portEntry('input', 2 + i, 1 + i)),
    ...body.imports.map(({ outer, parameter }) => portEntry('input', inputs.push(outer) - 1, parameter)),
    portEntry('output', -1, 0, { purpose: 'execution_condition' }),
    ...isStacked.map((stacked, i) => portEntry('output', i, 1 + i, stacked ? STACKED : {}))
  ]
  const backEdges = carried.map((_, i) => ({ fromResult: 1 + i, toParameter: 1 + i }))
  const how = { outputs: isStacked.length, portMaps: new Map([['body', entries]]), backEdges }
  return w.nodes('Loop', inputs, { body }, how)
}
