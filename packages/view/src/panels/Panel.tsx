import * as store from '../state/store.ts'
import { FindingsPanel } from './FindingsPanel.tsx'
import { ModelPanel } from './ModelPanel.tsx'
import { NodePanel } from './NodePanel.tsx'
import { RunPanel } from './RunPanel.tsx'

const TABS = [
  ['model', 'Model'],
  ['node', 'Node'],
  ['findings', 'Findings'],
  ['run', 'Run']
] as const satisfies readonly (readonly [store.Tab, string])[]

/** What is known, beside the graph: of the model, of the selected node, what is false, and a run. */
export function Panel() {
  if (!store.isPanelOpen.value) return null
  const { value: tab } = store.tab
  const count = store.findings.value.filter(({ severity }) => severity !== 'note').length
  const onKey = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (by === 0) return
    const at = TABS.findIndex(([id]) => id === tab)
    const [next] = TABS[(at + by + TABS.length) % TABS.length]
    store.tab.value = next
    document.getElementById(`tab-${next}`)?.focus()
  }
  return (
    <aside class="panel" aria-label="Details">
      <div role="tablist" aria-label="Details" onKeyDown={onKey}>
        {TABS.map(([id, label]) => (
          <button
            type="button"
            key={id}
            id={`tab-${id}`}
            role="tab"
            aria-selected={tab === id}
            aria-controls="tab-body"
            tabIndex={tab === id ? 0 : -1}
            onClick={() => (store.tab.value = id)}
          >
            {label}
            {id === 'findings' && count > 0 && <i>{count}</i>}
          </button>
        ))}
      </div>
      <div class="body" id="tab-body" role="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        {tab === 'model' && <ModelPanel />}
        {tab === 'node' && <NodePanel />}
        {tab === 'findings' && <FindingsPanel />}
        {tab === 'run' && <RunPanel />}
      </div>
    </aside>
  )
}
