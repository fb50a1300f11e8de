import type { Arranged } from './arrange.ts'
import { FRAME } from './boxes.ts'
import type { Rect } from './camera.ts'
import type { Scene } from './scene.ts'
import { ancestorsOf, rootOf, type Tree } from './tree.ts'

/** A drawing: the tree, which groups are open, and where everything is. */
export interface Drawing {
  readonly tree: Tree
  readonly open: ReadonlySet<number>
  readonly scene: Scene
}

/** Where the content of an open group begins within its box, which may be wider than the content. */
export const contentOffset = (
  box: { readonly w: number },
  content: Arranged
): { readonly x: number; readonly y: number } => ({
  x: (box.w - content.w) / 2,
  y: FRAME.head
})

/** Whether an item is an open group of which the content is known. */
export const isOpen = ({ open, scene }: Drawing, item: number): boolean => open.has(item) && scene.has(item)

/** The innermost item that is seen where an item is: itself, or the closed group around it. */
export function seenOf(drawing: Drawing, item: number): number {
  for (const group of ancestorsOf(drawing.tree, item)) if (!isOpen(drawing, group)) return group
  return item
}

/** Where the box of an item is that is seen, in units of the whole drawing. */
export function rectOf(drawing: Drawing, item: number): Rect | undefined {
  const { tree, scene } = drawing
  const root = scene.get(rootOf(tree))
  if (!root) return undefined
  if (item === rootOf(tree)) return { x: 0, y: 0, w: root.w, h: root.h }
  let [x, y] = [0, 0]
  const path = [...ancestorsOf(tree, item), item]
  let rect: Rect | undefined
  for (let i = 1; i < path.length; i++) {
    const box = scene.get(path[i - 1])?.boxes.find(({ id }) => id === path[i])
    if (!box) return undefined
    rect = { x: x + box.x, y: y + box.y, w: box.w, h: box.h }
    const content = scene.get(path[i])
    if (i < path.length - 1 && content) {
      const offset = contentOffset(box, content)
      x = rect.x + offset.x
      y = rect.y + offset.y
    }
  }
  return rect
}

/** The innermost item at a point of the drawing; undefined on the ground. */
export function itemAt(drawing: Drawing, x: number, y: number): number | undefined {
  const within = (group: number, dx: number, dy: number): number | undefined => {
    for (const box of drawing.scene.get(group)?.boxes ?? []) {
      const [left, top] = [dx + box.x, dy + box.y]
      if (x < left || y < top || x > left + box.w || y > top + box.h) continue
      const content = drawing.scene.get(box.id)
      if (!content || !drawing.open.has(box.id)) return box.id
      const offset = contentOffset(box, content)
      return within(box.id, left + offset.x, top + offset.y) ?? box.id
    }
    return undefined
  }
  return within(rootOf(drawing.tree), 0, 0)
}
