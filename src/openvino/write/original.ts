import { NodewiseError } from '../../errors.ts'
import type { DeclaredDim, DeclaredType, Graph, Model, Node } from '../../graph/graph.ts'
import { loadWithTree } from '../load.ts'
import type { Element, XmlTree } from '../tree.ts'

/** A layer as the file has it. */
export interface OriginalLayer {
  readonly node: Node
  readonly graph: Graph
  readonly element: Element
}

/**
 * The file that a model was read from, read once more. What a model does not describe (attributes and elements that are
 * not known, how a number is spelled) is taken from there: nodes are found again by the places of their layers, and a
 * section of a layer is copied where the node says the same as the file.
 */
export interface Original {
  readonly model: Model
  readonly xml: XmlTree
  /** The layer of a node; undefined where the node is not of this file. */
  layerOf(node: Node): OriginalLayer | undefined
}

/** The file of an IR that was read; undefined for a model that was made otherwise. */
export function originalOf(model: Model): Original | undefined {
  const { source, file, limits } = model
  if (source === undefined) return undefined
  const { model: read, xml } = loadWithTree(source, { file, limits })
  const layers = new Map<number, OriginalLayer>()
  const add = (graph: Graph, elements: readonly Element[]): void =>
    graph.nodes.forEach((node, index) => {
      const element = elements[index]
      layers.set(xml.offset(element), { node, graph, element })
      for (const [tag, attribute] of node.attributes) {
        const body = attribute.kind === 'graph' ? xml.child(element, tag) : undefined
        if (body !== undefined && attribute.kind === 'graph') add(attribute.value, layerElements(xml, body))
      }
    })
  add(read.graph, xml.name(xml.root) === 'layer' ? [xml.root] : layerElements(xml, xml.root))
  return {
    model: read,
    xml,
    layerOf({ place }) {
      if (place.offset === undefined || place.file !== file) return undefined
      return layers.get(place.offset)
    }
  }
}

const layerElements = (xml: XmlTree, graph: Element): Element[] => xml.children(xml.child(graph, 'layers'), 'layer')

/** Whether two declared types say the same. */
export function sameDeclared(a: DeclaredType | undefined, b: DeclaredType | undefined): boolean {
  if (a === b || a === undefined || b === undefined) return a === b
  if (a.kind !== 'tensor' || b.kind !== 'tensor') return false
  const { dims: ours } = a
  const { dims: theirs } = b
  if (a.type !== b.type || ours === undefined || theirs === undefined) return a.type === b.type && ours === theirs
  return ours.length === theirs.length && ours.every((dim, i) => sameDim(dim, theirs[i]))
}

function sameDim(a: DeclaredDim, b: DeclaredDim): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  return a.min === b.min && a.max === b.max
}

/** Whether two lists are equal, item by item. */
export const sameList = <T>(a: readonly T[], b: readonly T[], same: (a: T, b: T) => boolean = Object.is): boolean =>
  a.length === b.length && a.every((item, i) => same(item, b[i]))

/** @throws NodewiseError `invalid-graph`, at the node */
export function refuse(node: Node, message: string): never {
  throw new NodewiseError('invalid-graph', message, node.place)
}
