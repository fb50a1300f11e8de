/** The worker that groups and places: the worker that reads models gives it their columns. */
import type { Arranged } from '../graph/arrange.ts'
import type { Columns } from '../graph/columns.ts'
import { linksOf } from '../graph/links.ts'
import { Arranger } from '../graph/scene.ts'
import { buildTree, openedAtFirst, type Tree } from '../graph/tree.ts'
import { serve } from './rpc.ts'

let arranger: Arranger | undefined
let tree: Tree | undefined
let arrived: (() => void) | undefined
let expected: Promise<void> | undefined

/** What the page gets when a model has been grouped. */
export interface Grouped {
  readonly tree: Tree
  readonly open: ReadonlySet<number>
  readonly changes: ReadonlyMap<number, Arranged>
}

const methods = {
  /** Takes the other end of the engine's channel. */
  listen(port: MessagePort): void {
    port.onmessage = ({ data }: MessageEvent<Columns>) => {
      tree = buildTree(data)
      arranger = new Arranger(data, tree, linksOf(data, tree))
      arrived?.()
    }
  },
  /** Called before a model is opened: the next columns are those of that model. */
  expect(): void {
    expected = new Promise(resolve => {
      arrived = resolve
    })
  },
  async group(): Promise<Grouped> {
    await expected
    const open = openedAtFirst(tree!)
    return { tree: tree!, open, changes: arranger!.changes(open) }
  },
  arrange: (open: ReadonlySet<number>): ReadonlyMap<number, Arranged> => arranger!.changes(open)
}
export type LayoutMethods = typeof methods

serve(methods)
