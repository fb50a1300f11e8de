import { fail } from '../errors.ts'
import type { GraphPort, Model, ValueId } from '../graph/graph.ts'
import type { Feed, Feeds } from '../runtime/feeds.ts'
import { type Key, kindText, valuesOf } from '../tensor/map.ts'
import { isTensor, Tensor, type Value } from '../tensor/tensor.ts'
import { type Closeness, measure, numbersOf } from './measure.ts'
import type { ComparedOutput } from './result.ts'

const portNamed = (ports: readonly GraphPort[], names: ReadonlySet<string>): GraphPort | undefined =>
  ports.find(({ name, aliases }) => names.has(name) || aliases.some(alias => names.has(alias)))

/** Inputs of a model; those that have a default, which are only fed by name, come last. */
function inputsOf({ graph: { inputs, initializers } }: Model): GraphPort[] {
  const hasDefault = ({ value }: GraphPort): boolean => initializers.has(value)
  return [...inputs.filter(port => !hasDefault(port)), ...inputs.filter(hasDefault)]
}

/** The inputs of `b` by those of `a`, as {@link feedsOf} pairs them. */
export function twinInputs(a: Model, b: Model, named: ReadonlyMap<string, string>): Map<ValueId, ValueId> {
  const [from, to] = [a, b].map(inputsOf)
  const twins = new Map<GraphPort, GraphPort>()
  for (const port of from) {
    const names = [port.name, ...port.aliases]
    const given = names.map(name => named.get(name)).find(name => name !== undefined)
    const twin = portNamed(to, new Set(given === undefined ? names : [given]))
    if (twin) twins.set(port, twin)
  }
  const taken = new Set(twins.values())
  const free = to.filter(port => !taken.has(port))
  for (const port of from) {
    const twin = twins.has(port) ? undefined : free.shift()
    if (twin) twins.set(port, twin)
  }
  return new Map([...twins].map(([port, twin]) => [port.value, twin.value]))
}

/**
 * The inputs of `b`: named by the caller, of the same name as in `a`, or at the same position.
 * @throws NodewiseError `unexpected-input` where inputs of `a` are left over
 */
export function feedsOf(a: Model, b: Model, feeds: Feeds, named: ReadonlyMap<string, string> = new Map()): Feeds {
  const [from, to] = [a, b].map(inputsOf)
  const given = new Map<string, Feed>()
  const rest: Feed[] = []
  const fed = Object.entries(feeds).map(([name, feed]) => {
    const at = from.findIndex(({ name: own, aliases }) => own === name || aliases.includes(name))
    return { name, feed, port: from[at], at: at < 0 ? Infinity : at }
  })
  // A position is that in the model, whatever the order in which a caller names inputs.
  for (const { name, feed, port } of fed.sort((x, y) => (x.at === y.at ? 0 : x.at - y.at))) {
    const names = new Set([
      named.get(name) ?? name,
      ...(named.has(name) ? [] : [port?.name ?? name, ...(port?.aliases ?? [])])
    ])
    const twin = portNamed(to, names)
    if (twin) given.set(twin.name, feed)
    else rest.push(feed)
  }
  for (const { name, value } of to) {
    if (given.has(name) || b.graph.initializers.has(value)) continue
    const feed = rest.shift()
    if (feed !== undefined) given.set(name, feed)
  }
  if (rest.length > 0) fail('unexpected-input', `${rest.length} inputs of the first model have no place in the second`)
  return Object.fromEntries(given)
}

/** The outputs of `a` and their counterparts in `b`: of the same name, or else in the order of those that are left. */
export function compareOutputs(
  a: Model,
  b: Model,
  [valuesA, valuesB]: readonly [Record<string, Value>, Record<string, Value>],
  closeness: Closeness
): ComparedOutput[] {
  const named = a.graph.outputs.map(({ name, aliases }) => portNamed(b.graph.outputs, new Set([name, ...aliases])))
  const taken = new Set(named)
  const rest = b.graph.outputs.filter(port => !taken.has(port))
  return a.graph.outputs.map(({ name }, i) => {
    const port = named[i] ?? rest.shift()
    if (port === undefined) return { a: name, b: '', problem: 'the second model has no such output' }
    return { a: name, b: port.name, ...outputDistance(valuesA[name], valuesB[port.name], closeness) }
  })
}

/** How far two values are apart, or why that cannot be said. What sequences and maps hold is measured as one list. */
export function outputDistance(x: Value, y: Value, closeness: Closeness): Pick<ComparedOutput, 'distance' | 'problem'> {
  const parts = partsOf(x, y)
  if (typeof parts === 'string') return { problem: parts }
  if (isTensor(x)) return { distance: measure(...parts[0], closeness) }
  const [a, b] = [0, 1].map(side => joined(parts.map(pair => pair[side])))
  // Where in the list an element is says nothing of where it is in the value.
  const { position: _, worst: __, ...distance } = measure(a, b, closeness)
  return { distance }
}

type Parts = readonly (readonly [x: Tensor, y: Tensor])[]

/** Tensors of two values that belong together, a map as one; a text: how the two values are built otherwise. */
function partsOf(x: Value, y: Value): Parts | string {
  if (isTensor(x) && isTensor(y))
    return x.size === y.size ? [[x, y]] : `dims [${x.dims.join(', ')}] and [${y.dims.join(', ')}]`
  if (x.type === 'optional' && y.type === 'optional') {
    if (x.value !== undefined && y.value !== undefined) return partsOf(x.value, y.value)
    return x.value === y.value ? [] : 'only one of the two is present'
  }
  if (x.type === 'map' && y.type === 'map') {
    const keys = [...(x.entries.keys() as Iterable<Key>)]
    const others = new Set<Key>(y.entries.keys() as Iterable<Key>)
    const areSame = keys.length === others.size && keys.every(key => others.has(key))
    return areSame ? [[valuesOf(x, keys), valuesOf(y, keys)]] : 'maps of other keys'
  }
  if (x.type !== 'sequence' || y.type !== 'sequence') return `${kindText(x)} and ${kindText(y)}`
  if (x.values.length !== y.values.length) return `sequences of ${x.values.length} and ${y.values.length} values`
  const parts: (readonly [Tensor, Tensor])[] = []
  for (const [i, value] of x.values.entries()) {
    const found = partsOf(value, y.values[i])
    if (typeof found === 'string') return `value ${i}: ${found}`
    for (const pair of found) parts.push(pair)
  }
  return parts
}

/** The elements of tensors one after the other: texts, or numbers of double precision. */
function joined(tensors: readonly Tensor[]): Tensor {
  if (tensors.some(({ type }) => type === 'string')) {
    const texts = tensors.flatMap(({ data }) => Array.from(data as ArrayLike<unknown>, String))
    return new Tensor('string', texts, [texts.length])
  }
  const lists = tensors.map(numbersOf)
  const numbers = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const list of lists) {
    numbers.set(list, at)
    at += list.length
  }
  return new Tensor('float64', numbers, [numbers.length])
}
