import { fail } from '../errors.ts'
import type { GraphPort, Model } from '../graph/graph.ts'
import type { Feed, Feeds } from '../runtime/feeds.ts'
import { isTensor, type Value } from '../tensor/tensor.ts'
import { type Closeness, measure } from './measure.ts'
import type { ComparedOutput } from './result.ts'

const portNamed = (ports: readonly GraphPort[], names: ReadonlySet<string>): GraphPort | undefined =>
  ports.find(({ name, aliases }) => names.has(name) || aliases.some(alias => names.has(alias)))

/**
 * The inputs of `b`: named by the caller, of the same name as in `a`, or at the same position.
 * @throws NodewiseError `unexpected-input` where inputs of `a` are left over
 */
export function feedsOf(a: Model, b: Model, feeds: Feeds, named: ReadonlyMap<string, string> = new Map()): Feeds {
  const [from, to] = [a, b].map(({ graph }) => graph.inputs.filter(({ value }) => !graph.initializers.has(value)))
  const given = new Map<string, Feed>()
  const rest: Feed[] = []
  for (const [name, feed] of Object.entries(feeds)) {
    const port = from.find(({ name: own, aliases }) => own === name || aliases.includes(name))
    const names = new Set([
      named.get(name) ?? name,
      ...(named.has(name) ? [] : [port?.name ?? name, ...(port?.aliases ?? [])])
    ])
    const twin = portNamed(to, names)
    if (twin) given.set(twin.name, feed)
    else rest.push(feed)
  }
  for (const { name } of to) {
    if (given.has(name)) continue
    const feed = rest.shift()
    if (feed !== undefined) given.set(name, feed)
  }
  if (rest.length > 0) fail('unexpected-input', `${rest.length} inputs of the first model have no place in the second`)
  return Object.fromEntries(given)
}

/** The outputs of `a` and their counterparts in `b`: of the same name, or at the same position. */
export function compareOutputs(
  a: Model,
  b: Model,
  [valuesA, valuesB]: readonly [Record<string, Value>, Record<string, Value>],
  closeness: Closeness
): ComparedOutput[] {
  return a.graph.outputs.map(({ name, aliases }, i) => {
    const names = new Set([name, ...aliases])
    const port = portNamed(b.graph.outputs, names) ?? b.graph.outputs[i]
    if (port === undefined) return { a: name, b: '', problem: 'the second model has no such output' }
    return { a: name, b: port.name, ...outputDistance(valuesA[name], valuesB[port.name], closeness) }
  })
}

/** How far two values are apart, or why that cannot be said. */
export function outputDistance(x: Value, y: Value, closeness: Closeness): Pick<ComparedOutput, 'distance' | 'problem'> {
  if (!isTensor(x) || !isTensor(y)) return { problem: `a ${x.type} and a ${y.type}` }
  if (x.size !== y.size) return { problem: `dims [${x.dims.join(', ')}] and [${y.dims.join(', ')}]` }
  return { distance: measure(x, y, closeness) }
}
