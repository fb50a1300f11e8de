import { useSignalEffect } from '@preact/signals'
import { useRef } from 'preact/hooks'
import * as store from '../state/store.ts'
import { themeChanged } from '../state/theme.ts'
import { contentOffset } from './geometry.ts'
import { rootOf } from './tree.ts'
import { cameraMoved, current } from './viewing.ts'

const SIZE = 148

/** The whole drawing in small, with the part that is seen. Pressed, it brings that place to the middle. */
export function Minimap() {
  const canvas = useRef<HTMLCanvasElement>(null)
  useSignalEffect(() => {
    void cameraMoved.value
    void themeChanged.value
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
  const scale = Math.min((SIZE - 12) / w, (SIZE - 12) / h)
  return { scale, x: (SIZE - w * scale) / 2, y: (SIZE - h * scale) / 2 }
}

/** More boxes than this are not drawn in small: nobody could tell them apart. */
const MOST = 1500

function paint(canvas: HTMLCanvasElement): void {
  const { value: tree } = store.tree
  const { value: scene } = store.scene
  const view = current.value
  const root = tree && scene.get(rootOf(tree))
  const context = canvas.getContext('2d')
  if (!root || !context || !view) return
  const ratio = devicePixelRatio
  canvas.width = canvas.height = SIZE * ratio
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim()
  const { scale, x, y } = placeOf(root)
  context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y)
  let drawn = 0
  const [box, frame, error] = [colour('text3'), colour('line'), colour('error')]
  const visit = (group: number, dx: number, dy: number): void => {
    for (const each of scene.get(group)?.boxes ?? []) {
      if (drawn++ > MOST) return
      const content = store.open.value.has(each.id) ? scene.get(each.id) : undefined
      context.fillStyle = store.severities.value.get(each.id) === 'error' && !content ? error : content ? frame : box
      context.globalAlpha = content ? 0.5 : 0.8
      const least = 1.2 / scale
      context.fillRect(dx + each.x, dy + each.y, Math.max(each.w, least), Math.max(each.h, least))
      if (!content) continue
      const offset = contentOffset(each, content)
      visit(each.id, dx + each.x + offset.x, dy + each.y + offset.y)
    }
  }
  visit(rootOf(tree), 0, 0)
  const { seen } = view
  context.globalAlpha = 1
  context.lineWidth = 1.5 / scale
  context.strokeStyle = colour('accent')
  context.strokeRect(seen.x, seen.y, seen.w, seen.h)
}
