import type { Arranged, Placed, Point, Route } from './arrange.ts'
import { BOX, type BoxText, FRAME, textOf } from './boxes.ts'
import type { Camera } from './camera.ts'
import { familyOf } from './categories.ts'
import { type Columns, KIND, typeOf } from './columns.ts'
import { contentOffset, type Drawing, isOpen } from './geometry.ts'
import { BORDER } from './links.ts'
import type { Pen } from './svg.ts'
import { isGroup, labelOf, recordOf, rootOf, sizeOf } from './tree.ts'

/** The colours of the theme, by the names of its custom properties. */
export type Palette = Readonly<Record<string, string>>

/** What is shown on the graph besides itself. */
export interface Marks {
  readonly selected: number
  readonly hovered: number
  /** What is written at an edge, by value. */
  readonly labelOf: (value: number) => string
  /** Values of which something is false. */
  /** Whether something is wrong with a value, so that its edge is drawn red. */
  readonly isFalse: (value: number) => boolean
  /** Worst finding by item: groups have that of what is within. */
  readonly severity: ReadonlyMap<number, 'error' | 'warning' | 'note'>
  /** From 0 to 1 by item; none: nothing is heated. */
  readonly heat: ReadonlyMap<number, number>
  readonly breakpoints: ReadonlySet<number>
  /** The node after which a run waits. */
  readonly current: number
}

/** Scales below which less is drawn: what cannot be read is left out. */
const SHOWN = { lines: 0.42, title: 0.3, group: 0.16, label: 0.62, content: 0.03 } as const

/** Draws what is seen of a graph. Made anew for each model; texts of boxes are kept. */
export class Painter {
  private readonly columns: Columns
  private readonly texts = new Map<number, BoxText>()
  private readonly boxes = new WeakMap<Arranged, ReadonlyMap<number, Placed>>()
  private readonly bounds = new WeakMap<Route, readonly [number, number, number, number]>()
  private context!: Pen
  private drawing!: Drawing
  private marks!: Marks
  private palette!: Palette
  private scale = 1
  private view: readonly [number, number, number, number] = [0, 0, 0, 0]
  /** Boxes that the last picture has. */
  drawn = 0

  constructor(columns: Columns) {
    this.columns = columns
  }

  paint(
    context: Pen,
    {
      camera,
      width,
      height,
      ratio
    }: { readonly camera: Camera; readonly width: number; readonly height: number; readonly ratio: number },
    drawing: Drawing,
    marks: Marks,
    palette: Palette
  ): void {
    Object.assign(this, { context, drawing, marks, palette, scale: camera.scale })
    const { x, y, scale } = camera
    this.view = [-x / scale, -y / scale, (width - x) / scale, (height - y) / scale]
    this.drawn = 0
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    context.clearRect(0, 0, width, height)
    context.setTransform(ratio * scale, 0, 0, ratio * scale, x * ratio, y * ratio)
    context.textBaseline = 'middle'
    context.lineJoin = 'round'
    const root = drawing.scene.get(rootOf(drawing.tree))
    if (root) this.content(root, 0, 0)
  }

  private isSeen(x: number, y: number, w: number, h: number): boolean {
    const [left, top, right, bottom] = this.view
    return x <= right && y <= bottom && x + w >= left && y + h >= top
  }

  private content(content: Arranged, dx: number, dy: number): void {
    let boxes = this.boxes.get(content)
    if (!boxes) this.boxes.set(content, (boxes = new Map(content.boxes.map(box => [box.id, box]))))
    for (const route of content.routes) this.route(route, boxes, dx, dy)
    for (const box of content.boxes) {
      const [x, y] = [dx + box.x, dy + box.y]
      if (!this.isSeen(x, y, box.w, box.h)) continue
      this.drawn++
      if (isOpen(this.drawing, box.id)) this.frame(box, x, y)
      else this.box(box, x, y)
    }
    if (this.scale > SHOWN.label) for (const route of content.routes) this.label(route, dx, dy)
  }

  private frame(box: Placed, x: number, y: number): void {
    const { context, palette, marks, scale } = this
    const content = this.drawing.scene.get(box.id)!
    const isSelected = marks.selected === box.id
    context.beginPath()
    context.roundRect(x, y, box.w, box.h, 10)
    context.fillStyle = palette.frame
    context.fill()
    context.lineWidth = isSelected ? 2 : 1
    context.strokeStyle = isSelected ? palette.accent : palette.line
    context.stroke()
    if (scale > SHOWN.group) {
      const record = recordOf(this.drawing.tree, box.id)
      const type = record < 0 ? '' : `${typeOf(this.columns, record)}  `
      context.textAlign = 'left'
      context.font = `600 ${BOX.title}px ${palette.font}`
      context.fillStyle = palette.text2
      const label = `${type}${labelOf(this.drawing.tree, box.id)}`
      context.fillText(clipped(label, box.w - 44), x + 12, y + FRAME.head / 2 + 1)
      this.chevron(x + box.w - 18, y + FRAME.head / 2, true)
    }
    if (box.w * scale < 20 || scale < SHOWN.content) return
    const offset = contentOffset(box, content)
    this.content(content, x + offset.x, y + offset.y)
  }

