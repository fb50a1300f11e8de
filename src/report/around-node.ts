import { printable } from '../io/print.ts'
import { escaped, toTenth } from './html.ts'
import type { Box, Line, Neighbourhood, Said } from './neighbours.ts'
import { widthOf } from './text-width.ts'

/** Neighbours on each side that are drawn. */
const MAX_DRAWN = 4
/** Sizes in units of the picture; a character of the font is about this wide. */
const CHARACTER = 6.7
const MAX_LABEL_LENGTH = 34
const BOX_HEIGHT = 40
const TEXT_HEIGHT = 15
const GAP = 14
const MARGIN = 6
/** Room for an edge with the lines of text on it. */
const EDGE = 84

interface Column {
  readonly box: Box
  readonly texts: readonly { readonly text: string; readonly look: string }[]
  readonly width: number
}

/** A node, what it reads above it and who reads it below, as an SVG element; dims stand on the edges. */
export function drawNeighbourhood({ box, inputs, outputs }: Neighbourhood): string {
  const above = columnsOf(inputs)
  const below = columnsOf(outputs)
  const own = boxWidth(box)
  const width = Math.max(own, rowWidth(above), rowWidth(below)) + 2 * MARGIN
  const middleY = above.length > 0 ? MARGIN + BOX_HEIGHT + EDGE : MARGIN
  const belowY = middleY + BOX_HEIGHT + EDGE
  const height = (below.length > 0 ? belowY : middleY) + BOX_HEIGHT + MARGIN
  const centre = width / 2
  const edges: string[] = []
  const parts: string[] = []
  placed(above, width, (column, x) => {
    edges.push(edge(x, MARGIN + BOX_HEIGHT, centre, middleY, own))
    parts.push(labels(column, x, MARGIN + BOX_HEIGHT + 16), drawBox(column.box, x, MARGIN, false))
  })
  placed(below, width, (column, x) => {
    edges.push(edge(x, belowY, centre, middleY + BOX_HEIGHT, own))
    parts.push(
      labels(column, x, belowY - 10 - TEXT_HEIGHT * (column.texts.length - 1)),
      drawBox(column.box, x, belowY, false)
    )
  })
  parts.push(drawBox(box, centre, middleY, true))
  const [w, h] = [Math.ceil(width), Math.ceil(height)]
  const label = `role="img" aria-label="${escaped(`what is around ${box.type} ${box.name}`)}"`
  const size = `width="${w}" height="${h}" viewBox="0 0 ${w} ${h}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${label} ${size}>${[...edges, ...parts].join('')}</svg>`
}

function columnsOf(lines: readonly Line[]): Column[] {
  const drawn = lines.slice(0, lines.length > MAX_DRAWN ? MAX_DRAWN - 1 : MAX_DRAWN).map(columnOf)
  const rest = lines.length - drawn.length
  const more: Box = { type: `… ${rest} more`, name: '' }
  return rest === 0 ? drawn : [...drawn, { box: more, texts: [], width: boxWidth(more) }]
}

function columnOf(line: Line): Column {
  const texts = [
    { text: line.value, look: 'name' },
    { text: line.inferred, look: 'inferred' },
    ...(line.declared ? [labelOf('declared', line.declared)] : []),
    ...(line.received ? [labelOf('read as', line.received)] : [])
  ]
  return { box: line.box, texts, width: Math.max(boxWidth(line.box), ...texts.map(({ text }) => textWidth(text))) }
}

const labelOf = (word: string, { text, isFalse }: Said): Column['texts'][number] => ({
  text: `${word} ${text}`,
  look: isFalse ? 'declared' : 'name'
})

/** A label that is cut where it is long. */
export const shortLabel = (text: string): string => {
  const characters = [...text]
  return characters.length <= MAX_LABEL_LENGTH ? text : `${characters.slice(0, MAX_LABEL_LENGTH - 1).join('')}…`
}
/** The width of a label as it is drawn. */
export const labelWidth = (label: string): number => widthOf(printable(label)) * CHARACTER
const textWidth = (text: string): number => labelWidth(shortLabel(text))
const boxWidth = ({ type, name }: Box): number => Math.max(60, textWidth(type), textWidth(name)) + 16
const rowWidth = (columns: readonly Column[]): number =>
  columns.reduce((sum, { width }) => sum + width, 0) + GAP * Math.max(0, columns.length - 1)

/** Centres a row and says where the middle of each column is. */
function placed(columns: readonly Column[], width: number, draw: (column: Column, x: number) => void): void {
  let x = (width - rowWidth(columns)) / 2
  for (const column of columns) {
    draw(column, x + column.width / 2)
    x += column.width + GAP
  }
}

/** From a neighbour to the node, which it reaches at the part of its side that is nearest. */
function edge(x: number, y: number, centre: number, nodeY: number, nodeWidth: number): string {
  const reach = nodeWidth / 2 - 12
  const end = centre + Math.max(-reach, Math.min(reach, x - centre))
  const bend = (y + nodeY) / 2
  const curve = [x, bend, end, bend, end, nodeY].map(toTenth).join(' ')
  return `<path class="edge" d="M${toTenth(x)} ${toTenth(y)}C${curve}"/>`
}

const labels = ({ texts }: Column, x: number, y: number): string =>
  texts.map(({ text, look }, i) => textElement(text, x, y + i * TEXT_HEIGHT, `label ${look}`)).join('')

function drawBox(box: Box, x: number, y: number, isCentre: boolean): string {
  const width = boxWidth(box)
  const place = `x="${toTenth(x - width / 2)}" y="${y}" width="${toTenth(width)}" height="${BOX_HEIGHT}"`
  const frame = `<rect class="${isCentre ? 'box centre' : 'box'}" ${place} rx="6"/>`
  const middle = y + BOX_HEIGHT / 2
  if (box.name === '') return frame + textElement(box.type, x, middle + 4, 'type')
  return frame + textElement(box.type, x, middle - 4, 'type') + textElement(box.name, x, middle + 12, 'name')
}

function textElement(text: string, x: number, y: number, look: string): string {
  const short = shortLabel(text)
  const whole = short === text ? '' : `<title>${escaped(text)}</title>`
  return `<text class="${look}" x="${toTenth(x)}" y="${toTenth(y)}">${escaped(short)}${whole}</text>`
}
