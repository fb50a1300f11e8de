import { useSignalEffect } from '@preact/signals'
import { useRef } from 'preact/hooks'
import * as store from '../state/store.ts'
import type { Arranged } from './arrange.ts'
import { contentOffset } from './geometry.ts'
import { palette } from './palette.ts'
import { rootOf, type Tree } from './tree.ts'
import { cameraMoved, current } from './viewing.ts'

const SIZE = 148

/** The whole drawing in small, with the part that is seen. Pressed, it brings that place to the middle. */
export function Minimap() {
  const canvas = useRef<HTMLCanvasElement>(null)
  useSignalEffect(() => {
    void cameraMoved.value
    if (canvas.current) paint(canvas.current)
  })
  const go = (event: PointerEvent): void => {
    const root = store.tree.value && store.scene.value.get(rootOf(store.tree.value))
    if (!root || event.buttons === 0) return
    const { scale, x, y } = placeOf(root)
    current.value?.centre((event.offsetX - x) / scale, (event.offsetY - y) / scale)
  }
  return <canvas class="minimap" ref={canvas} aria-hidden="true" onPointerDown={go} onPointerMove={go} />
}

function placeOf({ w, h }: { readonly w: number; readonly h: number }): { scale: number; x: number; y: number } {
  // A graph without nodes has no size.
  const scale = Math.min((SIZE - 12) / Math.max(1, w), (SIZE - 12) / Math.max(1, h))
  return { scale, x: (SIZE - w * scale) / 2, y: (SIZE - h * scale) / 2 }
}

/** More boxes than this are not drawn in small: nobody could tell them apart. */
const MAX_BOXES = 1500

/** The boxes as they were drawn last: while only the camera moves they stay. */
let still: { readonly of: readonly unknown[]; readonly picture: HTMLCanvasElement } | undefined

function paint(canvas: HTMLCanvasElement): void {
  const { value: tree } = store.tree
  const view = current.value
  const root = tree && store.scene.value.get(rootOf(tree))
  const context = canvas.getContext('2d')
  if (!root || !context || !view) return
  const pixels = Math.round(SIZE * devicePixelRatio)
  const of = [store.scene.value, store.open.value, store.severities.value, palette.value, pixels]
  if (!still || still.of.some((each, i) => each !== of[i])) still = { of, picture: pictureOf(tree, root, pixels) }
  if (canvas.width !== pixels) canvas.width = canvas.height = pixels
  context.setTransform(1, 0, 0, 1, 0, 0)
  context.clearRect(0, 0, pixels, pixels)
  context.drawImage(still.picture, 0, 0)
  const { scale, x, y } = placeOf(root)
  const ratio = pixels / SIZE
  context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y)
  const { seen } = view
  context.lineWidth = 1.5 / scale
  context.strokeStyle = palette.value.accent
  context.strokeRect(seen.x, seen.y, seen.w, seen.h)
}

/** All boxes, without the part that is seen. */
function pictureOf(tree: Tree, root: Arranged, pixels: number): HTMLCanvasElement {
  const picture = document.createElement('canvas')
  picture.width = picture.height = pixels
  const context = picture.getContext('2d')!
  const { scale, x, y } = placeOf(root)
  const ratio = pixels / SIZE
  context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y)
  const { text3: box, line: frame, error } = palette.value
  const least = 1.2 / scale
  let drawn = 0
  const visit = (group: number, dx: number, dy: number): void => {
    for (const each of store.scene.value.get(group)?.boxes ?? []) {
      if (drawn++ > MAX_BOXES) return
      const content = store.open.value.has(each.id) ? store.scene.value.get(each.id) : undefined
      context.fillStyle = store.severities.value.get(each.id) === 'error' && !content ? error : content ? frame : box
      context.globalAlpha = content ? 0.5 : 0.8
      context.fillRect(dx + each.x, dy + each.y, Math.max(each.w, least), Math.max(each.h, least))
      if (!content) continue
      const offset = contentOffset(each, content)
      visit(each.id, dx + each.x + offset.x, dy + each.y + offset.y)
    }
  }
  visit(rootOf(tree), 0, 0)
  return picture
}