  private box(box: Placed, x: number, y: number): void {
    const { context, palette, marks, columns, scale } = this
    const { tree } = this.drawing
    const record = recordOf(tree, box.id)
    const kind = record < 0 ? KIND.node : columns.kind[record]
    const isPort = kind === KIND.input || kind === KIND.output
    const isBox = isGroup(tree, box.id)
    const severity = marks.severity.get(box.id)
    const heat = marks.heat.get(box.id)
    const isSelected = marks.selected === box.id
    if (isBox && record < 0 && scale > SHOWN.group) this.stack(box, x, y)
    context.beginPath()
    context.roundRect(x, y, box.w, box.h, isPort ? box.h / 2 : 8)
    context.fillStyle = isPort ? palette.port : isBox ? palette.group : palette.node
    context.fill()
    if (heat !== undefined) {
      context.globalAlpha = 0.12 + 0.78 * heat
      context.fillStyle = palette.heat
      context.fill()
      context.globalAlpha = 1
    }
    context.lineWidth = isSelected ? 2.5 : 1
    context.strokeStyle = isSelected
      ? palette.accent
      : severity === 'error'
        ? palette.error
        : marks.hovered === box.id
          ? palette.text3
          : palette.line
    context.stroke()
    if (marks.current === box.id) this.halo(box, x, y)
    if (record >= 0 && !isPort) {
      context.fillStyle = colourOf(palette, typeOf(columns, record))
      context.beginPath()
      context.roundRect(x, y, 5, box.h, [8, 0, 0, 8])
      context.fill()
    }
    if (scale > SHOWN.title) this.text(box, x, y, heat !== undefined && heat > 0.3)
    if (severity && severity !== 'note') this.badge(x + box.w - 2, y + 2, palette[severity])
    if (marks.breakpoints.has(record)) this.badge(x + 2, y + 2, palette.accent)
  }

  /** Sheets below a closed group: there is more in it. */
  private stack({ w, h }: Placed, x: number, y: number): void {
    const { context, palette } = this
    context.fillStyle = palette.group
    context.strokeStyle = palette.line
    context.lineWidth = 1
    context.beginPath()
    context.roundRect(x + 5, y + 5, w - 2, h, 8)
    context.fill()
    context.stroke()
  }

  private halo({ w, h }: Placed, x: number, y: number): void {
    const { context, palette } = this
    context.strokeStyle = palette.accent
    context.setLineDash([5, 4])
    context.beginPath()
    context.roundRect(x - 5, y - 5, w + 10, h + 10, 12)
    context.lineWidth = 2
    context.stroke()
    context.setLineDash([])
  }

  private badge(x: number, y: number, colour: string): void {
    const { context, palette } = this
    // At least 4 pixels: a fault must be seen from afar.
    const radius = Math.max(5, 4 / this.scale)
    context.beginPath()
    context.arc(x, y, radius, 0, 2 * Math.PI)
    context.fillStyle = colour
    context.fill()
    context.lineWidth = 1.5
    context.strokeStyle = palette.ground
    context.stroke()
  }

  private chevron(x: number, y: number, isUp: boolean): void {
    const { context, palette } = this
    context.beginPath()
    context.moveTo(x - 4, y + (isUp ? 2 : -2))
    context.lineTo(x, y + (isUp ? -2 : 2))
    context.lineTo(x + 4, y + (isUp ? 2 : -2))
    context.lineWidth = 1.6
    context.strokeStyle = palette.text3
    context.stroke()
  }

  private text(box: Placed, x: number, y: number, isHot: boolean): void {
    const { context, palette, columns, scale } = this
    const { tree } = this.drawing
    let text = this.texts.get(box.id)
    if (!text) this.texts.set(box.id, (text = textOf(columns, tree, box.id)))
    const isPort = recordOf(tree, box.id) >= 0 && columns.kind[recordOf(tree, box.id)] !== KIND.node
    context.textAlign = 'center'
    const middle = x + box.w / 2 + (isPort ? 0 : isGroup(tree, box.id) ? 2 - BOX.chevron / 4 : 2)
    const lines = scale > SHOWN.lines ? text.lines : []
    const height = BOX.lead * (1 + text.lines.length)
    let at = y + box.h / 2 - (BOX.lead * (lines.length === text.lines.length ? height / BOX.lead - 1 : 0)) / 2 + 1
    context.font = `600 ${BOX.title}px ${palette.font}`
    context.fillStyle = palette.text
    context.fillText(text.title, middle, at, box.w - 2 * 8)
    if (isGroup(tree, box.id) && scale > SHOWN.lines) this.chevron(x + box.w - 13, at, false)
    context.font = `${BOX.line}px ${palette.font}`
    // On a hot ground the softer colour could not be read.
    context.fillStyle = isHot ? palette.text : palette.text2
    for (const line of lines) {
      at += BOX.lead
      context.fillText(line, middle, at, box.w - 2 * 8)
    }
  }

