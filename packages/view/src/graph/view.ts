import { between, type Camera, fitted, type Rect, zoomed } from './camera.ts'
import type { Columns } from './columns.ts'
import { type Drawing, itemAt, rectOf, seenOf } from './geometry.ts'
import { type Marks, Painter, type Palette } from './paint.ts'
import { SvgPen } from './svg.ts'
import { isGroup, rootOf } from './tree.ts'

/** What the view tells the page. */
export interface ViewEvents {
  readonly onSelect: (item: number) => void
  readonly onToggle: (group: number) => void
  /** After a picture: the camera may have moved. */
  readonly onCamera: () => void
}

const NO_MARKS: Marks = {
  selected: -1,
  hovered: -1,
  labelOf: () => '',
  isFalse: () => false,
  severity: new Map(),
  heat: new Map(),
  breakpoints: new Set(),
  current: -1
}

/** Whether a user wants no movement that is for the eye alone. */
const CALM = matchMedia('(prefers-reduced-motion: reduce)')
/** Milliseconds of a movement of the camera. */
const GLIDE = 260
/** The scale at which all that is written in boxes can be read. */
const READABLE = 0.62
/** An item that is nearer to the edge is brought to the middle. */
const EDGE = 24
/** Pixels within which a press is a click and no drag. */
const STILL = 4

/** The canvas: what is seen of a drawing, and how a user moves over it. */
export class GraphView {
  readonly camera: Camera = { x: 0, y: 0, scale: 1 }
  /** Milliseconds that the last pictures took to be drawn. */
  readonly frames: number[] = []
  private readonly canvas: HTMLCanvasElement
  private readonly context: CanvasRenderingContext2D
  private readonly events: ViewEvents
  private drawing: Drawing | undefined
  private painter: Painter | undefined
  private marks: Marks = NO_MARKS
  private palette: Palette = {}
  private hovered = -1
  private isDirty = false
  private glide: { from: Camera; to: Camera; start: number } | undefined
  private readonly pointers = new Map<number, { x: number; y: number }>()
  private press: { x: number; y: number; moved: boolean } | undefined
  private width = 0
  private height = 0

  constructor(canvas: HTMLCanvasElement, events: ViewEvents) {
    this.canvas = canvas
    this.context = canvas.getContext('2d')!
    this.events = events
    canvas.addEventListener('wheel', event => this.wheel(event), { passive: false })
    canvas.addEventListener('pointerdown', event => this.down(event))
    canvas.addEventListener('pointermove', event => this.move(event))
    canvas.addEventListener('pointerup', event => this.up(event))
    canvas.addEventListener('pointercancel', event => this.pointers.delete(event.pointerId))
    canvas.addEventListener('dblclick', event => this.double(event))
    canvas.addEventListener('pointerleave', () => this.hover(-1))
  }

  resize(width: number, height: number): void {
    const ratio = devicePixelRatio
    const isFirst = this.width === 0
    const { selected } = this.marks
    const wasSeen = this.isSeen(selected)
    // What is in the middle stays there, also where the camera is on its way.
    const shift = isFirst ? 0 : (width - this.width) / 2
    for (const camera of [this.camera, this.glide?.from, this.glide?.to]) if (camera) camera.x += shift
    this.width = width
    this.height = height
    this.canvas.width = Math.round(width * ratio)
    this.canvas.height = Math.round(height * ratio)
    if (isFirst) {
      this.fit(false)
      if (selected >= 0) this.reveal(selected)
    }
    // Less room must not push the selected item out of sight.
    else if (wasSeen && !this.isSeen(selected)) this.reveal(selected)
    this.paint()
  }

  setPalette(palette: Palette): void {
    this.palette = palette
    this.paint()
  }

  /** Shows a model anew. */
  setModel(columns: Columns, drawing: Drawing): void {
    this.painter = new Painter(columns)
    this.drawing = drawing
    this.fit(false)
  }

