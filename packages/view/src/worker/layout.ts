/** The worker that groups and places: the worker that reads models gives it their columns. */
import type { Arranged } from '../graph/arrange.ts'
import type { Columns } from '../graph/columns.ts'
import { Links } from '../graph/links.ts'
import { Arranger } from '../graph/scene.ts'
import { buildTree, openedAtFirst, type Tree } from '../graph/tree.ts'
import { serve } from './rpc.ts'

/** Which graph: that of the open model, or that of the one it is compared with. */
export type Side = 'own' | 'beside'

/** What the worker that reads models hands over; each has a number of its own. */
export interface Handed {
  readonly number: number
  readonly side: Side
  readonly columns: Columns
}

interface Grouping {
  readonly tree: Tree
  readonly arranger: Arranger
}

const groupings = new Map<Side, Grouping>()
/** By the number of what is handed over: what came of grouping it, and who waits for that. */
const outcomes = new Map<number, { readonly failure?: Error }>()
const waiting = new Map<number, () => void>()

/** Waits until what has a number has come and is grouped. */
async function settled(number: number): Promise<void> {
  if (!outcomes.has(number)) await new Promise<void>(resolve => waiting.set(number, resolve))
  const { failure } = outcomes.get(number)!
  if (failure) throw failure
}

function group({ side, columns }: Handed): void {
  const tree = buildTree(columns)
  groupings.set(side, { tree, arranger: new Arranger(columns, tree, new Links(columns, tree)) })
}

/** What the page gets when a model has been grouped. */
export interface Grouped {
  readonly tree: Tree
  readonly open: ReadonlySet<number>
  readonly changes: ReadonlyMap<number, Arranged>
}

const methods = {
  /** Takes the other end of the engine's channel. */
  listen(port: MessagePort): void {
    port.onmessage = ({ data }: MessageEvent<Handed>) => {
      try {
        group(data)
        outcomes.set(data.number, {})
      } catch (error) {
        outcomes.set(data.number, { failure: error as Error })
      }
      waiting.get(data.number)?.()
      waiting.delete(data.number)
    }
  },
  /** @param number what the other worker called the columns that it handed over */
  async group(side: Side, number: number): Promise<Grouped> {
    await settled(number)
    const { tree, arranger } = groupings.get(side)!
    const open = openedAtFirst(tree)
    return { tree, open, changes: arranger.changes(open) }
  },
  arrange: (open: ReadonlySet<number>, side: Side): ReadonlyMap<number, Arranged> =>
    groupings.get(side)!.arranger.changes(open)
}
export type LayoutMethods = typeof methods

serve(methods)
