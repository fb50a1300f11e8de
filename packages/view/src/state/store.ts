import { computed, signal } from '@preact/signals'
import type { Columns } from '../graph/columns.ts'
import type { Drawing } from '../graph/geometry.ts'
import { dimsAt, typeAt } from '../graph/known.ts'
import type { Scene } from '../graph/scene.ts'
import { ancestorsOf, itemsOf, type Tree } from '../graph/tree.ts'
import type { Compared } from '../worker/comparing.ts'
import type { Opened } from '../worker/engine.ts'
import type { Facts, ShownFinding, Sizes } from '../worker/facts.ts'
import { isNotFinite } from '../worker/numbers.ts'
import type { ShownReport } from '../worker/report.ts'
import type { Failure } from '../worker/rpc.ts'
import type { Outcome, Step } from '../worker/running.ts'
import type { GivenFile } from '../worker/sources.ts'

export type Phase = 'start' | 'loading' | 'open'
export type Tab = 'model' | 'node' | 'findings' | 'run'
export type Heat = 'none' | 'time' | 'memory' | 'magnitude' | 'error'

export const phase = signal<Phase>('start')
/** What is being waited for, in words; empty when nothing is. */
export const busy = signal('')
export const failure = signal<Failure | undefined>(undefined)

export const opened = signal<Opened | undefined>(undefined)
/** The files of the model that is open, for a run of the command that does the same. */
export const files = signal<readonly GivenFile[]>([])
export const tree = signal<Tree | undefined>(undefined)
export const open = signal<ReadonlySet<number>>(new Set())
export const scene = signal<Scene>(new Map())
/** The selected item of the tree, or -1. */
export const selected = signal(-1)
export const tab = signal<Tab>('model')
export const isPanelOpen = signal(true)

export const facts = signal<Facts | undefined>(undefined)
/** The facts without sizes that a user set: what the file says. */
export const ownFacts = signal<Facts | undefined>(undefined)
export const sizes = signal<Sizes>(new Map())

/** A report of the command that was opened beside the model, and whether it is what is shown. */
export const report = signal<ShownReport | undefined>(undefined)
export const isReportShown = signal(true)
/** The findings that are listed and marked on the graph: those of the report, or those of the page's own check. */
export const findings = computed<readonly ShownFinding[]>(() =>
  report.value && isReportShown.value ? report.value.findings : (facts.value?.findings ?? [])
)

export type RunState = 'none' | 'running' | 'paused' | 'done' | 'failed'
export const runState = signal<RunState>('none')
export const runFailure = signal<Failure | undefined>(undefined)
export const outcome = signal<Outcome | undefined>(undefined)
export const steps = signal<readonly Step[]>([])
/** Which step a user looks at; the last one while a run goes on. */
export const cursor = signal(-1)
/** Counts values that were changed by hand while a run waited. */
export const changes = signal(0)
export const breakpoints = signal<ReadonlySet<number>>(new Set())
export const heat = signal<Heat>('none')

/** What a comparison with another model found. */
export const compared = signal<Compared | undefined>(undefined)

/** The graph of the model that the open one is compared with, while both are seen. */
export interface BesideGraph extends Drawing {
  readonly columns: Columns
  readonly selected: number
}
export const beside = signal<BesideGraph | undefined>(undefined)

export const columns = computed<Columns | undefined>(() => opened.value?.columns)
const items = computed(() => tree.value && itemsOf(tree.value))

/** The item that stands for a record. */
export const itemOf = (record: number): number => items.value?.[record] ?? record

/** Worst findings by item, groups included. */
export const severities = computed<ReadonlyMap<number, 'error' | 'warning' | 'note'>>(() => {
  const found = new Map<number, 'error' | 'warning' | 'note'>()
  const { value: now } = tree
  if (!now) return found
  for (const { record, severity } of findings.value) {
    if (record < 0) continue
    const item = itemOf(record)
    for (const each of [item, ...ancestorsOf(now, item)])
      if (RANK[severity] > RANK[found.get(each) ?? 'none']) found.set(each, severity)
  }
  return found
})
const RANK = { none: 0, note: 1, warning: 2, error: 3 } as const

