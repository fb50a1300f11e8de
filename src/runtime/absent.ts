import { type BoundGraph, type Call, isCall, type Unbound } from '../bind/call.ts'
import { declaredOf, type GraphPort, type Model, type ValueId } from '../graph/graph.ts'
import { declaredFact } from '../infer/declared.ts'
import { isBuiltIn } from '../op-kit/define.ts'
import type { Feeds } from './feeds.ts'
import type { GivenFacts } from './special.ts'

/** Inputs that nothing but the branches of Ifs read, such as the caches of a decoder that also runs without them. */
export function branchInputs({ graph, items }: BoundGraph): readonly GraphPort[] {
  if (!items.some(isBranching)) return []
  const read = new Set<ValueId | undefined>(graph.outputs.map(({ value }) => value))
  for (const item of items) {
    for (const id of isCall(item) ? item.inputs : item.node.inputs) read.add(id)
    if (!isBranching(item)) for (const id of capturesOf(item)) read.add(id)
  }
  return graph.inputs.filter(({ value }) => !read.has(value))
}

const isBranching = (item: Call | Unbound): boolean => isCall(item) && item.op.name === 'If' && isBuiltIn(item.op)

const capturesOf = (item: Call | Unbound): readonly ValueId[] =>
  isCall(item) ? [...item.bodies.values()].flatMap(({ captures }) => captures) : item.node.captures

/**
 * Those of them that are given without elements while a name among their dims has another size in another input.
 * Programs that generate text give such caches to the first run, whose branch does not read them: the names of their
 * dims say nothing of this run. Undefined where there are none.
 * @param ports what {@link branchInputs} gives
 */
export function absentAmong(ports: readonly GraphPort[], model: Model, feeds: Feeds): readonly ValueId[] | undefined {
  const empty = ports.filter(port => dimsGiven(port, feeds)?.includes(0) === true)
  if (empty.length === 0) return undefined
  const sizes = new Map<string, number>()
  for (const port of model.graph.inputs)
    if (!empty.includes(port)) for (const [name, size] of namedSizes(port, model, feeds)) sizes.set(name, size)
  const absent = empty.filter(port =>
    namedSizes(port, model, feeds).some(([name, size]) => (sizes.get(name) ?? size) !== size)
  )
  return absent.length > 0 ? absent.map(({ value }) => value) : undefined
}

/** What is known of absent inputs: all that the file says, but for the names of their dims. */
export const factsOfAbsent = (ids: readonly ValueId[], { graph }: Model): GivenFacts =>
  new Map(
    graph.inputs
      .filter(({ value }) => ids.includes(value))
      .map(port => [port.value, declaredFact(declaredOf(graph, port), false)])
  )

function dimsGiven({ name, aliases }: GraphPort, feeds: Feeds): readonly number[] | undefined {
  const known = [name, ...aliases].find(each => Object.hasOwn(feeds, each))
  const feed: unknown = known === undefined ? undefined : feeds[known]
  return typeof feed === 'object' && feed !== null && 'dims' in feed && Array.isArray(feed.dims) ? feed.dims : undefined
}

function namedSizes(port: GraphPort, { graph }: Model, feeds: Feeds): (readonly [string, number])[] {
  const declared = declaredOf(graph, port)
  const dims = dimsGiven(port, feeds)
  if (declared?.kind !== 'tensor' || dims === undefined) return []
  return (declared.dims ?? []).flatMap((dim, i) => (typeof dim === 'string' && i < dims.length ? [[dim, dims[i]]] : []))
}
