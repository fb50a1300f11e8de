import { firstOfType } from '../graph/columns.ts'
import { selectRecord } from '../state/actions.ts'
import { saveConverted, savePicture } from '../state/saving.ts'
import * as store from '../state/store.ts'
import { modelFacts } from './report.ts'
import { ReportButton } from './ReportButton.tsx'
import { Sizes } from './Sizes.tsx'
import { counted } from './texts.ts'

/** The model as a whole. */
export function ModelPanel() {
  const { value: opened } = store.opened
  if (!opened) return null
  const { overview } = opened
  return (
    <>
      <False />
      <Sizes />
      <section>
        <h2>Model</h2>
        <dl class="facts">
          {modelFacts(overview).map(([name, text]) => [<dt key={name}>{name}</dt>, <dd key={`${name}=`}>{text}</dd>])}
        </dl>
      </section>
      {overview.unsupported.length > 0 && (
        <section>
          <h2>Not supported</h2>
          <p class="note">{overview.unsupported.join(', ')}</p>
        </section>
      )}
      <Operators ops={overview.ops} />
      <section>
        <h2>Take away</h2>
        <div class="row">
          {(['.onnx', '.xml', '.onnxtxt'] as const).map(suffix => (
            <button type="button" class="plain" key={suffix} onClick={() => void saveConverted(suffix)}>
              {suffix}
            </button>
          ))}
          {(['svg', 'png'] as const).map(kind => (
            <button type="button" class="plain" key={kind} onClick={() => void savePicture(kind)}>
              Picture .{kind}
            </button>
          ))}
          <ReportButton />
        </div>
      </section>
      {overview.metadata.length > 0 && (
        <details>
          <summary>Metadata</summary>
          <dl class="facts long">
            {overview.metadata.map(([key, value]) => [<dt key={key}>{key}</dt>, <dd key={`${key}=`}>{value}</dd>])}
          </dl>
        </details>
      )}
    </>
  )
}

/** What is seen first of a model that declares what cannot be true. */
function False() {
  const errors = store.findings.value.filter(({ severity }) => severity === 'error').length
  if (errors === 0) return null
  return (
    <section>
      <h2 class="bad">What is declared cannot all be true</h2>
      <button type="button" class="plain" onClick={() => (store.tab.value = 'findings')}>
        Show {counted(errors, 'error')}
      </button>
    </section>
  )
}

/** How often each operator occurs; pressed, it leads to the first. */
function Operators({ ops }: { readonly ops: readonly (readonly [string, number])[] }) {
  const most = ops[0]?.[1] ?? 1
  const go = (type: string): void => {
    const first = store.columns.value ? firstOfType(store.columns.value, type) : -1
    if (first >= 0) void selectRecord(first)
  }
  return (
    <section>
      <h2>Operators</h2>
      <ul class="bars">
        {ops.slice(0, 40).map(([type, count]) => (
          <li key={type}>
            <button type="button" onClick={() => go(type)}>
              <span>{type}</span>
              <i aria-hidden="true">
                <i style={{ width: `${(100 * count) / most}%` }} />
              </i>
              <em>{count.toLocaleString('en')}</em>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
