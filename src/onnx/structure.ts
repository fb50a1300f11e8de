import type { Place } from '../errors.ts'
import type { Node, ValueId } from '../graph/graph.ts'
import { producersOf, sortNodes } from '../graph/sort.ts'
import { type Building, type GraphParts, isVisible, NamedValue, STOPS_NOTHING } from './building.ts'

/** The values that a graph itself has: inputs, initializers and outputs of nodes. Their makers are not yet known. */
export function valuesOf(parts: GraphParts, place: Place): Map<ValueId, NamedValue> {
  const values = new Map<ValueId, NamedValue>()
  for (const { name } of parts.inputs) addValue(values, name, place)
  for (const { name } of parts.initializers) addValue(values, name, place)
  for (const { values: elements } of parts.sparseInitializers) if (elements) addValue(values, elements.name, place)
  for (const { output } of parts.nodes) for (let i = 0; i < output.length; i++) addValue(values, output[i], place)
  return values
}

/** Adds a value that has a name, unless it is there. */
export function addValue(values: Map<ValueId, NamedValue>, name: string, place: Place): void {
  if (name !== '' && !values.has(name)) values.set(name, new NamedValue(name, place))
}

/** The place of a value of a graph, or of what is called by a name that no value has. */
export const placeOf = (name: ValueId, { scope, place }: Building): Place =>
  scope.own.get(name)?.place ?? { ...place, value: name }

/**
 * Notes what makes each value of the graph; reports names that are made twice.
 * @returns whether there are such names
 */
export function setMakers(parts: GraphParts, nodes: readonly Node[], { place, scope, report }: Building): boolean {
  const at = (name: string, node?: Node): Place => ({ ...(node?.place ?? place), value: name })
  const given = new Set<ValueId>()
  for (const { name } of parts.inputs) {
    if (name === '') report({ code: 'missing-name', message: 'a graph input has no name' }, place)
    else if (given.has(name))
      report({ code: 'duplicate-name', message: `two graph inputs are called "${name}"` }, at(name))
    else given.add(name)
  }
  for (const { name } of parts.initializers) given.add(name)
  for (const { values } of parts.sparseInitializers) if (values) given.add(values.name)
  const clashes = new Map<ValueId, Node>()
  let hasDuplicates = false
  for (const node of nodes) {
    for (const output of node.outputs) {
      const value = output === undefined ? undefined : scope.own.get(output)
      if (output === undefined || value === undefined) continue
      const earlier = clashes.get(output) ?? value.maker
      if (earlier) {
        hasDuplicates = true
        report(
          { code: 'duplicate-name', message: `"${output}" is already made by node ${earlier.index}` },
          at(output, node)
        )
      } else if (given.size > 0 && given.has(output)) clashes.set(output, node)
      else value.maker = node
    }
  }
  for (const [name, node] of clashes)
    report({ code: 'duplicate-name', message: `"${name}" is also a graph input or an initializer` }, at(name, node))
  return hasDuplicates || clashes.size > 0
}

/**
 * Reports names that a graph around has as well. Those of what the graph's own node makes are not hidden: nothing in it
 * could read them, and Optimum gives the branches of merged decoders outputs with the names of those of the If.
 */
export function reportShadowing(building: Building): void {
  const { outer, results, scope, report } = building
  if (outer === undefined) return
  for (const name of scope.own.keys()) {
    if (results?.includes(name) || !isVisible(outer, name)) continue
    const message = `"${name}" hides a value of that name in a graph around this one`
    report({ code: 'shadowed-name', severity: 'warning', message }, placeOf(name, building))
  }
}

/** Maximum of nodes of a cycle that a message names. */
const MAX_NAMED = 8

/**
 * Reports a cycle, or a node that stands before one that it reads.
 * @param makerOf as {@link sortNodes} takes it
 */
export function reportOrder(
  nodes: readonly Node[],
  { report }: Building,
  makerOf?: (id: ValueId) => number | undefined
): void {
  const { order, cycle } = sortNodes({ nodes }, makerOf)
  if (cycle) {
    const named = cycle.slice(0, MAX_NAMED).map(index => `node ${index} ${nodes[index].type}`)
    const around = [
      ...named,
      ...(cycle.length > MAX_NAMED ? [`${cycle.length - MAX_NAMED} more`] : []),
      `node ${cycle[0]}`
    ].join(' reads ')
    return report({ code: 'cycle', message: `it waits for its own output: ${around}` }, nodes[cycle[0]].place)
  }
  if (order.every((index, position) => index === position)) return
  const producers = producersOf({ nodes })
  for (const node of nodes) {
    const isLater = (id: ValueId | undefined): boolean => id !== undefined && (producers.get(id) ?? -1) > node.index
    const early = node.inputs.find(isLater) ?? node.captures.find(isLater)
    if (early === undefined) continue
    // Only the first one is reported: a single node that was moved can be out of order with many others.
    const message = `it reads "${early}", which node ${producers.get(early)} makes later`
    return report({ code: 'not-sorted', message }, { ...node.place, value: early }, STOPS_NOTHING)
  }
}
