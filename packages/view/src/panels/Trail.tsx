import { useLayoutEffect, useRef } from 'preact/hooks'
import { textOf } from '../graph/boxes.ts'
import { ancestorsOf, labelOf, rootOf } from '../graph/tree.ts'
import { closeAll, openAll, select } from '../state/actions.ts'
import * as store from '../state/store.ts'

/** Where the selected node is: the groups around it, each a step back. */
export function Trail() {
  const [tree, columns] = [store.tree.value, store.columns.value]
  const { value: item } = store.selected
  const way = useRef<HTMLElement>(null)
  // Of a way that is too long the end is seen.
  useLayoutEffect(() => way.current?.scrollTo({ left: way.current.scrollWidth }), [item])
  if (!tree || !columns) return null
  const groups = item < 0 ? [] : ancestorsOf(tree, item).filter(group => group !== rootOf(tree))
  return (
    <div class="trail">
      <nav ref={way} aria-label="Groups around the node">
        <button type="button" onClick={() => void select(-1)}>
          {store.opened.value?.overview.file.split('/').at(-1)}
        </button>
        {groups.map(group => (
          <button type="button" key={group} onClick={() => void select(group)}>
            {labelOf(tree, group) || textOf(columns, tree, group).title}
          </button>
        ))}
        {item >= 0 && <span aria-current="true">{textOf(columns, tree, item).title}</span>}
      </nav>
      <div class="both">
        <button type="button" onClick={() => void openAll()}>
          Open all
        </button>
        <button type="button" onClick={() => void closeAll()}>
          Close all
        </button>
      </div>
    </div>
  )
}
