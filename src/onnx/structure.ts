import type { Place } from '../errors.ts'
import type { Node, ValueId } from '../graph/graph.ts'
import { producersOf, sortNodes } from '../graph/sort.ts'
import { type Building, type GraphParts, isVisible, STOPS_NOTHING } from './building.ts'

/** Names of the values that a graph itself has: inputs, initializers and outputs of nodes; each to itself. */
export function namesOf(parts: GraphParts): Map<string, string> {
  const names = new Map<string, string>()
  for (const { name } of parts.inputs) names.set(name, name)
  for (const { name } of parts.initializers) names.set(name, name)
  for (const { values } of parts.sparseInitializers) if (values) names.set(values.name, values.name)
  for (const { output } of parts.nodes) for (let i = 0; i < output.length; i++) names.set(output[i], output[i])
  names.delete('')
  return names
}

/** What makes each value of a graph: a node, or undefined for inputs and initializers. */
export type Makers = ReadonlyMap<ValueId, Node | undefined>

/** Place of the node that makes a value; place of the graph where no node makes it. */
export const placeOf = (name: ValueId, makers: Makers, { place }: Building): Place => ({
  ...(makers.get(name)?.place ?? place),
  value: name
})

/** What makes each value of the graph; reports names that are made twice. */
export function makersOf(parts: GraphParts, nodes: readonly Node[], { place, scope, report }: Building): Makers {
  const makers = new Map<ValueId, Node | undefined>()
  const at = (name: string, node?: Node): Place => ({ ...(node?.place ?? place), value: name })
  for (const { name } of parts.inputs) {
    if (name === '') report({ code: 'missing-name', message: 'a graph input has no name' }, place)
    else if (makers.has(name))
      report({ code: 'duplicate-name', message: `two graph inputs are called "${name}"` }, at(name))
    else makers.set(name, undefined)
  }
  const add = (name: string): void => {
    if (scope.own.has(name) && !makers.has(name)) makers.set(name, undefined)
  }
  for (const { name } of parts.initializers) add(name)
  for (const { values } of parts.sparseInitializers) add(values?.name ?? '')
  const given = makers.size
  const clashes = new Map<ValueId, Node>()
  for (const node of nodes) {
    for (const output of node.outputs) {
      if (output === undefined) continue
      const earlier = clashes.get(output) ?? makers.get(output)
      if (earlier)
        report(
          { code: 'duplicate-name', message: `"${output}" is already made by node ${earlier.index}` },
          at(output, node)
        )
      else if (given > 0 && makers.has(output)) clashes.set(output, node)
      else makers.set(output, node)
    }
  }
  for (const [name, node] of clashes)
    report({ code: 'duplicate-name', message: `"${name}" is also a graph input or an initializer` }, at(name, node))
  return makers
}

/** Reports names that a graph around has as well. */
export function reportShadowing(makers: Makers, building: Building): void {
  const { outer, report } = building
  if (outer === undefined) return
  for (const name of makers.keys()) {
    if (!isVisible(outer, name)) continue
    const message = `"${name}" hides a value of that name in a graph around this one`
    report({ code: 'shadowed-name', severity: 'warning', message }, placeOf(name, makers, building))
  }
}

/** Maximum of nodes of a cycle that a message names. */
const MAX_NAMED = 8

/** Reports a cycle, or a node that stands before one that it reads. */
export function reportOrder(nodes: readonly Node[], { report }: Building): void {
  const { order, cycle } = sortNodes({ nodes })
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
