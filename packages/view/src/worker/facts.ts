import { check, type CheckResult, type DeclaredDim, meaningOf, type Model, type Place } from 'nodewise'
import { type KnownTexts, KnownTextsBuilder } from '../graph/known.ts'
import type { Flat } from './flatten.ts'
import { LEFT_OUT } from './ports.ts'

/** What a check found: of each value, by its index, type and dims as inferred, and where the file says otherwise. */
export interface Facts extends KnownTexts {
  /** Declared dims, where they differ from what is inferred. */
  readonly declared: ReadonlyMap<number, string>
  readonly findings: readonly ShownFinding[]
  readonly summary: CheckResult['summary']
  readonly milliseconds: number
}

/** A finding as the page shows it. */
export interface ShownFinding {
  readonly code: string
  readonly severity: 'error' | 'warning' | 'note'
  readonly message: string
  readonly meaning: string
  readonly declared?: string
  readonly inferred?: string
  readonly place: Place
  /** The record that it is about; -1 where it is about none. */
  readonly record: number
  /** Lines of the XML around the place, that of the place marked. */
  readonly excerpt?: readonly { readonly number: number; readonly text: string; readonly isMarked: boolean }[]
}

/** Sizes of named dims that a user asks about. */
export type Sizes = ReadonlyMap<string, number>

/** A dim that a user may set: its name, or the input and axis of one without a name. */
export interface OpenDim {
  readonly name: string
  readonly min: number
  readonly max: number
}

const keyOf = (path: string, id: string): string => `${path}\0${id}`

/** Checks a model, with sizes in place of open dims, and lays the outcome beside its columns. */
export function factsOf(model: Model, flat: Flat, sizes: Sizes = new Map()): Facts {
  const started = performance.now()
  const result = check(model, sizes.size > 0 ? { inputShapes: shapesWith(model, sizes) } : {})
  const known = new KnownTextsBuilder(flat.values.ids.length)
  const declared = new Map<number, string>()
  for (const { graphPath, id, type, dims, declaredDims } of result.values) {
    const index = flat.values.indices.get(graphPath)?.get(id)
    if (index === undefined) continue
    const text = dims?.join('×')
    known.set(index, type ?? '', text)
    const said = declaredDims?.join('×')
    if (said !== undefined && said !== text) declared.set(index, said)
  }
  const findRecord = recordFinder(flat)
  const findings = result.findings.map((finding): ShownFinding => ({
    code: finding.code,
    severity: finding.severity,
    message: finding.message,
    meaning: meaningOf(finding.code),
    ...(finding.declared !== undefined && { declared: finding.declared }),
    ...(finding.inferred !== undefined && { inferred: finding.inferred }),
    place: finding.place,
    record: findRecord(finding.place),
    ...excerptOf(model, finding.place)
  }))
  const { summary } = result
  return { ...known.known(), declared, findings, summary, milliseconds: performance.now() - started }
}

/** What a place says that a record is found by. */
type PlaceOfRecord = Pick<Place, 'graphPath' | 'layer' | 'nodeIndex' | 'value'>

/** Finds the record of a place: by layer or index of the node, else by the value that it makes. */
export function recordFinder(flat: Flat): (place: PlaceOfRecord) => number {
  // Most models have nothing to be found.
  let tables: ReturnType<typeof tablesOf> | undefined
  return ({ graphPath: path = '', layer, nodeIndex, value }) => {
    const { byNode, byValue } = (tables ??= tablesOf(flat))
    const id = layer === undefined ? nodeIndex : `layer ${layer}`
    const byPlace = id === undefined ? undefined : byNode.get(keyOf(path, `${id}`))
    return byPlace ?? (value === undefined ? undefined : byValue.get(keyOf(path, value))) ?? -1
  }
}

function tablesOf({ columns, nodes, values, outputs }: Flat): {
  readonly byNode: ReadonlyMap<string, number>
  readonly byValue: ReadonlyMap<string, number>
} {
  const byNode = new Map<string, number>()
  const byValue = new Map<string, number>()
  nodes.forEach((node, record) => {
    const { path, valuePath } = columns.graphs[columns.graph[record]]
    if (node) byNode.set(keyOf(path, node.layer === undefined ? `${node.index}` : `layer ${node.layer}`), record)
    for (let i = outputs.starts[record]; i < outputs.starts[record + 1]; i++) {
      const index = outputs.values[i]
      if (index === LEFT_OUT) continue
      const name = keyOf(valuePath, values.names[index])
      if (!byValue.has(name)) byValue.set(name, record)
      byValue.set(keyOf(valuePath, values.ids[index]), record)
    }
  })
  return { byNode, byValue }
}

/** Bytes around a place that are looked at for its lines. */
const AROUND = 400

/** Lines of the XML around a place. */
export function excerptOf(model: Model, { offset, line, file }: Place): Pick<ShownFinding, 'excerpt'> {
  const { source } = model
  if (model.dialect !== 'openvino' || !source || offset === undefined || line === undefined || file !== model.file)
    return {}
  const decoder = new TextDecoder()
  const start = Math.max(0, offset - AROUND)
  const before = decoder.decode(source.read(start, offset - start)).split('\n')
  const after = decoder.decode(source.read(offset, Math.min(AROUND, source.size - offset))).split('\n')
  const own = (before.at(-1) ?? '') + after[0]
  const above = before
    .slice(0, -1)
    .slice(start > 0 ? 1 : 0)
    .slice(-2)
  const texts = [...above, own, ...after.slice(1, 3)].map(text => text.replace(/\r$/, '').replaceAll('\t', '  '))
  const indent = Math.min(...texts.filter(text => text.trim() !== '').map(text => text.search(/\S/)))
  return {
    excerpt: texts.map((text, i) => ({
      number: line - above.length + i,
      text: text.slice(indent, indent + 160),
      isMarked: i === above.length
    }))
  }
}

/** The dims of inputs that are open: those with a name once, those without by input and axis. */
export function openDims(model: Model): OpenDim[] {
  const dims = new Map<string, OpenDim>()
  for (const [name, declared] of inputDims(model))
    declared.forEach((dim, axis) => {
      const key = nameOf(name, dim, axis)
      if (key === undefined || dims.has(key)) return
      const { min, max } = typeof dim === 'object' && dim !== null ? dim : { min: 1, max: Infinity }
      dims.set(key, { name: key, min: Math.max(min, 0), max })
    })
  return [...dims.values()]
}

const nameOf = (input: string, dim: DeclaredDim, axis: number): string | undefined =>
  typeof dim === 'number' ? undefined : typeof dim === 'string' ? dim : `${input}[${axis}]`

function* inputDims({ graph }: Model): Generator<[string, readonly DeclaredDim[]]> {
  for (const { name, value, declared = graph.values.get(value)?.declared } of graph.inputs)
    if (!graph.initializers.has(value) && declared?.kind === 'tensor' && declared.dims) yield [name, declared.dims]
}

/** The dims of all inputs with the sizes put in. */
export const shapesWith = (model: Model, sizes: Sizes): Map<string, readonly DeclaredDim[]> =>
  new Map(
    [...inputDims(model)].map(([input, dims]) => [
      input,
      dims.map((dim, axis) => sizes.get(nameOf(input, dim, axis) ?? '') ?? dim)
    ])
  )