  /** The points of a route; at an open group it goes on to where the value goes on inside. */
  private wayOf({ from, to, value, points }: Route, boxes: ReadonlyMap<number, Placed>): readonly Point[] {
    const start = this.inner(from, boxes.get(from), value, 'outlets')
    const end = this.inner(to, boxes.get(to), value, 'inlets')
    if (!start && !end) return points
    const way = [...points]
    if (start) way.splice(0, 1, { x: start.x, y: start.y - FRAME.pad }, start)
    if (end) way.splice(-1, 1, end, { x: end.x, y: end.y + FRAME.head })
    return way
  }

  private inner(item: number, box: Placed | undefined, value: number, side: 'inlets' | 'outlets'): Point | undefined {
    if (!box || !isOpen(this.drawing, item)) return undefined
    const content = this.drawing.scene.get(item)!
    const x = content[side].get(value)
    if (x === undefined) return undefined
    return { x: box.x + contentOffset(box, content).x + x, y: side === 'inlets' ? box.y : box.y + box.h }
  }

  private boundsOf(route: Route): readonly [number, number, number, number] {
    let bounds = this.bounds.get(route)
    if (!bounds) {
      const [xs, ys] = [route.points.map(({ x }) => x), route.points.map(({ y }) => y)]
      bounds = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]
      this.bounds.set(route, bounds)
    }
    return bounds
  }

  private route(route: Route, boxes: ReadonlyMap<number, Placed>, dx: number, dy: number): void {
    const [left, top, right, bottom] = this.boundsOf(route)
    if (!this.isSeen(dx + left - 40, dy + top - 40, right - left + 80, bottom - top + 80)) return
    const { context, palette, marks, scale } = this
    const isOfSelected = marks.selected >= 0 && (route.from === marks.selected || route.to === marks.selected)
    const isFalse = marks.isFalse(route.value)
    context.strokeStyle = isFalse ? palette.error : isOfSelected ? palette.accent : palette.edge
    context.lineWidth = Math.max(
      (isOfSelected || isFalse ? 2 : 1.2) + Math.min(2, Math.log2(route.count) / 2),
      0.6 / scale
    )
    const way = this.wayOf(route, boxes)
    curve(context, way, dx, dy)
    context.stroke()
    const tip = way[way.length - 1]
    if (scale > SHOWN.title && route.to !== BORDER.out && !isOpen(this.drawing, route.to)) {
      context.fillStyle = context.strokeStyle
      context.beginPath()
      context.moveTo(dx + tip.x, dy + tip.y)
      context.lineTo(dx + tip.x - 3.5, dy + tip.y - 7)
      context.lineTo(dx + tip.x + 3.5, dy + tip.y - 7)
      context.fill()
    }
  }

  private label(route: Route, dx: number, dy: number): void {
    const [left, top, right, bottom] = this.boundsOf(route)
    if (route.from === BORDER.in || !this.isSeen(dx + left - 60, dy + top, right - left + 120, bottom - top)) return
    const { context, palette, marks } = this
    const text = route.count > 1 ? `${route.count} values` : marks.labelOf(route.value)
    if (text === '') return
    const [a, b] = route.points
    // Near the box that makes the value, where lines have not yet met.
    const at = route.points.length > 2 ? b : { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }
    const y = Math.min(at.y, a.y + 23)
    const x = a.y === at.y ? at.x : a.x + ((at.x - a.x) * (y - a.y)) / (at.y - a.y)
    context.font = `${BOX.line - 1}px ${palette.mono}`
    context.textAlign = 'center'
    context.lineWidth = 4
    context.strokeStyle = palette.ground
    context.strokeText(text, dx + x, dy + y)
    context.fillStyle = marks.isFalse(route.value) ? palette.error : palette.text2
    context.fillText(text, dx + x, dy + y)
  }

  /** How many nodes an item stands for. */
  weightOf(item: number): number {
    return isGroup(this.drawing.tree, item) ? sizeOf(this.drawing.tree, item) : 1
  }
}

/** A smooth line through points: quadratic pieces between the middles of its parts. */
function curve(context: Pen, points: readonly Point[], dx: number, dy: number): void {
  const [first] = points
  context.beginPath()
  context.moveTo(dx + first.x, dy + first.y)
  if (points.length === 2) {
    const [, { x, y }] = points
    const half = (y - first.y) / 2
    context.bezierCurveTo(dx + first.x, dy + first.y + half, dx + x, dy + y - half, dx + x, dy + y)
    return
  }
  for (let i = 1; i < points.length - 1; i++) {
    const [at, next] = [points[i], points[i + 1]]
    const isLast = i === points.length - 2
    const [x, y] = isLast ? [next.x, next.y] : [(at.x + next.x) / 2, (at.y + next.y) / 2]
    context.quadraticCurveTo(dx + at.x, dy + at.y, dx + x, dy + y)
  }
}

/** Operators that only say the same in another form look as those that move elements. */
function colourOf(palette: Palette, type: string): string {
  const family = familyOf(type)
  return palette[`family-${family === 'convert' ? 'shape' : family}`]
}

/** A text cut to about a width, its end kept. */
function clipped(text: string, width: number): string {
  const most = Math.max(3, Math.floor(width / 7.3))
  return text.length <= most ? text : `…${text.slice(text.length - most + 1)}`
}
