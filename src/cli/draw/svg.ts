import { NodewiseError } from '../../errors.ts'
import type { Model } from '../../graph/graph.ts'
import { labelWidth, shortLabel } from '../../report/around-node.ts'
import { escaped, toTenth } from '../../report/html.ts'
import { type Drawing, drawInto } from './draw.ts'

/** Boxes beyond which the layout takes too long (seconds a thousand) and goes too deep. */
const MAX_BOXES = 800
const LINE_HEIGHT = 14
const PADDING = 8

interface Box {
  readonly label: readonly string[]
  readonly look: string
  readonly width: number
  readonly height: number
}

/** What is used of a graph of dagre. */
interface LayoutGraph {
  setGraph(options: object): unknown
  graph(): unknown
  setNode(id: string, label: object): unknown
  setParent(id: string, parent: string): unknown
  setEdge(from: string, to: string, label: object, name: string): unknown
  node(id: string): unknown
  edges(): readonly { readonly v: string; readonly w: string }[]
  edge(edge: { readonly v: string; readonly w: string }): unknown
}

const STYLE = `
svg { background: #fff }
text { font: 11px ui-monospace, monospace; text-anchor: middle; fill: #1c2330 }
rect { fill: #f5f7fa; stroke: #8a94a6 }
.port { fill: #e3eefb }
.constant { stroke-dasharray: 4 3 }
.frame { fill: none; stroke: #c3cad5 }
.edge { fill: none; stroke: #5a6475; marker-end: url(#tip) }
.capture { stroke-dasharray: 4 3 }
.type { fill: #5a6475; paint-order: stroke; stroke: #fff; stroke-width: 3px; font-size: 10px }`

/** How a picture is drawn. */
export interface PictureOptions {
  /** Ids of boxes that stand out, see `drawInto`. */
  readonly marked?: ReadonlySet<string>
  /** The picture is part of a page, which has the style. */
  readonly isInline?: boolean
}

/**
 * A model as a picture, laid out in layers (Sugiyama's method, by dagre).
 * @throws NodewiseError `limit-exceeded` where the graph is too large to lay out
 */
export async function drawSvg(model: Model, options: PictureOptions = {}): Promise<string> {
  const { default: dagre } = await import('@dagrejs/dagre')
  const layered = new dagre.graphlib.Graph({ compound: true, multigraph: true })
  const graph = layered as LayoutGraph
  graph.setGraph({ rankdir: 'TB', nodesep: 24, ranksep: 30, marginx: 12, marginy: 12 })
  const boxes = new Map<string, Box>()
  const frames = new Map<string, string>()
  drawInto(collector(graph, boxes, frames), model)
  if (boxes.size > MAX_BOXES) {
    const message = `a picture of ${boxes.size} boxes cannot be laid out, only of ${MAX_BOXES}`
    throw new NodewiseError('limit-exceeded', `${message}; --graph dot writes it for Graphviz`)
  }
  dagre.layout(layered)
  return svgOf(graph, boxes, frames, options)
}

/** Takes a drawing down for the layout. */
function collector(graph: LayoutGraph, boxes: Map<string, Box>, frames: Map<string, string>): Drawing {
  const open: string[] = []
  const filled = new Set<string>()
  const place = (id: string): void => {
    const frame = open.at(-1)
    if (frame === undefined) return
    graph.setParent(id, frame)
    filled.add(frame)
  }
  let edges = 0
  return {
    box(id, label, look) {
      const lines = label.filter(line => line !== '').map(shortLabel)
      const width = Math.max(40, ...lines.map(labelWidth)) + 2 * PADDING
      const box = { label: lines, look, width, height: lines.length * LINE_HEIGHT + 2 * PADDING }
      boxes.set(id, box)
      graph.setNode(id, { width: box.width, height: box.height })
      place(id)
    },
    edge(from, to, text, isCapture) {
      const label = shortLabel(text)
      const size = { width: labelWidth(label), height: label === '' ? 0 : LINE_HEIGHT }
      graph.setEdge(from, to, { ...size, labelpos: 'c', text: label, isCapture }, `e${edges++}`)
    },
    open(id, text) {
      graph.setNode(id, {})
      place(id)
      frames.set(id, text)
      open.push(id)
    },
    close() {
      const id = open.pop()!
      // The layout gives a frame the size of what is in it; one without anything needs a size of its own.
      if (filled.has(id)) return
      const title = shortLabel(frames.get(id) ?? '')
      graph.setNode(id, { width: labelWidth(title) + 2 * PADDING, height: LINE_HEIGHT + 2 * PADDING })
    },
    text: () => ''
  }
}

interface Placed {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

interface Route {
  readonly points: readonly { readonly x: number; readonly y: number }[]
  readonly x?: number
  readonly y?: number
  readonly text: string
  readonly isCapture: boolean
}

function svgOf(
  graph: LayoutGraph,
  boxes: ReadonlyMap<string, Box>,
  frames: ReadonlyMap<string, string>,
  { marked, isInline = false }: PictureOptions
): string {
  // Of nothing at all the layout gives a size below zero.
  const isEmpty = boxes.size + frames.size === 0
  const { width = 0, height = 0 } = isEmpty ? {} : (graph.graph() as { width?: number; height?: number })
  const placed = (id: string): Placed => graph.node(id) as Placed
  const parts = [...frames].flatMap(([id, title]) => {
    const at = placed(id)
    const text = textAt(shortLabel(title), at.x, at.y - at.height / 2 + LINE_HEIGHT - 2, '')
    return [rectangle(at, 'frame'), text]
  })
  const routes = graph.edges().map(edge => graph.edge(edge) as Route)
  for (const { points, isCapture } of routes) {
    const way = points.map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${toTenth(x)} ${toTenth(y)}`).join('')
    parts.push(`<path class="edge${isCapture ? ' capture' : ''}" d="${way}"/>`)
  }
  for (const { text, x, y } of routes)
    if (text !== '' && x !== undefined && y !== undefined) parts.push(textAt(text, x, y + 4, 'type'))
  for (const [id, { label, look }] of boxes) {
    const at = placed(id)
    parts.push(rectangle(at, marked?.has(id) ? `${look} marked` : look))
    label.forEach((line, i) => {
      parts.push(textAt(line, at.x, at.y + (i - (label.length - 1) / 2) * LINE_HEIGHT + 4, ''))
    })
  }
  const [w, h] = [Math.ceil(width), Math.ceil(height)]
  const tip = 'viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"'
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}">`,
    ...(isInline ? [] : [`<style>${STYLE}</style>`]),
    `<defs><marker id="tip" ${tip}><path class="tip" d="M0 0L8 4L0 8z" fill="#5a6475"/></marker></defs>`,
    ...parts,
    '</svg>'
  ].join('\n')
}

function rectangle({ x, y, width, height }: Placed, look: string): string {
  const corner = `x="${toTenth(x - width / 2)}" y="${toTenth(y - height / 2)}"`
  return `<rect class="${look}" ${corner} width="${toTenth(width)}" height="${toTenth(height)}" rx="5"/>`
}

const textAt = (text: string, x: number, y: number, look: string): string =>
  `<text${look === '' ? '' : ` class="${look}"`} x="${toTenth(x)}" y="${toTenth(y)}">${escaped(text)}</text>`