  /** Shows other groups open. What a user looks at stays where it is on the screen. */
  setDrawing(drawing: Drawing, anchor: number): void {
    const before = this.drawing && rectOf(this.drawing, anchor)
    this.drawing = drawing
    const after = rectOf(drawing, anchor)
    if (before && after) {
      this.camera.x += (before.x + before.w / 2 - after.x - after.w / 2) * this.camera.scale
      this.camera.y += (before.y - after.y) * this.camera.scale
    }
    this.requestPaint()
  }

  setMarks(marks: Omit<Marks, 'hovered'>): void {
    this.marks = { ...marks, hovered: this.hovered }
    this.requestPaint()
  }

  /** The part of the drawing that is seen. */
  get seen(): Rect {
    const { x, y, scale } = this.camera
    return { x: -x / scale, y: -y / scale, w: this.width / scale, h: this.height / scale }
  }

  fit(smooth = true): void {
    const rect = this.drawing && rectOf(this.drawing, rootOf(this.drawing.tree))
    if (!rect || this.width === 0) return
    let to = fitted(rect, this.width, this.height, this.width > 1500 ? 1.5 : 1.1)
    // A long graph is not shown as a thread: its beginning is, so large that it can be read.
    if (to.scale < READABLE && rect.w * 0.4 < this.width * 1.6) {
      const scale = Math.min(0.9, Math.max(0.4, (this.width - 64) / rect.w))
      to = { scale, x: this.width / 2 - (rect.x + rect.w / 2) * scale, y: 32 }
    }
    this.goTo(to, smooth)
  }

  /** Brings an item into sight, if it is not there. */
  reveal(item: number): void {
    if (!this.drawing) return
    const rect = rectOf(this.drawing, seenOf(this.drawing, item))
    if (!rect) return
    const { camera } = this
    if (this.isSeen(item, EDGE) && camera.scale > 0.4) return
    const scale = Math.min(
      Math.max(camera.scale, 0.8),
      (this.width - 40) / rect.w,
      Math.max(0.4, (this.height - 40) / rect.h)
    )
    const top =
      rect.h * scale > this.height - 40 ? 20 - rect.y * scale : this.height / 2 - (rect.y + rect.h / 2) * scale
    this.goTo({ scale, x: this.width / 2 - (rect.x + rect.w / 2) * scale, y: top }, true)
  }

  /** Whether all of an item is seen, or of the closed group that it is in, so many pixels from the edges. */
  private isSeen(item: number, pixels = 0): boolean {
    const rect = this.drawing && item >= 0 ? rectOf(this.drawing, seenOf(this.drawing, item)) : undefined
    if (!rect) return false
    const { x, y, w, h } = this.seen
    const edge = pixels / this.camera.scale
    return (
      rect.x >= x + edge && rect.y >= y + edge && rect.x + rect.w <= x + w - edge && rect.y + rect.h <= y + h - edge
    )
  }

  zoom(factor: number, smooth = true): void {
    this.goTo(zoomed(this.glide?.to ?? this.camera, factor, this.width / 2, this.height / 2), smooth)
  }

  /** Moves the camera by pixels. */
  pan(dx: number, dy: number): void {
    this.glide = undefined
    this.camera.x += dx
    this.camera.y += dy
    this.requestPaint()
  }

  /** Brings a point of the drawing to the middle. */
  centre(x: number, y: number): void {
    const { scale } = this.camera
    this.goTo({ scale, x: this.width / 2 - x * scale, y: this.height / 2 - y * scale }, false)
  }

  goTo(to: Camera, smooth: boolean): void {
    if (smooth && !CALM.matches) this.glide = { from: { ...this.camera }, to, start: performance.now() }
    else {
      this.glide = undefined
      Object.assign(this.camera, to)
    }
    this.requestPaint()
  }

  requestPaint(): void {
    if (this.isDirty) return
    this.isDirty = true
    requestAnimationFrame(now => {
      this.isDirty = false
      this.step(now)
      this.paint()
      // Once a frame: pointers may move many times in one.
      this.events.onCamera()
    })
  }

  private step(now: number): void {
    const { glide } = this
    if (!glide) return
    const t = Math.min(1, Math.max(0, (now - glide.start) / GLIDE))
    Object.assign(this.camera, between(glide.from, glide.to, 1 - (1 - t) ** 3))
    if (t >= 1) this.glide = undefined
    else this.requestPaint()
  }

