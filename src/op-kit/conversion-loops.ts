import { tensorFact } from '../shapes/fact.ts'
import { dimsOf, type Made, typeOf, type Writer } from './conversion.ts'

/** What an iteration of a loop makes. */
export interface Iteration {
  /** Whether there is another one; left out: as many as the count says. */
  readonly goes?: Made
  /** The carried values of the next one, of the same dims. */
  readonly next: readonly Made[]
  /** Values that are stacked along a new first axis. */
  readonly stacked?: readonly Made[]
}

/**
 * A Loop of ONNX.
 * @param count a scalar of int64: the most iterations
 * @param goes whether there is a first iteration
 * @param step makes the nodes of an iteration, which may read values from around the loop
 * @returns the carried values at the end and all that was stacked
 */
export function looped(
  w: Writer,
  { count, goes = w.scalar('bool', true) }: { readonly count: Made; readonly goes?: Made },
  initial: readonly Made[],
  step: (inner: Writer, iteration: Made, carried: readonly Made[]) => Iteration
): { readonly carried: readonly Made[]; readonly stacked: readonly Made[] } {
  let outputs = 0
  const body = w.block('body', inner => {
    const iteration = inner.input(tensorFact('int64', []))
    const before = inner.input(tensorFact('bool', []))
    const carried = initial.map(value => inner.input(tensorFact(typeOf(value), dimsOf(value))))
    const { goes: after = before, next, stacked = [] } = step(inner, iteration, carried)
    outputs = next.length + stacked.length
    return [inner.node('Identity', [after]), ...next, ...stacked]
  })
  const values = w.nodes('Loop', [count, goes, ...initial], { body }, { outputs })
  return { carried: values.slice(0, initial.length), stacked: values.slice(initial.length) }
}
