import type { Graph, Node } from '../../graph/graph.ts'
import { unsigned } from '../numbers.ts'
import { type Original, refuse, sameList } from './original.ts'

/** Ids of a graph's layers and of their ports. */
export interface Ids {
  /** By index of the node. */
  readonly layers: readonly string[]
  readonly inputs: readonly (readonly string[])[]
  readonly outputs: readonly (readonly string[])[]
  /** Whether layers, ports and connections are those of the file, so that its edges hold, faulty ones included. */
  readonly areOriginal: boolean
}

/**
 * Gives the layers of a graph their ids: those that they have in the file, and new ones where there are none or where
 * another layer has the same.
 */
export function idsOf(graph: Graph, original: Original | undefined): Ids {
  const areOriginal = original !== undefined && isUnchanged(graph, original)
  const ports = graph.nodes.map(node => portIds(node, original))
  return {
    layers: areOriginal ? graph.nodes.map(node => node.layer ?? '') : layerIds(graph.nodes),
    inputs: ports.map(({ inputs }) => inputs),
    outputs: ports.map(({ outputs }) => outputs),
    areOriginal
  }
}

function isUnchanged(graph: Graph, original: Original): boolean {
  const first = graph.nodes.at(0)
  const base = first && original.layerOf(first)?.graph
  if (base === undefined || base.nodes.length !== graph.nodes.length) return false
  return graph.nodes.every((node, index) => {
    const layer = original.layerOf(node)
    if (layer?.graph !== base || layer.node.index !== index) return false
    const { inputs, outputs, layer: id } = layer.node
    return id === node.layer && sameList(inputs, node.inputs) && sameList(outputs, node.outputs)
  })
}

function layerIds(nodes: readonly Node[]): string[] {
  const numbers = nodes.map(({ layer }) => unsigned(layer))
  let next = numbers.reduce<number>((most, id) => Math.max(most, id ?? -1), -1) + 1
  const taken = new Set<number>()
  return numbers.map(number => {
    const id = number === undefined || taken.has(number) ? next++ : number
    taken.add(id)
    return String(id)
  })
}

/**
 * Ids of a layer's ports: those of the file where it has as many ports as there, else inputs from 0 on, then outputs.
 */
function portIds(node: Node, original: Original | undefined): { inputs: string[]; outputs: string[] } {
  const layer = original?.layerOf(node)
  if (
    layer !== undefined &&
    layer.node.inputs.length === node.inputs.length &&
    layer.node.outputs.length === node.outputs.length
  ) {
    return {
      inputs: (layer.node.inputPorts ?? []).map(({ id }) => id),
      outputs: layer.node.outputs.map(id => (id && layer.graph.values.get(id)?.place.port) ?? '')
    }
  }
  const inputs = connected(node)
  return {
    inputs: inputs.map((_, i) => String(i)),
    outputs: node.outputs.map((_, i) => String(inputs.length + i))
  }
}

/** The inputs without those at the end that are left out. */
function connected({ inputs, ...node }: Node): Node['inputs'] {
  const count = inputs.findLastIndex(id => id !== undefined) + 1
  const kept = inputs.slice(0, count)
  const gap = kept.indexOf(undefined)
  if (gap >= 0) refuse({ inputs, ...node }, `input ${gap} is left out, which IR cannot say where more inputs follow`)
  return kept
}

/** The layers of a body's Parameters or Results, by their index among these. */
export const layersOfPorts = (graph: Graph, ids: Ids, side: 'input' | 'output'): readonly string[] =>
  (side === 'input' ? graph.inputs : graph.outputs).map(({ node }) => (node === undefined ? '' : ids.layers[node]))
