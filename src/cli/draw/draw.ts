import { printDeclared } from '../../check/compare.ts'
import {
  bodiesOf,
  declaredOf,
  type DeclaredType,
  type Graph,
  isPortLayer,
  type Model,
  type Node,
  type ValueId
} from '../../graph/graph.ts'
import { printable } from '../../io/print.ts'
import { dtypeName } from '../../tensor/dtype.ts'
import { mapType } from '../../tensor/map.ts'

/** How a box of the drawing looks: what it stands for. */
type Shape = 'node' | 'port' | 'constant'

/** What a picture is drawn with: boxes, arrows and frames, in the order of the file. */
export interface Drawing {
  box(id: string, label: readonly string[], shape: Shape): void
  edge(from: string, to: string, label: string, isCapture: boolean): void
  open(id: string, label: string): void
  close(): void
  text(): string
}

/**
 * A model as a picture's source: nodes as boxes, values as arrows with their declared types, bodies and functions as
 * frames. Constants that nobody reads, and initializers, which are many, are written into the boxes that read them.
 */
export const draw = (model: Model, format: 'dot' | 'mermaid'): string =>
  drawInto(format === 'dot' ? dot() : mermaid(), model)

/** Draws the main graph and the functions of a model. */
export function drawInto(drawing: Drawing, model: Model): string {
  drawGraph(drawing, model, model.graph, 'g', undefined)
  let count = 0
  for (const { domain, name, graph } of model.functions.values()) {
    const id = `f${count++}`
    drawing.open(id, `function ${domain}::${name}`)
    drawGraph(drawing, model, graph, id, undefined)
    drawing.close()
  }
  return drawing.text()
}

/** A graph with the boxes that make its values, in the graph around it. */
interface Scope {
  readonly graph: Graph
  readonly makers: ReadonlyMap<ValueId, string>
  readonly outer: Scope | undefined
}

/** The scope whose graph has a value: a box there makes it, or it is an initializer. */
function ownerOf(scope: Scope | undefined, value: ValueId): Scope | undefined {
  let at = scope
  while (at && !at.makers.has(value) && !at.graph.initializers.has(value)) at = at.outer
  return at
}

function drawGraph(drawing: Drawing, model: Model, graph: Graph, prefix: string, outer: Scope | undefined): void {
  const makers = new Map<ValueId, string>()
  const scope: Scope = { graph, makers, outer }
  graph.inputs.forEach((port, i) => {
    if (graph.initializers.has(port.value)) return
    const id = `${prefix}_in${i}`
    drawing.box(id, [port.name, typeText(declaredOf(graph, port), model)], 'port')
    makers.set(port.value, id)
  })
  graph.nodes.forEach((node, i) => {
    for (const value of node.outputs)
      if (value !== undefined && !isPortLayer(node) && !makers.has(value)) makers.set(value, `${prefix}_${i}`)
  })
  graph.nodes.forEach((node, i) => {
    if (!isPortLayer(node)) drawNode(drawing, model, node, `${prefix}_${i}`, scope)
  })
  graph.outputs.forEach((port, i) => {
    const id = `${prefix}_out${i}`
    drawing.box(id, [port.name], 'port')
    connect(drawing, model, port.value, id, scope)
  })
}

function drawNode(drawing: Drawing, model: Model, node: Node, id: string, scope: Scope): void {
  const weights = node.inputs.flatMap(value => {
    const constant = value === undefined ? undefined : ownerOf(scope, value)?.graph.initializers.get(value)
    return constant ? [`${value}: ${dtypeName(constant.type, model.dialect)} [${constant.dims.join(', ')}]`] : []
  })
  const isConstant = node.constant !== undefined || (node.dialect === 'onnx' && node.type === 'Constant')
  drawing.box(id, [node.type, ...(node.name === '' ? [] : [node.name]), ...weights], isConstant ? 'constant' : 'node')
  for (const value of node.inputs) if (value !== undefined) connect(drawing, model, value, id, scope)
  for (const [i, { attribute, graph: body }] of bodiesOf(node).entries()) {
    const inner = `${id}_b${i}`
    drawing.open(inner, `${node.type} ${node.name}: ${attribute}`)
    drawGraph(drawing, model, body, inner, scope)
    drawing.close()
  }
}

