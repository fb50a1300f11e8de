import type { Columns } from './columns.ts'
import { itemsOf, type Tree } from './tree.ts'

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
 * The links of each group: an edge of the model is a link in the innermost group that has both of its ends, and a link
 * to the border in each group that it leaves or enters. All are found at once, as numbers; those of a group are made
 * when it is asked for, since few groups are ever open.
 */
export class Links {
  /** Four numbers a part of an edge: the group, both ends, and the value. */
  private readonly parts: Int32Array
  /** Positions of the parts in the order of groups, and where those of each group begin. */
  private readonly order: Int32Array
  private readonly starts: Int32Array
  private readonly records: number

  constructor(columns: Columns, tree: Tree) {
    const parts = partsOf(columns, tree)
    const groups = tree.labels.length
    const starts = new Int32Array(groups + 1)
    for (let at = 0; at < parts.length; at += 4) starts[parts[at] - tree.records + 1]++
    for (let group = 0; group < groups; group++) starts[group + 1] += starts[group]
    const next = starts.slice(0, groups)
    const order = new Int32Array(parts.length / 4)
    for (let at = 0; at < parts.length; at += 4) order[next[parts[at] - tree.records]++] = at
    this.parts = parts
    this.order = order
    this.starts = starts
    this.records = tree.records
  }

  /** The links of a group, in the order of the edges. */
  of(group: number): readonly Link[] {
    const { parts, order, starts, records } = this
    const links = new Map<string, Link>()
    for (let i = starts[group - records]; i < starts[group - records + 1]; i++) {
      const [from, to, value] = parts.subarray(order[i] + 1, order[i] + 4)
      // A value is drawn apart from others at the border, where it may go on to another place.
      const key = from < 0 || to < 0 ? `${from},${to},${value}` : `${from},${to}`
      const link = links.get(key)
      if (!link) links.set(key, { from, to, value, count: 1 })
      else if (link.value !== value) link.count++
    }
    return [...links.values()]
  }
}

/** The parts of all edges, see {@link Links}. */
function partsOf(columns: Columns, tree: Tree): Int32Array {
  const parts: number[] = []
  const items = itemsOf(tree)
  const { parent } = tree
  const depth = depthsOf(tree)
  for (let i = 0; i < columns.from.length; i++) {
    let a = items[columns.from[i]]
    let b = items[columns.to[i]]
    const value = columns.value[i]
    if (parent[a] < 0 || parent[b] < 0 || a === b) continue
    // A body reads a value of the graph around it: the end within the group of its own node is at the border.
    while (parent[a] !== parent[b]) {
      const [goUpA, goUpB] = [depth[a] >= depth[b], depth[b] >= depth[a]]
      if (goUpA) {
        parts.push(parent[a], a, BORDER.out, value)
        a = parent[a]
      }
      if (goUpB) {
        parts.push(parent[b], BORDER.in, b, value)
        b = parent[b]
      }
    }
    if (a !== b) parts.push(parent[a], a, b, value)
  }
  return Int32Array.from(parts)
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
