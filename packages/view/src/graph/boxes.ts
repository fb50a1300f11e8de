import { type Columns, KIND, nameOf, typeOf } from './columns.ts'
import { pathOf } from './names.ts'
import { isGroup, labelOf, recordOf, sizeOf, type Tree } from './tree.ts'

/** What is written into a box: a title, and smaller lines below it. */
export interface BoxText {
  readonly title: string
  readonly lines: readonly string[]
}

/** Sizes in units of the drawing, which are pixels at 100 %. */
export const BOX = { title: 13, line: 11, lead: 16, padX: 14, padY: 9, least: 72, most: 260, chevron: 26 } as const
/** The frame of an open group. */
export const FRAME = { head: 30, pad: 18 } as const

/** Mean widths of a character of the two sizes of text, in units: measuring needs a canvas, which workers may lack. */
const WIDE = { title: 7.3, line: 6.1 } as const
const MAX_LETTERS = 36

const short = (text: string): string =>
  text.length <= MAX_LETTERS ? text : `${text.slice(0, 12)}…${text.slice(text.length - MAX_LETTERS + 13)}`

/** What stands in the box of an item. */
export function textOf(columns: Columns, tree: Tree, item: number): BoxText {
  const record = recordOf(tree, item)
  if (record < 0) {
    const size = sizeOf(tree, item)
    return {
      title: short(labelOf(tree, item)),
      lines: [`${size.toLocaleString('en')} ${size === 1 ? 'node' : 'nodes'}`]
    }
  }
  const type = typeOf(columns, record)
  const name = nameOf(columns, record)
  const kind = columns.kind[record]
  if (kind === KIND.input || kind === KIND.output)
    return { title: short(name), lines: [kind === KIND.input ? 'input' : 'output'] }
  const lines: string[] = []
  const own = pathOf(name).at(-1) ?? ''
  if (own !== '' && own !== type) lines.push(short(own))
  const weights = columns.weights.get(record)
  if (weights) lines.push(short(weights.slice(0, 3).join('  ')))
  if (isGroup(tree, item)) lines.push(`${sizeOf(tree, item).toLocaleString('en')} nodes inside`)
  return { title: type, lines }
}

/** Width and height of the box that has room for a text. */
export function measure({ title, lines }: BoxText, isGroup: boolean): { readonly w: number; readonly h: number } {
  const own = title.length * WIDE.title + (isGroup ? BOX.chevron : 0)
  const widest = Math.max(own, ...lines.map(line => line.length * WIDE.line))
  return {
    w: Math.round(Math.min(BOX.most, Math.max(BOX.least, widest + 2 * BOX.padX))),
    h: 2 * BOX.padY + BOX.lead * (1 + lines.length)
  }
}
