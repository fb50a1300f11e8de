import type { Place } from '../errors.ts'
import type { Node, ValueId } from '../graph/graph.ts'
import { producersOf, sortNodes } from '../graph/sort.ts'
import { isVisible, STOPS_NOTHING, type Building, type GraphParts } from './building.ts'

/** Names that a graph itself makes: inputs, initializers and outputs of nodes. */
export function namesOf(parts: GraphParts): Set<string> {
  const names = new Set<string>()
  for (const { name } of parts.inputs) names.add(name)
  for (const { name } of parts.initializers) names.add(name)
  for (const { values } of parts.sparseInitializers) if (values) names.add(values.name)
  for (const node of parts.nodes) for (const name of node.output) names.add(name)
  names.delete('')
  return names
}

/** Where each name of the graph is made; reports names that are made twice. */
export function placesOf(parts: GraphParts, nodes: readonly Node[], { place, scope, report }: Building): Map<ValueId, Place> {
  const places = new Map<ValueId, Place>()
  for (const { name } of parts.inputs) {
    const at = { ...place, value: name }
    if (name === '') report({ code: 'missing-name', message: 'a graph input has no name' }, place)
    else if (places.has(name)) report({ code: 'duplicate-name', message: `two graph inputs are called "${name}"` }, at)
    else places.set(name, at)
  }
  const made = new Map<ValueId, Place>()
  for (const node of nodes) {
    for (const output of node.outputs) {
      if (output === undefined) continue
      const at = { ...node.place, value: output }
      const earlier = made.get(output)
      if (earlier) report({ code: 'duplicate-name', message: `"${output}" is already made by node ${earlier.nodeIndex}` }, at)
      else made.set(output, at)
    }
  }
  const constants = [...parts.initializers.map(({ name }) => name), ...parts.sparseInitializers.map(({ values }) => values?.name ?? '')]
  for (const name of constants) if (scope.own.has(name) && !places.has(name)) places.set(name, { ...place, value: name })
  for (const [name, at] of made) {
    if (places.has(name)) report({ code: 'duplicate-name', message: `"${name}" is also a graph input or an initializer` }, at)
    else places.set(name, at)
  }
  return places
}

/** Reports names that hide one of a graph around. */
export function reportShadowing(places: ReadonlyMap<ValueId, Place>, { outer, report }: Building): void {
  for (const [name, place] of places) {
    if (!isVisible(outer, name)) continue
    const message = `"${name}" hides a value of that name in a graph around this one`
    report({ code: 'shadowed-name', severity: 'warning', message }, place)
  }
}

/** Most nodes of a cycle that a message names. */
const MOST_NAMED = 8

/** Reports a cycle, or nodes that stand before those that they read. */
export function reportOrder(nodes: readonly Node[], { report }: Building): void {
  const { order, cycle } = sortNodes({ nodes })
  if (cycle) {
    const named = cycle.slice(0, MOST_NAMED).map(index => `node ${index} ${nodes[index].type}`)
    const around = [...named, ...cycle.length > MOST_NAMED ? [`${cycle.length - MOST_NAMED} more`] : [], `node ${cycle[0]}`].join(' reads ')
    return report({ code: 'cycle', message: `it waits for its own output: ${around}` }, nodes[cycle[0]].place)
  }
  if (order.every((index, position) => index === position)) return
  const producers = producersOf({ nodes })
  for (const node of nodes) {
    const isLater = (id: ValueId | undefined): boolean => id !== undefined && (producers.get(id) ?? -1) > node.index
    const early = node.inputs.find(isLater) ?? node.captures.find(isLater)
    if (early === undefined) continue
    // Only the first: one node that was moved may stand before or after many of its neighbours.
    const message = `it reads "${early}", which node ${producers.get(early)} makes later`
    return report({ code: 'not-sorted', message }, { ...node.place, value: early }, STOPS_NOTHING)
  }
}
