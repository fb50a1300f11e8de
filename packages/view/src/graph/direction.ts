import type { Drawing } from './geometry.ts'
import { BORDER } from './links.ts'
import { childrenOf, rootOf, type Tree } from './tree.ts'

export type Direction = 'up' | 'down' | 'left' | 'right'

/** The item that a key leads to: along the values up and down, among those beside it left and right. */
export function neighbourOf(drawing: Drawing, item: number, direction: Direction): number | undefined {
  const { tree, scene } = drawing
  const root = rootOf(tree)
  if (item < 0) return scene.get(root)?.boxes.at(0)?.id ?? childrenOf(tree, root).at(0)
  const group = parentOf(tree, item)
  const content = scene.get(group)
  const own = content?.boxes.find(({ id }) => id === item)
  if (!content || !own) return undefined
  if (direction === 'up' || direction === 'down') {
    const next = content.routes.flatMap(({ from, to }) =>
      direction === 'down' ? (from === item ? [to] : []) : to === item ? [from] : []
    )
    const found = next.find(id => id !== BORDER.in && id !== BORDER.out)
    return found ?? (group === root ? undefined : group)
  }
  const sign = direction === 'right' ? 1 : -1
  const beside = content.boxes
    .filter(({ id, x, w }) => id !== item && sign * (x + w / 2 - own.x - own.w / 2) > 1)
    .map(box => ({ id: box.id, far: Math.abs(box.x - own.x) + 3 * Math.abs(box.y - own.y) }))
    .sort((a, b) => a.far - b.far)
  return beside.at(0)?.id
}

const parentOf = ({ parent }: Tree, item: number): number => parent[item]
