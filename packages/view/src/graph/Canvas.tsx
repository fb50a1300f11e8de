import { useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { select, toggle } from '../state/actions.ts'
import * as store from '../state/store.ts'
import { textOf } from './boxes.ts'
import { neighbourOf } from './direction.ts'
import type { Drawing } from './geometry.ts'
import { Minimap } from './Minimap.tsx'
import { palette } from './palette.ts'
import { isGroup } from './tree.ts'
import { GraphView } from './view.ts'
import { cameraMoved, current } from './viewing.ts'

const drawingOf = (): Drawing | undefined => {
  const { value: tree } = store.tree
  return tree && { tree, open: store.open.value, scene: store.scene.value }
}

const KEYS: Readonly<Record<string, 'up' | 'down' | 'left' | 'right'>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right'
}
/** Pixels that an arrow with Shift moves the picture. */
const PAN = 90

function onKey(event: KeyboardEvent): void {
  const view = current.value
  const drawing = drawingOf()
  if (!view || !drawing || event.ctrlKey || event.metaKey || event.altKey) return
  const { value: item } = store.selected
  const direction = KEYS[event.key]
  if (direction && event.shiftKey) {
    const sign = direction === 'up' || direction === 'left' ? 1 : -1
    const isAcross = direction === 'left' || direction === 'right'
    view.pan(isAcross ? sign * PAN : 0, isAcross ? 0 : sign * PAN)
  } else if (direction) {
    const next = neighbourOf(drawing, item, direction)
    if (next !== undefined) void select(next)
  } else if ((event.key === 'Enter' || event.key === ' ') && item >= 0 && isGroup(drawing.tree, item)) void toggle(item)
  else if (event.key === 'Escape' && item >= 0) {
    const parent = drawing.tree.parent[item]
    void select(drawing.tree.parent[parent] >= 0 ? parent : -1)
  } else if (event.key === '+' || event.key === '=') view.zoom(1.3)
  else if (event.key === '-') view.zoom(1 / 1.3)
  else if (event.key === '0' || event.key === 'f') view.fit()
  else return
  event.preventDefault()
}

/** The graph: a canvas that takes the keyboard, its overview, and what is told of the selected node. */
export function Canvas() {
  const canvas = useRef<HTMLCanvasElement>(null)
  const frame = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const view = new GraphView(canvas.current!, {
      onSelect: item => void select(item),
      onToggle: group => void toggle(group),
      onCamera: () => cameraMoved.value++
    })
    current.value = view
    const observer = new ResizeObserver(() => view.resize(frame.current!.clientWidth, frame.current!.clientHeight))
    observer.observe(frame.current!)
    return () => {
      observer.disconnect()
      current.value = undefined
    }
  }, [])
  useFollow()
  const { value: item } = store.selected
  return (
    <div class="graph" ref={frame}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-roledescription="graph"
        aria-label="Graph of the model. Arrow keys go along values, Enter opens a group, Escape leaves it."
        onKeyDown={onKey}
      />
      <p class="aside" role="status">
        {item >= 0 ? sayingOf(item) : ''}
      </p>
      <Minimap />
      <div class="zoom" role="group" aria-label="Zoom">
        <button type="button" title="Zoom in (+)" onClick={() => current.value?.zoom(1.4)}>
          +
        </button>
        <button type="button" title="Zoom out (-)" onClick={() => current.value?.zoom(1 / 1.4)}>
          −
        </button>
        <button type="button" title="Show all (0)" aria-label="Show all" onClick={() => current.value?.fit()}>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4" />
          </svg>
        </button>
      </div>
    </div>
  )
}

function sayingOf(item: number): string {
  const [tree, columns] = [store.tree.value, store.columns.value]
  if (!tree || !columns) return ''
  const { title, lines } = textOf(columns, tree, item)
  return [title, ...lines, store.severities.value.get(item) ?? ''].filter(text => text !== '').join(', ')
}

/** The canvas follows what the page knows. */
function useFollow(): void {
  const shown = useRef<unknown>(undefined)
  const revealed = useRef(-1)
  // One effect, since those of one frame run in any order: groups around the selected item open before it is sought.
  useSignalEffect(() => {
    const view = current.value
    const { value: item } = store.selected
    const drawing = drawingOf()
    const { value: columns } = store.columns
    if (!view || !drawing || !columns) return
    if (shown.current !== columns) {
      shown.current = columns
      view.setModel(columns, drawing)
    } else view.setDrawing(drawing, item)
    if (item === revealed.current) return
    revealed.current = item
    if (item >= 0) view.reveal(item)
  })
  useSignalEffect(() => {
    current.value?.setMarks({
      selected: store.selected.value,
      labelOf: textAtEdges(),
      isFalse: store.isBad,
      severity: store.severities.value,
      heat: store.heats.value,
      breakpoints: store.breakpoints.value,
      current:
        store.runState.value === 'paused' ? store.itemOf(store.steps.value.at(store.cursor.value)?.record ?? -1) : -1
    })
  })
  useSignalEffect(() => {
    current.value?.setPalette(palette.value)
  })
}

/** What is written at edges; it is read here, so that the canvas follows it. */
function textAtEdges(): (value: number) => string {
  void store.facts.value
  void store.made.value
  return store.edgeText
}