function connect(drawing: Drawing, model: Model, value: ValueId, to: string, scope: Scope): void {
  const owner = ownerOf(scope, value)
  const from = owner?.makers.get(value)
  if (!owner || from === undefined) return
  drawing.edge(from, to, typeText(owner.graph.values.get(value)?.declared, model), owner !== scope)
}

function typeText(declared: DeclaredType | undefined, model: Model): string {
  if (declared === undefined) return ''
  if (declared.kind === 'other') return declared.text
  if (declared.kind === 'map') return mapType(declared.keyType, declared.valueType)
  if (declared.kind !== 'tensor') return `${declared.kind} of ${typeText(declared.element, model)}`
  const type = declared.type === undefined ? '?' : dtypeName(declared.type, model.dialect)
  return `${type} ${declared.dims === undefined ? '[...]' : `[${declared.dims.map(printDeclared).join(', ')}]`}`
}

/** The lines of a label that are not empty, in quotes. */
const quoted = (lines: readonly string[], escape: (text: string) => string, lineEnd: string): string =>
  `"${lines
    .filter(line => line !== '')
    .map(escape)
    .join(lineEnd)}"`

function dot(): Drawing {
  const lines = [
    'digraph model {',
    '  node [fontname="sans-serif", fontsize=11, shape=box, style=rounded]',
    '  edge [fontname="sans-serif", fontsize=9]'
  ]
  const escape = (text: string): string => printable(text).replace(/[\\"]/g, '\\$&')
  const label = (...lines: readonly string[]): string => quoted(lines, escape, '\\n')
  const looks: Record<Shape, string> = { node: '', port: ', shape=ellipse', constant: ', style="rounded,dashed"' }
  let margin = '  '
  return {
    box: (id, texts, shape) => lines.push(`${margin}${id} [label=${label(...texts)}${looks[shape]}]`),
    edge: (from, to, text, isCapture) =>
      lines.push(`${margin}${from} -> ${to} [label=${label(text)}${isCapture ? ', style=dashed' : ''}]`),
    open(id, text) {
      lines.push(`${margin}subgraph cluster_${id} {`)
      margin += '  '
      lines.push(`${margin}label=${label(text)}`)
    },
    close() {
      margin = margin.slice(2)
      lines.push(`${margin}}`)
    },
    text: () => [...lines, '}'].join('\n')
  }
}

function mermaid(): Drawing {
  const lines = ['flowchart TD']
  // Mermaid knows entities by number; everything that could end a label or be taken for markup is written as one.
  const escape = (text: string): string =>
    printable(text).replace(/[^\p{L}\p{N} _./,:;=*+-]/gu, character => `#${character.codePointAt(0)};`)
  const label = (...lines: readonly string[]): string => quoted(lines, escape, '<br/>')
  const brackets: Record<Shape, [string, string]> = { node: ['[', ']'], port: ['([', '])'], constant: ['[/', '/]'] }
  let margin = '  '
  return {
    box: (id, texts, shape) => lines.push(`${margin}${id}${brackets[shape][0]}${label(...texts)}${brackets[shape][1]}`),
    edge: (from, to, text, isCapture) =>
      lines.push(`${margin}${from} ${isCapture ? '-.->' : '-->'}${text === '' ? '' : `|${label(text)}|`} ${to}`),
    open(id, text) {
      lines.push(`${margin}subgraph ${id}[${label(text)}]`)
      margin += '  '
    },
    close() {
      margin = margin.slice(2)
      lines.push(`${margin}end`)
    },
    text: () => lines.join('\n')
  }
}
