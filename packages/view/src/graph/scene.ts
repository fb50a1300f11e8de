import { arrange, type Arranged, type Sized } from './arrange.ts'
import { FRAME, measure, textOf } from './boxes.ts'
import type { Columns } from './columns.ts'
import type { Links } from './links.ts'
import { childrenOf, isGroup, rootOf, type Tree } from './tree.ts'

/** The contents of the open groups, by group. */
export type Scene = ReadonlyMap<number, Arranged>

/** Works out where everything is. What has not changed since the last time is kept. */
export class Arranger {
  private readonly columns: Columns
  private readonly tree: Tree
  private readonly links: Links
  private readonly kept = new Map<number, { readonly key: string; readonly content: Arranged }>()

  constructor(columns: Columns, tree: Tree, links: Links) {
    this.columns = columns
    this.tree = tree
    this.links = links
  }

  /**
   * The contents that differ from those of the last call.
   * @param open groups; those within a closed group do not count
   */
  changes(open: ReadonlySet<number>): Map<number, Arranged> {
    const changed = new Map<number, Arranged>()
    this.content(rootOf(this.tree), open, changed)
    return changed
  }

  private content(group: number, open: ReadonlySet<number>, changed: Map<number, Arranged>): Arranged {
    const boxes = childrenOf(this.tree, group).map((id): Sized => {
      if (isGroup(this.tree, id) && open.has(id)) {
        const { w, h } = this.content(id, open, changed)
        return { id, w: Math.max(w + 2 * FRAME.pad, 160), h: h + FRAME.head + FRAME.pad }
      }
      return { id, ...measure(textOf(this.columns, this.tree, id), isGroup(this.tree, id)) }
    })
    const key = boxes.map(({ id, w, h }) => `${id}:${w}x${h}`).join()
    const before = this.kept.get(group)
    if (before?.key === key) return before.content
    const content = arrange(boxes, this.links.of(group))
    this.kept.set(group, { key, content })
    changed.set(group, content)
    return content
  }
}
