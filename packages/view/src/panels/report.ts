import { KIND, nameOf } from '../graph/columns.ts'
import { current, currentBeside } from '../graph/viewing.ts'
import { commandOf } from '../state/commandline.ts'
import { fillings, firstBad, seed } from '../state/running.ts'
import * as store from '../state/store.ts'
import type { Overview } from '../worker/engine.ts'
import type { ReportRequest } from '../worker/reporting.ts'
import { stepNameOf, VALUE_HEAD, valueCells } from '../worker/run-table.ts'
import type { Step } from '../worker/running.ts'
import { bytesText, counted, countText, timeText } from './texts.ts'

/** What is said of a model as a whole, by name. */
export const modelFacts = (overview: Overview): readonly (readonly [name: string, text: string])[] =>
  (
    [
      ['Nodes', countText(overview.nodes)],
      ['Parameters', countText(overview.parameters)],
      ['Weights', bytesText(overview.weightBytes)],
      ['Opsets', overview.opsets.join(', ')],
      ['Producer', overview.producer],
      ['IR version', `${overview.irVersion}`]
    ] as const
  ).filter(([, text]) => text !== '' && text !== '0')

/** What a step of the run is called. */
export const stepName = (step: Step): string => stepNameOf(store.columns.value!, step)

/** The steps that took longest, the longest first. */
export const slowest = (): readonly Step[] =>
  [...store.steps.value].sort((a, b) => b.milliseconds - a.milliseconds).slice(0, 8)

/** The command line that does the same as the run. */
export function command(): string {
  const { inputs, openDims, file } = store.opened.value!.overview
  return commandOf({ file, inputs, openDims, fillings: fillings.value, sizes: store.sizes.value, seed: seed.value })
}

/** What the report is to tell: what is seen of the graph, and what is known of the run. */
export function reportRequest(): ReportRequest {
  const { overview } = store.opened.value!
  const { value: sizes } = store.sizes
  const isOther = store.report.value !== undefined && store.isReportShown.value
  return {
    facts: [
      // The report counts constants among the nodes, as the command does.
      ...modelFacts(overview).filter(([name]) => name !== 'Nodes'),
      ...[...sizes].map(([name, size]) => [`${name} is set to`, `${size}`] as const)
    ],
    pictures: pictures(),
    ...(store.runState.value !== 'none' && { tables: runTables(), steps: store.steps.value }),
    sizes,
    ...(isOther && { findings: store.findings.value }),
    isCompared: store.compared.value !== undefined
  }
}

function pictures(): NonNullable<ReportRequest['pictures']> {
  const { value: view } = current
  if (!view) return []
  const own = { title: 'What is seen of the graph', svg: view.svg() }
  const { value: beside } = currentBeside
  return beside ? [own, { title: 'What is seen of the other', svg: beside.svg() }] : [own]
}

const STATES = {
  none: '',
  running: 'It is running',
  paused: 'It waits',
  done: 'It is done',
  failed: 'It stopped'
} as const

function runTables(): NonNullable<ReportRequest['tables']> {
  const { value: steps } = store.steps
  const { value: state } = store.runState
  const bad = firstBad()
  const time = state === 'done' ? ` in ${timeText(store.outcome.value?.milliseconds ?? 0)}` : ''
  const outputs = state === 'done' ? [...(store.outcome.value?.outputs ?? [])] : []
  return [
    {
      title: 'The run',
      notes: [
        command(),
        `${STATES[state]}: ${counted(steps.length, 'step')}${time}.`,
        ...(bad < 0 ? [] : [`NaN or infinity first at ${stepName(steps[bad])}.`])
      ],
      head: ['output', ...VALUE_HEAD],
      rows: outputs.map(([name, value]) => [name, ...valueCells(value)])
    },
    {
      title: 'Slowest nodes',
      head: ['node', 'time'],
      rows: slowest().map(step => [stepName(step), timeText(step.milliseconds)])
    }
  ]
}

/** The record of an output of the model. That of a Result of IR has the name of its layer, so names may differ. */
export function recordOfOutput(name: string): number {
  const columns = store.columns.value!
  const { kind, graph } = columns
  const records = [...kind.keys()].filter(record => kind[record] === KIND.output && graph[record] === 0)
  return (
    records.find(record => nameOf(columns, record) === name) ??
    records[[...store.outcome.value!.outputs.keys()].indexOf(name)]
  )
}
