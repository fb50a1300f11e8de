import { type Columns, countOf, KIND, nameOf, typeOf } from './columns.ts'
import { pathOf } from './names.ts'
import { orderOf } from './order.ts'

/**
 * The groups of a model. Items are numbered: records of the columns first, then groups. A group may stand for a node
 * that has bodies; the node itself is then no item of its own.
 */
export interface Tree {
  readonly records: number
  /** The group around an item; -1 for the root. Records that are not drawn have -2. */
  readonly parent: Int32Array
  /** By group (its number less `records`). */
  readonly labels: readonly string[]
  /** The record of the node that a group stands for, or -1. */
  readonly node: Int32Array
  readonly children: readonly (readonly number[])[]
  /** How many nodes are within, at any depth. */
  readonly sizes: Int32Array
}

/** Most items of a group: more of them are put into groups of their own. */
export const MAX_CHILDREN = 120
/** A chunk has at least as many items, where there are as many. */
const MIN_CHUNK = 16
/** Chunks that a group is cut into, so long as none has more than {@link MAX_CHILDREN} items. */
const CHUNKS = 24
/** A group by name has at least as many nodes. */
const MIN_GROUP = 2

interface Group {
  label: string
  readonly node: number
  children: (Group | number)[]
  /** Position of its first node in the order of the run. */
  order: number
  size: number
}

const groupOf = (label: string, node = -1): Group => ({ label, node, children: [], order: 0, size: 0 })

/** The groups of a model: by names, by bodies, and in chunks by topological order where these leave too many. */
export function buildTree(columns: Columns): Tree {
  const order = orderOf(columns)
  const readers = firstReaders(columns)
  const bodies = new Map<number, number[]>()
  columns.graphs.forEach(({ owner }, i) => {
    if (owner < 0) return
    const list = bodies.get(owner)
    if (list) list.push(i)
    else bodies.set(owner, [i])
  })
  const fill = (group: Group, index: number): Group => {
    const { first, count } = columns.graphs[index]
    const homes = new Homes(group)
    for (let record = first; record < first + count; record++) {
      if (columns.kind[record] === KIND.constant) continue
      const inner = bodies.get(record)
      const home = columns.kind[record] === KIND.node ? homes.of(namedNear(columns, readers, record)) : group
      home.children.push(inner ? nodeGroup(record, inner) : record)
    }
    return group
  }
  const nodeGroup = (record: number, inner: readonly number[]): Group => {
    const group = groupOf(nameOf(columns, record) || typeOf(columns, record), record)
    if (inner.length === 1) return fill(group, inner[0])
    group.children = inner.map(index => fill(groupOf(columns.graphs[index].label), index))
    return group
  }
  const root = fill(groupOf(''), 0)
  for (const [i, { owner, label, count }] of columns.graphs.entries())
    if (i > 0 && owner < 0 && count > 0) root.children.push(fill(groupOf(label), i))
  tidy(root, order, columns)
  return flatten(root, countOf(columns))
}

/** For each record, the first record that reads what it makes, or -1. */
function firstReaders(columns: Columns): Int32Array {
  const { from, to } = columns
  const readers = new Int32Array(countOf(columns)).fill(-1)
  for (let i = 0; i < from.length; i++) if (readers[from[i]] < 0 || to[i] < readers[from[i]]) readers[from[i]] = to[i]
  return readers
}

/** How many readers are followed from a node whose name says no group. */
const MAX_STEPS = 4

/** The name that tells the group of a node: its own, or, where that has no group, that of a node which reads it. */
function namedNear(columns: Columns, readers: Int32Array, record: number): string {
  let at = record
  for (let step = 0; step < MAX_STEPS && at >= 0; step++) {
    if (columns.graph[at] !== columns.graph[record] || columns.kind[at] !== KIND.node) break
    const name = nameOf(columns, at)
    if (name.includes('/', 1)) return name
    at = readers[at]
  }
  return nameOf(columns, record)
}

/** Groups in groups that are made of one name; deeper ones are left out. */
const MAX_DEPTH = 64

/** The groups of nodes by their names, made where they are not there. */
class Homes {
  private readonly root: Group
  private readonly byPath = new Map<string, Group>()
  /** What the last name had before its last slash, and the group that it led to: neighbours share it. */
  private last = { before: '', group: undefined as Group | undefined }

  constructor(root: Group) {
    this.root = root
  }

  of(name: string): Group {
    const cut = name.lastIndexOf('/')
    if (cut <= 0 && !name.startsWith('__module.')) return this.root
    // A number at the end belongs to the word before it.
    if (cut <= 0 || cut === name.length - 1 || isDigit(name.charCodeAt(cut + 1)))
      return this.at(pathOf(name).slice(0, -1))
    const { before, group } = this.last
    if (group && before.length === cut && name.startsWith(before)) return group
    const found = this.at(pathOf(name).slice(0, -1))
    this.last = { before: name.slice(0, cut), group: found }
    return found
  }

