import type { Place } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import type { DeclaredType, Finding, FindingCode } from '../graph/graph.ts'
import { exceed, type Limits } from '../graph/limits.ts'
import type { Column, Element, XmlTree } from './tree.ts'

export type TensorType = Extract<DeclaredType, { kind: 'tensor' }>

/** State of reading a model, shared by its graphs. */
export interface ModelScope {
  readonly file: string
  readonly source: ByteSource
  readonly xml: XmlTree
  /** Version of the IR; 0 for a bare layer, whose ids, names and precisions may be missing. */
  readonly irVersion: number
  readonly bin: () => ByteSource | undefined
  readonly locate: (place: Place) => Place
  readonly limits: Limits
  /** Number by `version` of the layers so far: 8 for `opset8`, 0 for names of other form. */
  readonly opsets: Map<string, number>
  /** Byte offsets of the dims of all ports so far. */
  readonly dimOffsets: Column
  /** Declared types of ports by their text. */
  readonly portTypes: Map<string, TensorType>
  readonly notes: Notes
  readonly weights: Weights
  /** Number of layers and findings so far, for the limits. */
  readonly counts: { layers: number; findings: number }
}

/** State of reading a graph. */
export interface GraphScope {
  readonly model: ModelScope
  /** Path of the graph, as in {@link Place.graphPath}. */
  readonly path: string
  readonly findings: Finding[]
}

/** Elements that are not read, as `<name> in <parent>`, and how often they occur. */
export type Notes = Map<string, number>

/** Sums over the constants so far. */
export interface Weights {
  bytes: number
  parameters: number
  /** `offset:size` of the regions of the .bin that `bytes` counts: constants may share a region. */
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
 * @throws NodewiseError `limit-exceeded` where the model has too many
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

/** Text of the file as messages have it: quoted, on one line, cut to 80 characters. */
export const quote = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text)

/** The message that an attribute, which should be a number, is missing or is none. */
export const badNumber = (element: string, name: string, text: string | undefined): string =>
  text === undefined
    ? `${element} without ${name}`
    : `${name} ${quote(text)} of ${element} is no number that is read here`

/** Notes the children of `element` that are not read, which are those whose name is not in `known`. */
export function notePassedOver({ xml, notes }: ModelScope, element: Element, known: ReadonlySet<string>): void {
  for (let child = xml.firstChild(element); child !== undefined; child = xml.nextSibling(child, element)) {
    const name = xml.name(child)
    if (known.has(name)) continue
    const what = `<${name}> in <${xml.name(element)}>`
    notes.set(what, (notes.get(what) ?? 0) + 1)
  }
}
