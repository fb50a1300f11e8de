import type { Place } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import type { DeclaredType, Finding, FindingCode } from '../graph/graph.ts'
import { exceed, type Limits } from '../graph/limits.ts'
import type { Column, Element, XmlTree } from './tree.ts'

export type TensorType = Extract<DeclaredType, { kind: 'tensor' }>

/** What reading one model shares among its graphs. */
export interface ModelScope {
  readonly file: string
  readonly xml: XmlTree
  /** Version of the IR; 0 for a bare layer, where ids, names and precisions may be missing. */
  readonly irVersion: number
  readonly bin: () => ByteSource | undefined
  readonly locate: (place: Place) => Place
  readonly limits: Limits
  /** Every `version` of a layer: `opset8` → 8, names that are no opset → 0. */
  readonly opsets: Map<string, number>
  /** Byte offsets of the dims of all ports. */
  readonly dimOffsets: Column
  /** What ports declare, by its text. */
  readonly portTypes: Map<string, TensorType>
  readonly notes: Notes
  readonly weights: Weights
  /** Layers and findings so far, for the limits. */
  readonly counts: { layers: number; findings: number }
}

/** What reading one graph collects. */
export interface GraphScope {
  readonly model: ModelScope
  /** The way into the graph, as in {@link Place.graphPath}. */
  readonly path: string
  readonly findings: Finding[]
}

/** Kinds of elements that were passed over, with how often. */
export type Notes = Map<string, number>

/** Constants seen so far. */
export interface Weights {
  bytes: number
  parameters: number
  /** `offset:size` of regions that are counted already. */
  readonly regions: Set<string>
}

/** Place of an element that belongs to no layer. */
export const placeOf = (scope: GraphScope, element: Element): Place => ({
  file: scope.model.file,
  offset: scope.model.xml.offset(element),
  ...(scope.path !== '' && { graphPath: scope.path })
})

/**
 * Adds a finding to the graph.
 * @throws NodewiseError `limit-exceeded` when the model has too many
 */
export function report(
  scope: GraphScope,
  severity: Finding['severity'],
  code: FindingCode,
  message: string,
  place: Place,
  onlyIfNeeded?: Finding['onlyIfNeeded']
): void {
  const { counts, limits, locate } = scope.model
  if (++counts.findings > limits.findings)
    exceed('findings', limits, `the file has more than ${limits.findings} faults`, locate(place))
  scope.findings.push({ code, severity, message, place, ...(onlyIfNeeded && { onlyIfNeeded }) })
}

/** Text of a file within a message: quoted, on one line, not too long. */
export const quote = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text)

/** What is wrong with a number that an element should have. */
export const badNumber = (element: string, name: string, text: string | undefined): string =>
  text === undefined
    ? `${element} without ${name}`
    : `${name} ${quote(text)} of ${element} is no number that is read here`

/** Remembers children of `element` that reading passes over. */
export function notePassedOver({ xml, notes }: ModelScope, element: Element, known: ReadonlySet<string>): void {
  for (let child = xml.firstChild(element); child !== undefined; child = xml.nextSibling(child, element)) {
    const name = xml.name(child)
    if (known.has(name)) continue
    const what = `<${name}> in <${xml.name(element)}>`
    notes.set(what, (notes.get(what) ?? 0) + 1)
  }
}
