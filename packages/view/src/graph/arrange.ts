import { graphlib, layout } from '@dagrejs/dagre'
import { BORDER, type Link } from './links.ts'

/** A point of a route, in units of the drawing. */
export interface Point {
  readonly x: number
  readonly y: number
}

/** A box to be placed. */
export interface Sized {
  readonly id: number
  readonly w: number
  readonly h: number
}

/** A box in its group: its corner is counted from the corner of the group's content. */
export interface Placed extends Sized {
  readonly x: number
  readonly y: number
}

/** A link with the way that it takes. */
export interface Route extends Link {
  readonly points: readonly Point[]
}

/** The content of an open group. */
export interface Arranged {
  readonly w: number
  readonly h: number
  readonly boxes: readonly Placed[]
  readonly routes: readonly Route[]
  /** Where values come in at the top and go out at the bottom: x by value. */
  readonly inlets: ReadonlyMap<number, number>
  readonly outlets: ReadonlyMap<number, number>
}

/** More values than this at a border share one place. */
const MAX_PORTS = 12
/** Distances between boxes of a rank, and between ranks. */
const GAP = { node: 26, rank: 46, edge: 14 } as const
const [TOP, BOTTOM] = ['top', 'bottom']

const portKeys = (links: readonly Link[], side: 'in' | 'out'): Map<number, string> => {
  const values = new Set<number>()
  for (const { from, to, value } of links) if (side === 'in' ? from === BORDER.in : to === BORDER.out) values.add(value)
  const isShared = values.size > MAX_PORTS
  return new Map([...values].map(value => [value, isShared ? side : `${side}${value}`]))
}

/**
 * Places the children of a group by ranks (Sugiyama's method, by dagre). What crosses the border is held at the first
 * and last rank by an invisible node at each side. The outcome depends on the arguments alone, so that what a user has
 * seen stays where it was.
 */
export function arrange(boxes: readonly Sized[], links: readonly Link[]): Arranged {
  // The layout gives nothing a size below zero.
  if (boxes.length === 0) return { w: 0, h: 0, boxes: [], routes: [], inlets: new Map(), outlets: new Map() }
  const graph = new graphlib.Graph({ multigraph: false })
  const isLarge = boxes.length > 150
  graph.setGraph({
    rankdir: 'TB',
    nodesep: GAP.node,
    ranksep: GAP.rank,
    edgesep: GAP.edge,
    ranker: isLarge ? 'longest-path' : 'network-simplex'
  })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id, w, h } of boxes) graph.setNode(`${id}`, { width: w, height: h })
  const inlets = portKeys(links, 'in')
  const outlets = portKeys(links, 'out')
  if (inlets.size > 0) graph.setNode(TOP, { width: 1, height: 1 })
  if (outlets.size > 0) graph.setNode(BOTTOM, { width: 1, height: 1 })
  for (const key of new Set(inlets.values())) {
    graph.setNode(key, { width: 4, height: 1 })
    graph.setEdge(TOP, key, { weight: 64 })
  }
  for (const key of new Set(outlets.values())) {
    graph.setNode(key, { width: 4, height: 1 })
    graph.setEdge(key, BOTTOM, { weight: 64 })
  }
  const ends = ({ from, to, value }: Link): [string, string] => [
    from === BORDER.in ? inlets.get(value)! : `${from}`,
    to === BORDER.out ? outlets.get(value)! : `${to}`
  ]
  for (const link of links) graph.setEdge(...ends(link), { weight: link.from < 0 || link.to < 0 ? 1 : 4 })
  layout(graph)
  return placedFrom(graph, boxes, links, { inlets, outlets, ends })
}

interface Ports {
  readonly inlets: ReadonlyMap<number, string>
  readonly outlets: ReadonlyMap<number, string>
  readonly ends: (link: Link) => [string, string]
}

interface LayoutNode {
  readonly x: number
  readonly y: number
}

function placedFrom(
  graph: InstanceType<typeof graphlib.Graph>,
  boxes: readonly Sized[],
  links: readonly Link[],
  { inlets, outlets, ends }: Ports
): Arranged {
  const at = (id: string): LayoutNode => graph.node(id) as LayoutNode
  const raw = boxes.map(({ id, w, h }) => {
    const { x, y } = at(`${id}`)
    return { id, w, h, x: x - w / 2, y: y - h / 2 }
  })
  const waypoints = links.map(link => (graph.edge(...ends(link)) as { points?: Point[] } | undefined)?.points ?? [])
  const xs = [...raw.flatMap(({ x, w }) => [x, x + w]), ...waypoints.flatMap(points => points.map(({ x }) => x))]
  const left = Math.min(...xs)
  const top = Math.min(...raw.map(({ y }) => y)) - (inlets.size > 0 ? 22 : 0)
  const bottom = Math.max(...raw.map(({ y, h }) => y + h)) + (outlets.size > 0 ? 22 : 0)
  const moved = ({ x, y }: Point): Point => ({ x: x - left, y: Math.min(Math.max(y, top), bottom) - top })
  const placed = raw.map(box => ({ ...box, x: box.x - left, y: box.y - top }))
  const byId = new Map(placed.map(box => [box.id, box]))
  const portX = (keys: ReadonlyMap<number, string>): Map<number, number> =>
    new Map([...keys].map(([value, key]) => [value, at(key).x - left]))
  const h = bottom - top
  const [inletX, outletX] = [portX(inlets), portX(outlets)]
  const routes = links.map((link, i) => {
    const points = waypoints[i].map(moved)
    const [from, to] = [byId.get(link.from), byId.get(link.to)]
    const inner = points.slice(1, -1)
    const start = from
      ? borderPoint(from, inner[0] ?? points.at(-1), 'bottom')
      : { x: inletX.get(link.value) ?? 0, y: 0 }
    const end = to ? borderPoint(to, inner.at(-1) ?? points[0], 'top') : { x: outletX.get(link.value) ?? 0, y: h }
    return { ...link, points: [start, ...inner, end] }
  })
  return { w: Math.max(...xs) - left, h, boxes: placed, routes, inlets: inletX, outlets: outletX }
}

/** Where a route leaves or enters a box: straight above or below the next point where the box is wide enough. */
function borderPoint({ x, y, w, h }: Placed, towards: Point | undefined, side: 'top' | 'bottom'): Point {
  const room = Math.min(12, w / 4)
  const wanted = towards === undefined ? x + w / 2 : (towards.x + x + w / 2) / 2
  return { x: Math.min(Math.max(wanted, x + room), x + w - room), y: side === 'top' ? y : y + h }
}
