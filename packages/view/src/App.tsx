import { Beside } from './graph/Beside.tsx'
import { Canvas } from './graph/Canvas.tsx'
import { Panel } from './panels/Panel.tsx'
import { Start } from './panels/Start.tsx'
import { TopBar } from './panels/TopBar.tsx'
import { Trail } from './panels/Trail.tsx'
import * as store from './state/store.ts'

/** The page: a bar, and below it either where a model is opened, or the graph with what is known of it. */
export function App() {
  const isOpen = store.phase.value === 'open'
  return (
    <>
      <TopBar />
      <Failures />
      {isOpen ? (
        <main class={store.isPanelOpen.value ? 'work' : 'work wide'}>
          <div class={store.beside.value ? 'stages two' : 'stages'}>
            <section class="stage" aria-label="Graph">
              <Trail />
              <Canvas />
            </section>
            {store.beside.value && <Beside />}
          </div>
          <Panel />
        </main>
      ) : (
        <Start />
      )}
      <div class="drop" aria-hidden="true">
        <p>Drop the model</p>
      </div>
    </>
  )
}

/** What went wrong last, with its code. */
function Failures() {
  const { value: failure } = store.failure
  if (!failure) return null
  return (
    <div class="failure" role="alert">
      <p>
        <code>{failure.code}</code> {failure.message}
        {failure.place !== '' && <small>{failure.place}</small>}
      </p>
      <button type="button" aria-label="Dismiss" onClick={() => (store.failure.value = undefined)}>
        ×
      </button>
    </div>
  )
}
