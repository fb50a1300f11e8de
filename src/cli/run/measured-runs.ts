import { clock, yieldToEventLoop } from '../../host.ts'
import type { StepEvent } from '../../runtime/run.ts'
import type { RunOptions, Session } from '../../runtime/session.ts'
import type { Value } from '../../tensor/tensor.ts'
import { startProgress, type Terminal } from '../terminal.ts'
import { type TraceRow, traceRow } from './trace.ts'

/** The flags of `nodewise run` that say how often the model runs, and what is noted of each run. */
export interface MeasureFlags {
  readonly repeat?: number
  /** Milliseconds. */
  readonly time?: number
  readonly warmup?: number
  readonly trace?: boolean
  readonly profile?: string
  /** Seconds that one run may take. */
  readonly timeout?: number
  readonly outOfRange?: 'error' | 'zero'
  /** Sees the nodes of every run. */
  readonly onStep?: (event: StepEvent) => void
}

/** What was computed and noted, up to the end or up to a failure. */
export interface Measured {
  /** Of the last run that came to its end, in the order of the model or in that they were asked for. */
  outputs: ReadonlyMap<string, Value>
  /** Milliseconds of every run that counts, in order. */
  readonly times: number[]
  /** The nodes of the runs that count: of all where a profile is asked for, else of the last two. */
  traces: TraceRow[][]
}

/** Whether runs are repeated to be measured. */
export const isMeasured = ({ repeat, time }: MeasureFlags): boolean => repeat !== undefined || time !== undefined

/** Whether an interrupted run has something to say. */
const isNoted = (flags: MeasureFlags): boolean =>
  isMeasured(flags) || flags.trace === true || flags.profile !== undefined

/** Milliseconds of short runs after which signals are heard. */
const TURN = 20

/**
 * Runs a model as often as is asked for; every run begins as the first did. What was noted is there also when a run
 * fails. The first Ctrl-C ends a run whose notes are of use as a failure does; the second ends the process.
 * @param measured takes the outcome
 */
export async function measuredRuns(
  session: Session,
  feeds: Readonly<Record<string, Value>>,
  names: readonly string[] | undefined,
  flags: MeasureFlags,
  measured: Measured,
  terminal: Terminal
): Promise<void> {
  const { warmup = 0, repeat = flags.time === undefined ? 1 : Infinity, time = Infinity } = flags
  const progress = startProgress(terminal)
  const interruption = new AbortController()
  const forget = isNoted(flags) ? terminal.onInterrupt?.(() => interruption.abort()) : undefined
  const { signal } = interruption
  let lastTurn = clock()
  let end = Infinity
  try {
    for (let i = -warmup; i < repeat; i++) {
      const start = clock()
      if (i === 0) end = start + time
      if (i > 0 && start >= end) break
      if (start - lastTurn > TURN) {
        await yieldToEventLoop()
        lastTurn = clock()
      }
      const rows: TraceRow[] = []
      // A run that is interrupted before its first node leaves the trace of the run before it.
      if (i >= 0)
        measured.traces = [...(flags.profile === undefined ? measured.traces.slice(-1) : measured.traces), rows]
      const { options, says } = observed(flags, rows, progress.isOn)
      session.resetState()
      const began = clock()
      const outputs = await session.run(feeds, names, {
        ...options(event => progress.show(() => `${runText(i, flags)}${says(event)}`)),
        ...(forget && { signal })
      })
      // An object has names that are whole numbers, such as PyTorch gives outputs, before all others.
      measured.outputs = new Map((names ?? session.outputNames).map(name => [name, outputs[name]]))
      if (i >= 0) measured.times.push(clock() - began)
    }
  } finally {
    forget?.()
    progress.end()
  }
}

function observed(
  { trace, profile, timeout, outOfRange, onStep }: MeasureFlags,
  rows: TraceRow[],
  isShown: boolean
): { options: (show: (event: StepEvent) => void) => RunOptions; says: (event: StepEvent) => string } {
  const isTraced = trace === true || profile !== undefined
  let done = 0
  return {
    options: show => ({
      ...(timeout !== undefined && { timeout: 1000 * timeout }),
      ...(outOfRange && { outOfRange }),
      // Only where somebody asks for steps: a run that is observed must keep values as they were.
      ...((isTraced || isShown || onStep) && {
        onStep: event => {
          done++
          if (isTraced) rows.push(traceRow(event))
          onStep?.(event)
          show(event)
        }
      })
    }),
    says: ({ node: { type, name } }) => `${done} nodes done, the last ${type} "${name}"`
  }
}

function runText(i: number, { repeat }: MeasureFlags): string {
  if (i < 0) return 'warming up, '
  return repeat === undefined ? (i > 0 ? `run ${i + 1}, ` : '') : repeat > 1 ? `run ${i + 1} of ${repeat}, ` : ''
}

/** What is known of the times of runs, in milliseconds. A percentile is the least time that as many do not exceed. */
export interface Statistics {
  readonly minimum: number
  readonly median: number
  readonly p95: number
  readonly p99: number
  readonly maximum: number
  readonly mean: number
  /** Runs in a second, one after the other. */
  readonly throughput: number
}

export function statistics(times: readonly number[]): Statistics {
  const sorted = Float64Array.from(times).sort()
  const { length } = sorted
  const percentile = (part: number): number => sorted[Math.ceil(part * length) - 1]
  const middle = length / 2
  const median = Number.isInteger(middle) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[Math.floor(middle)]
  const mean = sorted.reduce((sum, value) => sum + value, 0) / length
  const [p95, p99] = [percentile(0.95), percentile(0.99)]
  return { minimum: sorted[0], median, p95, p99, maximum: sorted[length - 1], mean, throughput: 1000 / mean }
}

/** `5 runs: minimum 0.233 ms, …, 2,252 runs a second` */
export function statisticsText(times: readonly number[], { warmup = 0 }: MeasureFlags): string {
  const { throughput, minimum, median, p95, p99, maximum } = statistics(times)
  const parts = Object.entries({ minimum, median, p95, p99, maximum }).map(
    ([name, value]) => `${name} ${value.toFixed(3)} ms`
  )
  const after = warmup > 0 ? ` (after ${warmup} to warm up)` : ''
  const rate = throughput >= 100 ? throughput.toFixed(0) : throughput.toPrecision(3)
  return `${times.length} runs: ${parts.join(', ')}; ${rate} runs a second${after}`
}
