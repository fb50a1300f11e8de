import type { Columns } from './columns.ts'
import { isGroup, itemsOf, type Tree } from './tree.ts'

/** The start or end of a link at the border of its group: what comes in from outside, and what goes out. */
export const BORDER = { in: -1, out: -2 } as const

/** A link between two children of a group, or between a child and the group's border. */
export interface Link {
  /** A child, or `BORDER.in`. */
  readonly from: number
  /** A child, or `BORDER.out`. */
  readonly to: number
  /** The first value that goes along. */
  readonly value: number
  /** How many values go along. */
  count: number
}

/**
 * The links of each group, found once for the whole model: an edge of the model is a link in the innermost group that
 * has both of its ends, and a link to the border in each group that it leaves or enters.
 */
export function linksOf(columns: Columns, tree: Tree): ReadonlyMap<number, readonly Link[]> {
  const links = new Map<number, Map<string, Link>>()
  const items = itemsOf(tree)
  const { parent } = tree
  const depth = depthsOf(tree)
  const add = (group: number, from: number, to: number, value: number): void => {
    let own = links.get(group)
    if (!own) links.set(group, (own = new Map()))
    // A value is drawn apart from others at the border, where it may go on to another place.
    const key = from < 0 || to < 0 ? `${from},${to},${value}` : `${from},${to}`
    const link = own.get(key)
    if (!link) own.set(key, { from, to, value, count: 1 })
    else if (link.value !== value) link.count++
  }
  for (let i = 0; i < columns.from.length; i++) {
    let a = items[columns.from[i]]
    let b = items[columns.to[i]]
    const value = columns.value[i]
    if (parent[a] < 0 || parent[b] < 0 || a === b) continue
    // A body reads a value of the graph around it: the end within the group of its own node is at the border.
    while (parent[a] !== parent[b]) {
      const goUpA = depth[a] > depth[b] || (depth[a] === depth[b] && parent[a] !== parent[b])
      const goUpB = depth[b] > depth[a] || (depth[a] === depth[b] && parent[a] !== parent[b])
      if (goUpA) {
        add(parent[a], a, BORDER.out, value)
        a = parent[a]
      }
      if (goUpB) {
        add(parent[b], BORDER.in, b, value)
        b = parent[b]
      }
    }
    if (a !== b) add(parent[a], a, b, value)
  }
  return new Map([...links].map(([group, own]) => [group, [...own.values()]]))
}

function depthsOf(tree: Tree): Int32Array {
  const { parent } = tree
  const depth = new Int32Array(parent.length).fill(-1)
  // Groups are numbered parents first.
  for (let group = tree.records; group < parent.length; group++)
    depth[group] = parent[group] < 0 ? 0 : depth[parent[group]] + 1
  for (let item = 0; item < tree.records; item++) if (parent[item] >= 0) depth[item] = depth[parent[item]] + 1
  return depth
}

/** Whether a link ends at an open group, where it goes on inside. */
export const goesInto = (tree: Tree, open: ReadonlySet<number>, item: number): boolean =>
  isGroup(tree, item) && open.has(item)
