import { contradiction } from '../../check/compare.ts'
import { derive } from '../../graph/derive.ts'
import type { DeclaredType, Graph, GraphPort, GraphValue, Model, Node, ValueId } from '../../graph/graph.ts'
import { type Propagation, propagations } from '../../infer/propagate.ts'
import { printType } from '../../onnx/syntax/print-values.ts'
import { declarationOf, declaredIn } from '../declare.ts'
import { declaredLayers, type Wanted } from './declare-ir.ts'
import { type Change, nodeName, withBodies } from './nodes.ts'

/**
 * A model whose declarations are what is inferred: false ones are replaced; missing ones added, and others made exact,
 * but for `falseOnly`.
 */
export function declareInferred(
  model: Model,
  found: Propagation,
  { falseOnly = false }: { readonly falseOnly?: boolean } = {}
): { model: Model; changed: Change[] } {
  const isFalse: Wanted = (fact, declared) =>
    declared !== undefined &&
    contradiction({ declared, where: () => ({ what: '', place: {} }) }, fact, model.dialect) !== undefined
  const isWanted: Wanted = falseOnly ? isFalse : () => true
  const changed: Change[] = []
  const factsOf = new Map<Graph, Propagation['facts']>()
  for (const { bound, facts } of propagations(found)) factsOf.set(bound.graph, facts)
  // Where functions were expanded the main graph is another, with the same names.
  if (!factsOf.has(model.graph)) factsOf.set(model.graph, found.facts)
  const declare = (graph: Graph): Graph => {
    const facts = factsOf.get(graph)
    const parts = graph.dialect === 'openvino' ? declaredLayers : declaredParts
    const edited = facts === undefined ? {} : parts(graph, facts, changed, isWanted)
    const nodes = (edited.nodes ?? graph.nodes).map(node => withBodies(node, declare))
    const nodesChanged = nodes.some((node, i) => node !== graph.nodes[i])
    if (!nodesChanged && Object.keys(edited).length === 0) return graph
    return derive(graph, { ...edited, ...(nodesChanged && { nodes }) })
  }
  const graph = declare(model.graph)
  return { model: graph === model.graph ? model : derive(model, { graph }), changed }
}

function declaredParts(graph: Graph, facts: Propagation['facts'], changed: Change[], isWanted: Wanted): Partial<Graph> {
  const makers = new Map<ValueId, Node>()
  for (const node of graph.nodes) for (const id of node.outputs) if (id !== undefined) makers.set(id, node)
  const inferred = (id: ValueId, earlier: DeclaredType | undefined): DeclaredType | undefined => {
    const fact = facts.get(id)
    if (fact === undefined || !isWanted(fact, earlier)) return undefined
    const declared = declaredIn('onnx', declarationOf(fact, earlier))
    const isUntyped = declared?.kind === 'tensor' && declared.type === undefined
    return isUntyped || sameType(declared, earlier) ? undefined : declared
  }
  const values = new Map<ValueId, GraphValue>(graph.values)
  for (const [id, value] of graph.values) {
    const declared = graph.initializers.has(id) ? undefined : inferred(id, value.declared)
    if (declared === undefined) continue
    values.set(id, derive(value, { declared }))
    const maker = makers.get(id)
    const was = value.declared === undefined ? '' : `, not ${printType(value.declared)}`
    changed.push({ node: maker ? nodeName(maker) : id, how: `"${id}" is declared ${printType(declared)}${was}` })
  }
  const ports = (list: readonly GraphPort[]): readonly GraphPort[] => {
    const edited = list.map(port => {
      const declared = inferred(port.value, port.declared)
      return declared === undefined ? port : derive(port, { declared })
    })
    return edited.every((port, i) => port === list[i]) ? list : edited
  }
  const [inputs, outputs] = [ports(graph.inputs), ports(graph.outputs)]
  return {
    ...([...values].some(([id, value]) => value !== graph.values.get(id)) && { values }),
    ...(inputs !== graph.inputs && { inputs }),
    ...(outputs !== graph.outputs && { outputs })
  }
}

const sameType = (a: DeclaredType | undefined, b: DeclaredType | undefined): boolean =>
  JSON.stringify(a) === JSON.stringify(b)
