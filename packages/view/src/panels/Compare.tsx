import { selectRecord } from '../state/actions.ts'
import { compareWith } from '../state/comparing.ts'
import * as store from '../state/store.ts'
import type { ShownPair } from '../worker/comparing.ts'
import { FilesButton } from './FilesButton.tsx'
import { ReportButton } from './ReportButton.tsx'
import { counted, numberText } from './texts.ts'

/** Another model beside the open one: both run on the same inputs, and the first node whose values part is in sight. */
export function Compare() {
  const { value: found } = store.compared
  return (
    <section>
      <h2>Compare</h2>
      <p class="note">Run another model on the same inputs, and see where their values part.</p>
      <div class="row below">
        <FilesButton look="plain" label="Files of the other model" take={compareWith}>
          Choose the other model
        </FilesButton>
      </div>
      {found && <Found />}
    </section>
  )
}

/** Pairs that are listed: those after the first difference carry its error on. */
const LISTED = 40

function Found() {
  const { equal, first, pairs, outputs, other, unpaired } = store.compared.value!
  const apart = pairs.filter(pair => !pair.equal)
  return (
    <>
      <h3>{other.split('/').at(-1)}</h3>
      <p class={equal ? 'good' : 'bad'}>
        {equal
          ? 'All values that belong together are equal.'
          : `${apart.length} of ${counted(pairs.length, 'value')} differ.`}
      </p>
      {store.runState.value !== 'done' && <ReportButton />}
      {first && (
        <>
          <h3>First difference</h3>
          <Pair pair={first} />
          {first.why.map((text, i) => (
            <p key={i} class="note small">
              {text}
            </p>
          ))}
        </>
      )}
      <h3>Outputs</h3>
      <ul class="ports">
        {outputs.map(({ a, text, equal: same }) => (
          <li key={a}>
            <div class="port">
              <code class="path" title={a}>
                <bdi>{a}</bdi>
              </code>
              <span class={same ? 'type' : 'type bad'}>{text}</span>
            </div>
          </li>
        ))}
      </ul>
      {apart.length > 1 && (
        <>
          <h3>In the order of the run</h3>
          <ul class="ports">
            {apart.slice(0, LISTED).map((pair, i) => (
              <li key={i}>
                <Pair pair={pair} />
              </li>
            ))}
          </ul>
        </>
      )}
      <p class="note small">
        Without a counterpart: {unpaired.a} here, {unpaired.b} there.
      </p>
    </>
  )
}

function Pair({ pair: { record, a, maxAbsolute, differing, elements } }: { readonly pair: ShownPair }) {
  return (
    <>
      <div class="port">
        {record >= 0 ? (
          <button type="button" class="link path" title={a} onClick={() => void selectRecord(record)}>
            <bdi>{a}</bdi>
          </button>
        ) : (
          <code class="path" title={a}>
            <bdi>{a}</bdi>
          </code>
        )}
        <span class="type">
          by <b>{numberText(maxAbsolute)}</b>
        </span>
      </div>
      <p class="note small">
        {differing.toLocaleString('en')} of {counted(elements, 'element')}
      </p>
    </>
  )
}
