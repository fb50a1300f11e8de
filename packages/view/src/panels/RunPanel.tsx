import { nameOf, typeOf } from '../graph/columns.ts'
import { selectRecord } from '../state/actions.ts'
import { firstBad, go, moveCursor, run, stop, stopsAtNan } from '../state/running.ts'
import { saveValues } from '../state/saving.ts'
import * as store from '../state/store.ts'
import { isNotFinite, type Statistics } from '../worker/numbers.ts'
import { Compare } from './Compare.tsx'
import { command, recordOfOutput, slowest, stepName } from './report.ts'
import { ReportButton } from './ReportButton.tsx'
import { RunInputs } from './RunInputs.tsx'
import { Sizes } from './Sizes.tsx'
import { counted, dimsText, numberText, timeText } from './texts.ts'

/** A run of the model: what goes in, how far it is, and what came out. */
export function RunPanel() {
  const { value: opened } = store.opened
  if (!opened) return null
  const { value: state } = store.runState
  const isActive = state === 'running' || state === 'paused'
  return (
    <>
      <RunInputs />
      <Sizes />
      <section>
        <div class="row">
          {isActive ? (
            <button type="button" class="main" onClick={stop}>
              Stop
            </button>
          ) : (
            <button type="button" class="main" onClick={() => void run(false)}>
              Run
            </button>
          )}
          {state === 'paused' && (
            <button type="button" class="plain" onClick={() => go('run')}>
              Go on
            </button>
          )}
          {!isActive && (
            <button type="button" class="plain" onClick={() => void run(true)}>
              Step by step
            </button>
          )}
        </div>
        <label class="check">
          <input
            type="checkbox"
            checked={stopsAtNan.value}
            onChange={({ currentTarget }) => (stopsAtNan.value = currentTarget.checked)}
          />{' '}
          Wait at the first NaN or infinity
        </label>
      </section>
      <Outcome />
      {!isActive && <Compare />}
      <Heat />
    </>
  )
}

/** What is known of the run so far. */
function Outcome() {
  const { value: state } = store.runState
  const { value: steps } = store.steps
  if (state === 'none') return null
  const total = store.opened.value?.overview.nodes ?? 1
  const bad = firstBad()
  const { value: failure } = store.runFailure
  return (
    <section>
      <h2>{TITLES[state]}</h2>
      {state === 'running' && (
        <progress max={total} value={Math.min(total, steps.length)} aria-label="Nodes that have run" />
      )}
      <p class="note">
        {counted(steps.length, 'step')}
        {state === 'done' && ` in ${timeText(store.outcome.value?.milliseconds ?? 0)}`}
      </p>
      {failure && (
        <p class="bad" role="alert">
          <code>{failure.code}</code> {failure.message} {failure.place !== '' && <small>{failure.place}</small>}
        </p>
      )}
      {bad >= 0 && (
        <p class="bad">
          NaN or infinity first at{' '}
          <button
            type="button"
            class="link"
            onClick={() => steps[bad].record >= 0 && void selectRecord(steps[bad].record)}
          >
            {stepName(steps[bad])}
          </button>
        </p>
      )}
      {steps.length > 0 && <Stepper />}
      {state === 'done' && <Results />}
    </section>
  )
}

const TITLES = { none: '', running: 'Running', paused: 'Waiting', done: 'Done', failed: 'It stopped' } as const

/** Walks over the steps of a run, back and forth. */
function Stepper() {
  const { value: steps } = store.steps
  const at = store.cursor.value < 0 ? steps.length - 1 : store.cursor.value
  return (
    <div class="stepper">
      <button type="button" class="plain" aria-label="Step back" disabled={at <= 0} onClick={() => moveCursor(-1)}>
        ‹
      </button>
      <input
        type="range"
        min={0}
        max={steps.length - 1}
        value={at}
        aria-label="Step"
        aria-valuetext={stepName(steps[at])}
        onInput={({ currentTarget }) => moveCursor(currentTarget.valueAsNumber - at)}
      />
      <button
        type="button"
        class="plain"
        aria-label="Step forward"
        disabled={at >= steps.length - 1 && store.runState.value !== 'paused'}
        onClick={() => moveCursor(1)}
      >
        ›
      </button>
      <p class="name">{stepName(steps[at])}</p>
    </div>
  )
}

const HEATS = [
  ['none', 'off'],
  ['time', 'time'],
  ['memory', 'memory'],
  ['magnitude', 'magnitude'],
  ['error', 'error']
] as const satisfies readonly (readonly [store.Heat, string])[]

function Heat() {
  const isCompared = store.compared.value !== undefined
  const isRun = store.steps.value.length > 0 && store.runState.value !== 'running'
  if (!isCompared && !isRun) return null
  return (
    <fieldset class="choice">
      <legend>Heat on the graph</legend>
      {HEATS.filter(([id]) => id === 'none' || (id === 'error' ? isCompared : isRun)).map(([id, label]) => (
        <label key={id}>
          <input type="radio" name="heat" checked={store.heat.value === id} onChange={() => (store.heat.value = id)} />
          {label}
        </label>
      ))}
    </fieldset>
  )
}

/** What the model gave, in numbers. */
function Outputs() {
  const outputs = [...(store.outcome.value?.outputs ?? [])]
  return (
    <>
      <h3>Outputs</h3>
      <ul class="ports">
        {outputs.map(([name, { type, dims, statistics }]) => (
          <li key={name}>
            <div class="port">
              <button
                type="button"
                class="link path"
                title={name}
                onClick={() => void selectRecord(recordOfOutput(name))}
              >
                <bdi>{name}</bdi>
              </button>
              <span class="type">
                {type} <b>{dimsText(dims)}</b>
              </span>
            </div>
            {statistics && <p class="note small">{rangeText(statistics)}</p>}
            {statistics && isNotFinite({ statistics }) && (
              <p class="bad small">
                {statistics.nans.toLocaleString('en')} NaN, {statistics.infinities.toLocaleString('en')} ∞ of{' '}
                {counted(statistics.elements, 'element')}
              </p>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}

const rangeText = ({ min, max, mean }: Statistics): string =>
  min === undefined ? 'no finite number' : `${numberText(min)} … ${numberText(max)}, mean ${numberText(mean)}`

/** The model's outputs, and the nodes that took longest. */
function Results() {
  const columns = store.columns.value!
  return (
    <>
      <Outputs />
      <h3>Take away</h3>
      <div class="row">
        <button type="button" class="plain" onClick={() => void saveValues()}>
          Values .npz
        </button>
        <button type="button" class="plain" onClick={() => void navigator.clipboard.writeText(command())}>
          Copy command
        </button>
        <ReportButton />
      </div>
      <p class="name">{command()}</p>
      <h3>Slowest</h3>
      <ul class="ports">
        {slowest().map(({ record, milliseconds }, i) => (
          <li key={i}>
            <div class="port">
              <button type="button" class="link" onClick={() => record >= 0 && void selectRecord(record)}>
                {record < 0
                  ? 'within a body'
                  : `${typeOf(columns, record)} ${nameOf(columns, record).split('/').at(-1)}`}
              </button>
              <span class="type">{timeText(milliseconds)}</span>
            </div>
          </li>
        ))}
      </ul>
    </>
  )
}
