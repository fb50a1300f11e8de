import { useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { closeBeside, selectBeside, toggleBeside } from '../state/comparing.ts'
import * as store from '../state/store.ts'
import { palette } from './palette.ts'
import { GraphView } from './view.ts'
import { currentBeside } from './viewing.ts'

/** The graph of the model that the open one is compared with. What is selected in one is in sight in the other. */
export function Beside() {
  const canvas = useRef<HTMLCanvasElement>(null)
  const frame = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const made = new GraphView(canvas.current!, {
      onSelect: item => void selectBeside(item),
      onToggle: group => void toggleBeside(group),
      onCamera: () => undefined
    })
    currentBeside.value = made
    const observer = new ResizeObserver(() => made.resize(frame.current!.clientWidth, frame.current!.clientHeight))
    observer.observe(frame.current!)
    return () => {
      observer.disconnect()
      currentBeside.value = undefined
    }
  }, [])
  const shown = useRef<unknown>(undefined)
  useSignalEffect(() => {
    const { value: now } = store.beside
    const { value: own } = currentBeside
    if (!own || !now) return
    if (shown.current === now.columns) own.setDrawing(now, now.selected)
    else {
      shown.current = now.columns
      own.setModel(now.columns, now)
    }
    own.setMarks({
      selected: now.selected,
      labelOf: () => '',
      isFalse: () => false,
      severity: new Map(),
      heat: store.heatsBeside.value,
      breakpoints: new Set(),
      current: -1
    })
    if (now.selected >= 0) own.reveal(now.selected)
  })
  useSignalEffect(() => {
    currentBeside.value?.setPalette(palette.value)
  })
  const name = store.compared.value?.other.split('/').at(-1) ?? ''
  return (
    <section class="beside" aria-label={`Graph of ${name}`}>
      <header>
        <h2>{name}</h2>
        <button type="button" class="plain" onClick={closeBeside}>
          Close
        </button>
      </header>
      <div class="graph" ref={frame}>
        <canvas ref={canvas} role="img" aria-label={`Graph of ${name}, its nodes heated by their error`} />
      </div>
    </section>
  )
}
