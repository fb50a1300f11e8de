import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { nameOf, typeOf } from '../graph/columns.ts'
import { type Hit, search } from '../graph/search.ts'
import { selectRecord } from '../state/actions.ts'
import * as store from '../state/store.ts'
import { workers } from '../state/workers.ts'

const SHOWN = 60

/** The search: by name, operator or shape. `/` leads to it. */
export function Search() {
  const field = useRef<HTMLInputElement>(null)
  const text = useSignal('')
  const at = useSignal(0)
  const isOpen = useSignal(false)
  useShortcut(field)
  const hits = useHits(text.value)
  const listed = hits.slice(0, SHOWN)
  const take = (index: number): void => {
    const hit = listed.at(index)
    if (!hit) return
    isOpen.value = false
    void selectRecord(hit.record)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (by !== 0) {
      event.preventDefault()
      at.value = Math.min(listed.length - 1, Math.max(0, at.value + by))
    } else if (event.key === 'Enter') take(at.value)
    else if (event.key === 'Escape') {
      isOpen.value = false
      field.current?.blur()
    }
  }
  const isListed = isOpen.value && text.value.trim() !== ''
  return (
    <div class="search">
      <input
        ref={field}
        type="search"
        role="combobox"
        placeholder="Search name, operator, shape, axis=1"
        aria-label="Search nodes by name, operator, shape or attribute"
        aria-expanded={isListed}
        aria-controls="hits"
        aria-activedescendant={isListed && listed.length > 0 ? `hit-${at.value}` : undefined}
        autocomplete="off"
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value
          at.value = 0
          isOpen.value = true
        }}
        onFocus={() => (isOpen.value = true)}
        onBlur={() => (isOpen.value = false)}
        onKeyDown={onKeyDown}
      />
      <kbd aria-hidden="true">/</kbd>
      <Hits hits={isListed ? listed : undefined} at={at.value} take={take} />
    </div>
  )
}

/** What is found in names, operators and shapes at once, and then in attributes, which the engine has. */
function useHits(text: string): readonly Hit[] {
  const byAttribute = useSignal<readonly Hit[]>([])
  const { value: columns } = store.columns
  useEffect(() => {
    byAttribute.value = []
    const wanted = text.trim()
    if (!/^[\w.]+=/.test(wanted)) return undefined
    let isOver = false
    void workers()
      .engine.call.withAttribute(wanted)
      .then(found => {
        if (!isOver) byAttribute.value = found.map(record => ({ record, score: 0 }))
      })
    return () => {
      isOver = true
    }
  }, [text])
  return columns ? [...search(columns, text, store.facts.value), ...byAttribute.value] : []
}

/** `/` and Ctrl-K lead to the search. */
function useShortcut(field: RefObject<HTMLInputElement>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test((event.target as HTMLElement).tagName)
      if ((event.key === '/' && !isTyping) || (event.key === 'k' && (event.ctrlKey || event.metaKey))) {
        event.preventDefault()
        field.current?.focus()
        field.current?.select()
      }
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

interface HitsProps {
  /** Undefined: the list is closed. */
  readonly hits: readonly Hit[] | undefined
  readonly at: number
  readonly take: (index: number) => void
}

function Hits({ hits, at, take }: HitsProps) {
  const columns = store.columns.value!
  return (
    <ul id="hits" role="listbox" aria-label="Nodes that were found" hidden={!hits}>
      {hits?.map(({ record }, i) => (
        <li
          key={record}
          id={`hit-${i}`}
          role="option"
          aria-selected={i === at}
          onPointerDown={event => {
            event.preventDefault()
            take(i)
          }}
        >
          <b>{typeOf(columns, record)}</b>
          <span>{nameOf(columns, record)}</span>
        </li>
      ))}
      {hits?.length === 0 && (
        <li role="option" aria-selected={false} class="none">
          No node has it. Try an operator, a part of a name, a shape such as 1x?x768, or an attribute such as axis=1.
        </li>
      )}
    </ul>
  )
}
