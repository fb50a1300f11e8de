import { useSignal } from '@preact/signals'
import { selectRecord } from '../state/actions.ts'
import { saveFixed } from '../state/saving.ts'
import * as store from '../state/store.ts'
import type { Facts, ShownFinding } from '../worker/facts.ts'
import { ReportButton } from './ReportButton.tsx'
import { counted } from './texts.ts'

/** More findings than this are not listed at once. */
const PAGE = 100

/** What `check` found: what is declared, what follows, by which rule, and where in the file. */
export function FindingsPanel() {
  const shown = useSignal(PAGE)
  const { value: facts } = store.facts
  if (!facts) return <p class="note">Shapes are being worked out.</p>
  const { value: findings } = store.findings
  const isOwn = !store.report.value || !store.isReportShown.value
  const sorted = [...findings].sort((a, b) => RANK[a.severity] - RANK[b.severity])
  const canFix = findings.some(({ declared, inferred }) => declared !== undefined && inferred !== undefined)
  return (
    <>
      <Sources />
      <section>
        <h2>
          {findings.some(({ severity }) => severity === 'error')
            ? 'What is declared cannot all be true'
            : 'Nothing that is declared was found to be false'}
        </h2>
        <p class="note">{isOwn ? countsOf(facts.summary) : counted(findings.length, 'finding')}</p>
        <div class="row">
          {isOwn && canFix && (
            <button type="button" class="main" onClick={() => void saveFixed()}>
              Download with true shapes
            </button>
          )}
          <ReportButton />
        </div>
      </section>
      <ol class="findings">
        {sorted.slice(0, shown.value).map((finding, i) => (
          <li key={i}>
            <Card finding={finding} />
          </li>
        ))}
      </ol>
      {sorted.length > shown.value && (
        <button type="button" class="plain" onClick={() => (shown.value += PAGE)}>
          Show {sorted.length - shown.value} more
        </button>
      )}
    </>
  )
}

/** Whose findings are shown, where a report was opened beside the model. */
function Sources() {
  const { value: report } = store.report
  if (!report) return null
  const choices = [
    [true, report.name],
    [false, 'This page']
  ] as const
  return (
    <fieldset class="choice">
      <legend>Findings of</legend>
      {choices.map(([isReport, label]) => (
        <label key={label}>
          <input
            type="radio"
            name="findings"
            checked={store.isReportShown.value === isReport}
            onChange={() => (store.isReportShown.value = isReport)}
          />
          {label}
        </label>
      ))}
    </fieldset>
  )
}

const countsOf = ({ errors, warnings, values, unknownShapes }: Facts['summary']): string =>
  `${counted(errors, 'error')}, ${counted(warnings, 'warning')}; ` +
  `${counted(values, 'value')} looked at, ${counted(unknownShapes, 'value')} of unknown rank.`

const RANK = { error: 0, warning: 1, note: 2 } as const

function Card({ finding }: { readonly finding: ShownFinding }) {
  const { severity, message, meaning, declared, inferred, place, record, excerpt, code } = finding
  const where = [place.type, place.node === undefined ? undefined : `"${place.node}"`]
    .filter(part => part !== undefined)
    .join(' ')
  return (
    <article class={`finding ${severity}`}>
      <h3>
        <span>{severity}</span> {message}
      </h3>
      {where !== '' && (
        <p class="place">
          {record >= 0 ? (
            <button type="button" class="link" onClick={() => void selectRecord(record)}>
              {where}
            </button>
          ) : (
            where
          )}
          {place.line !== undefined && <small> line {place.line}</small>}
        </p>
      )}
      {(declared !== undefined || inferred !== undefined) && (
        <dl class="pair">
          <dt>declared</dt>
          <dd class={severity === 'note' ? '' : 'bad'}>{declared ?? 'nothing'}</dd>
          <dt>inferred</dt>
          <dd class="good">{inferred ?? 'nothing'}</dd>
        </dl>
      )}
      {excerpt && (
        <pre tabIndex={0} aria-label="Lines of the file">
          {excerpt.map(({ number, text, isMarked }) => (
            <span key={number} class={isMarked ? 'marked' : ''}>
              <i>{number}</i>
              {text}
              {'\n'}
            </span>
          ))}
        </pre>
      )}
      <details>
        <summary>{code}</summary>
        <p class="note">{meaning.replaceAll('`', '')}</p>
      </details>
    </article>
  )
}