  private at(parts: readonly string[]): Group {
    let group = this.root
    let path = ''
    for (const part of parts.slice(0, MAX_DEPTH)) {
      path += `/${part}`
      let next = this.byPath.get(path)
      if (!next) {
        next = groupOf(part)
        this.byPath.set(path, next)
        group.children.push(next)
      }
      group = next
    }
    return group
  }
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** Groups of one node dissolve, a group in a group alone takes its label, children are sorted and never too many. */
function tidy(group: Group, order: Int32Array, columns: Columns): void {
  const children: (Group | number)[] = []
  for (const child of group.children) {
    if (typeof child === 'number') {
      children.push(child)
      continue
    }
    tidy(child, order, columns)
    if (child.size === 0 && child.node < 0) continue
    if (child.node < 0 && child.size < MIN_GROUP) children.push(...child.children)
    else children.push(child)
  }
  group.children = children
  const [only] = children
  if (children.length === 1 && typeof only === 'object' && only.node < 0 && group.label !== '') {
    group.children = only.children
    if (group.node < 0) group.label += `/${only.label}`
  }
  const at = (child: Group | number): number => (typeof child === 'number' ? order[child] : child.order)
  group.children.sort((a, b) => at(a) - at(b))
  group.order = group.node >= 0 ? order[group.node] : group.children.length > 0 ? at(group.children[0]) : 0
  group.size = group.children.reduce((sum: number, child) => sum + (typeof child === 'number' ? 1 : child.size), 0)
  while (group.children.length > MAX_CHILDREN) group.children = chunked(group.children, columns)
}

/** Neighbours in the order of the run, in groups of nearly equal length. Inputs and outputs of the graph stay apart. */
function chunked(children: readonly (Group | number)[], columns: Columns): (Group | number)[] {
  const isPort = (child: Group | number): boolean => typeof child === 'number' && columns.kind[child] !== KIND.node
  const ports = children.filter(isPort)
  const keepPorts = ports.length <= MAX_CHILDREN / 2
  const rest = keepPorts ? children.filter(child => !isPort(child)) : children
  const room = keepPorts ? MAX_CHILDREN - ports.length : MAX_CHILDREN
  const length = Math.min(MAX_CHILDREN, Math.max(MIN_CHUNK, Math.ceil(rest.length / Math.min(room, CHUNKS))))
  const name = (child: Group | number): string =>
    typeof child === 'number' ? nameOf(columns, child) || typeOf(columns, child) : child.label
  const chunks: (Group | number)[] = []
  for (let i = 0; i < rest.length; i += length) {
    const part = rest.slice(i, i + length)
    const chunk = groupOf(
      part.length === 1 ? name(part[0]) : `${shortName(name(part[0]))} … ${shortName(name(part[part.length - 1]))}`
    )
    chunk.children = part
    chunk.size = part.reduce((sum: number, child) => sum + (typeof child === 'number' ? 1 : child.size), 0)
    const [first] = part
    chunk.order = typeof first === 'object' ? first.order : 0
    chunks.push(part.length === 1 ? part[0] : chunk)
  }
  if (!keepPorts) return chunks
  const inputs = ports.filter(port => typeof port === 'number' && columns.kind[port] === KIND.input)
  return [...inputs, ...chunks, ...ports.filter(port => !inputs.includes(port))]
}

const shortName = (name: string): string =>
  name.includes(' … ') ? name.split(' … ')[0] : (pathOf(name).at(-1) ?? name)

function flatten(root: Group, records: number): Tree {
  const labels: string[] = []
  const nodes: number[] = []
  const sizes: number[] = []
  const children: number[][] = []
  const parents: number[] = []
  const parentOf = new Int32Array(records).fill(-2)
  const visit = (group: Group, parent: number): number => {
    const own = labels.length
    const id = records + own
    labels.push(group.label)
    nodes.push(group.node)
    sizes.push(group.size)
    parents.push(parent)
    const ids: number[] = []
    children.push(ids)
    if (group.node >= 0) parentOf[group.node] = parent
    for (const child of group.children) {
      if (typeof child === 'number') parentOf[child] = id
      ids.push(typeof child === 'number' ? child : visit(child, id))
    }
    return id
  }
  visit(root, -1)
  const parent = new Int32Array(records + labels.length)
  parent.set(parentOf)
  parent.set(parents, records)
  return { records, parent, labels, node: Int32Array.from(nodes), children, sizes: Int32Array.from(sizes) }
}

/** The root of a tree: the main graph. */
export const rootOf = ({ records }: Tree): number => records
export const isGroup = ({ records }: Tree, item: number): boolean => item >= records
export const labelOf = ({ labels, records }: Tree, group: number): string => labels[group - records]
export const childrenOf = ({ children, records }: Tree, group: number): readonly number[] => children[group - records]
export const sizeOf = ({ sizes, records }: Tree, group: number): number => sizes[group - records]
/** The record of the node that an item is or stands for; -1 for a group by name. */
export const recordOf = ({ node, records }: Tree, item: number): number =>
  item < records ? item : node[item - records]

/** The groups around an item, the root first, the item itself left out. */
export function ancestorsOf({ parent }: Tree, item: number): number[] {
  const path: number[] = []
  for (let at = parent[item]; at >= 0; at = parent[at]) path.push(at)
  return path.reverse()
}

/** The item that stands for each record: itself, or the group of a node that has bodies. */
export function itemsOf({ records, node }: Tree): Int32Array {
  const items = new Int32Array(records)
  for (let record = 0; record < records; record++) items[record] = record
  node.forEach((record, group) => {
    if (record >= 0) items[record] = records + group
  })
  return items
}

/** The groups that are open at first: the outer ones, as long as not too much is to be seen. */
export function openedAtFirst(tree: Tree, most = 90): Set<number> {
  const open = new Set([rootOf(tree)])
  let seen = childrenOf(tree, rootOf(tree)).length
  let level = [rootOf(tree)]
  while (level.length > 0) {
    const next = level.flatMap(group => childrenOf(tree, group)).filter(item => isGroup(tree, item))
    // A level is opened as a whole or not at all: like things look alike. A group that all is in says nothing.
    const more = next.reduce((sum, group) => sum + childrenOf(tree, group).length, 0)
    if (seen + more > most && next.length > 1) break
    for (const group of next) open.add(group)
    seen += more
    level = next
  }
  return open
}
