/** The worker that groups and places: the worker that reads models gives it their columns. */
import type { Arranged } from '../graph/arrange.ts'
import type { Columns } from '../graph/columns.ts'
import { Links } from '../graph/links.ts'
import { Arranger } from '../graph/scene.ts'
import { buildTree, openedAtFirst, type Tree } from '../graph/tree.ts'
import { serve } from './rpc.ts'

/** Which graph: that of the open model, or that of the one it is compared with. */
export type Side = 'own' | 'beside'

/** What the worker that reads models hands over. */
export interface Handed {
  readonly side: Side
  readonly columns: Columns
}

interface Grouping {
  readonly tree: Tree
  readonly arranger: Arranger
}

const groupings = new Map<Side, Grouping>()
const arrived = new Map<Side, () => void>()
const expected = new Map<Side, Promise<void>>()

/** What the page gets when a model has been grouped. */
export interface Grouped {
  readonly tree: Tree
  readonly open: ReadonlySet<number>
  readonly changes: ReadonlyMap<number, Arranged>
}

const methods = {
  /** Takes the other end of the engine's channel. */
  listen(port: MessagePort): void {
    port.onmessage = ({ data: { side, columns } }: MessageEvent<Handed>) => {
      const tree = buildTree(columns)
      groupings.set(side, { tree, arranger: new Arranger(columns, tree, new Links(columns, tree)) })
      arrived.get(side)?.()
    }
  },
  /** Called before a model is opened: the next columns are those of that model. */
  expect(side: Side): void {
    expected.set(
      side,
      new Promise(resolve => {
        arrived.set(side, resolve)
      })
    )
  },
  async group(side: Side): Promise<Grouped> {
    await expected.get(side)
    const { tree, arranger } = groupings.get(side)!
    const open = openedAtFirst(tree)
    return { tree, open, changes: arranger.changes(open) }
  },
  arrange: (open: ReadonlySet<number>, side: Side): ReadonlyMap<number, Arranged> =>
    groupings.get(side)!.arranger.changes(open)
}
export type LayoutMethods = typeof methods

serve(methods)