/** Values of which something cannot be true: those that nodes with errors make. */
export const falseValues = computed<ReadonlySet<number>>(() => {
  const found = new Set<number>()
  const { value: shown } = columns
  if (!shown) return found
  const bad = new Set(findings.value.filter(({ severity }) => severity === 'error').map(({ record }) => record))
  shown.maker.forEach((record, value) => {
    if (record >= 0 && bad.has(record)) found.add(value)
  })
  return found
})

/** What the last run made, by value. */
export const made = computed(() => {
  const values = new Map<number, Step['values'][number]>()
  const list = steps.value.slice(0, cursor.value < 0 ? undefined : cursor.value + 1)
  for (const step of list) for (const value of step.values) values.set(value.value, value)
  return values
})

/** How hot each item is, from 0 to 1; groups have the sum of what is within. */
export const heats = computed<ReadonlyMap<number, number>>(() => {
  const sums = new Map<number, number>()
  const { value: now } = tree
  if (!now || heat.value === 'none') return sums
  if (heat.value === 'error') return errorHeats(now, 'record')
  const isSum = heat.value !== 'magnitude'
  for (const step of steps.value) {
    if (step.record < 0) continue
    const amount = amountOf(step, heat.value)
    const item = itemOf(step.record)
    for (const each of [item, ...ancestorsOf(now, item)]) {
      const before = sums.get(each) ?? 0
      sums.set(each, isSum ? before + amount : Math.max(before, amount))
    }
  }
  let most = 1e-12
  for (const [item, sum] of sums) if (item < now.records || !open.value.has(item)) most = Math.max(most, sum)
  return new Map(
    [...sums].map(([item, sum]) => [item, Math.min(1, isSum ? sum / most : Math.log1p(sum) / Math.log1p(most))])
  )
})

/** Heat by error: the largest relative one of a group, from 1e-7 (cold) to 1 on a scale of powers. */
function errorHeats(now: Tree, side: 'record' | 'recordB'): Map<number, number> {
  const found = new Map<number, number>()
  const own = itemsOf(now)
  for (const { [side]: record, equal, maxRelative } of compared.value?.pairs ?? []) {
    if (record < 0 || equal) continue
    const heated = 0.15 + 0.85 * Math.min(1, Math.max(0, (Math.log10(maxRelative) + 7) / 7))
    const item = own[record]
    for (const each of [item, ...ancestorsOf(now, item)]) found.set(each, Math.max(found.get(each) ?? 0, heated))
  }
  return found
}

/** How hot each item of the other graph is by its error. */
export const heatsBeside = computed<ReadonlyMap<number, number>>(() =>
  beside.value && heat.value === 'error' ? errorHeats(beside.value.tree, 'recordB') : new Map<number, number>()
)

function amountOf({ milliseconds, values }: Step, by: Heat): number {
  if (by === 'time') return milliseconds
  if (by === 'memory') return values.reduce((sum, { dims }) => sum + dims.reduce((product, dim) => product * dim, 1), 0)
  return Math.max(
    0,
    ...values.map(({ statistics }) => Math.max(Math.abs(statistics?.min ?? 0), Math.abs(statistics?.max ?? 0)))
  )
}

/** Whether a value cannot be as it is declared, or has NaN or infinities in the run. */
export function isBad(value: number): boolean {
  const run = made.value.get(value)
  return falseValues.value.has(value) || (run !== undefined && isNotFinite(run))
}

/** Whether values of a type have no dims of their own. */
const isNested = (type: string): boolean => type === 'sequence' || type === 'optional' || type === 'map'

/** What is written at the edge that a value goes along. */
export function edgeText(value: number): string {
  const known = facts.value
  if (!known) return ''
  const run = made.value.get(value)
  if (run) {
    const text = run.dims.join('×') || (isNested(run.type) ? run.type : 'scalar')
    return isNotFinite(run) ? `${text} ${run.statistics!.nans > 0 ? 'NaN' : '∞'}` : text
  }
  const dims = dimsAt(known, value)
  return dims === undefined ? typeAt(known, value) : dims || 'scalar'
}