  /** What is seen, as SVG. */
  svg(): string {
    const pen = new SvgPen()
    const { drawing, painter, camera, width, height } = this
    if (drawing) painter?.paint(pen, { camera, width, height, ratio: 1 }, drawing, this.marks, this.palette)
    return pen.text(Math.round(width), Math.round(height), this.palette.ground)
  }

  /** What is seen, as PNG with all its pixels. */
  png(): Promise<Blob | null> {
    const canvas = document.createElement('canvas')
    canvas.width = this.canvas.width
    canvas.height = this.canvas.height
    const context = canvas.getContext('2d')!
    context.fillStyle = this.palette.ground
    context.fillRect(0, 0, canvas.width, canvas.height)
    context.drawImage(this.canvas, 0, 0)
    return new Promise(resolve => {
      canvas.toBlob(resolve)
    })
  }

  private paint(): void {
    const { drawing, painter, camera, width, height } = this
    if (!drawing || !painter || width === 0) return
    const started = performance.now()
    const ratio = this.canvas.width / width
    painter.paint(this.context, { camera, width, height, ratio }, drawing, this.marks, this.palette)
    this.frames.push(performance.now() - started)
    if (this.frames.length > 600) this.frames.shift()
  }

  private at({ offsetX, offsetY }: MouseEvent): number | undefined {
    const { x, y, scale } = this.camera
    return this.drawing && itemAt(this.drawing, (offsetX - x) / scale, (offsetY - y) / scale)
  }

  private hover(item: number): void {
    if (item === this.hovered) return
    this.hovered = item
    this.marks = { ...this.marks, hovered: item }
    this.canvas.style.cursor = item >= 0 ? 'pointer' : 'grab'
    this.requestPaint()
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault()
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 24 : 1
    // Pinches come as wheels with Ctrl; a mouse's wheel comes in large vertical steps.
    const isZoom = event.ctrlKey || event.metaKey || (Math.abs(event.deltaY) * pixels >= 100 && event.deltaX === 0)
    if (!isZoom) return this.pan(-event.deltaX * pixels, -event.deltaY * pixels)
    const factor = Math.exp(-Math.max(-150, Math.min(150, event.deltaY * pixels)) * (event.ctrlKey ? 0.01 : 0.0022))
    this.goTo(zoomed(this.camera, factor, event.offsetX, event.offsetY), false)
  }

  private down(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId)
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY })
    this.press = this.pointers.size === 1 ? { x: event.offsetX, y: event.offsetY, moved: false } : undefined
    this.glide = undefined
  }

  private move(event: PointerEvent): void {
    const before = this.pointers.get(event.pointerId)
    if (!before) return this.hover(this.at(event) ?? -1)
    const now = { x: event.offsetX, y: event.offsetY }
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1]
    this.pointers.set(event.pointerId, now)
    if (other) {
      const distance = (a: { x: number; y: number }): number => Math.hypot(a.x - other.x, a.y - other.y)
      const factor = distance(now) / Math.max(1, distance(before))
      this.goTo(zoomed(this.camera, factor, (now.x + other.x) / 2, (now.y + other.y) / 2), false)
      return this.pan((now.x - before.x) / 2, (now.y - before.y) / 2)
    }
    const { press } = this
    if (press && !press.moved && Math.hypot(now.x - press.x, now.y - press.y) < STILL) return
    if (press) press.moved = true
    this.canvas.style.cursor = 'grabbing'
    this.pan(now.x - before.x, now.y - before.y)
  }

  private up(event: PointerEvent): void {
    this.pointers.delete(event.pointerId)
    this.canvas.style.cursor = 'grab'
    const { press } = this
    this.press = undefined
    if (!press || press.moved || event.button !== 0) return
    this.events.onSelect(this.at(event) ?? -1)
  }

  private double(event: MouseEvent): void {
    const item = this.at(event)
    if (item !== undefined && this.drawing && isGroup(this.drawing.tree, item)) this.events.onToggle(item)
  }
}
