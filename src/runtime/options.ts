import { fail } from '../errors.ts'
import { LOAD_OPTIONS } from '../graph/limits.ts'
import { refuseUnknownOptions, requireSignal } from '../suggest.ts'

/**
 * Options of `onnxruntime-common` that say how its own engines work. Programs that set them run unchanged; they have no
 * effect here.
 */
export interface EngineOptions {
  /** Whatever is named, the models run in this package. */
  readonly executionProviders?: readonly unknown[]
  readonly graphOptimizationLevel?: string
  readonly interOpNumThreads?: number
  readonly enableCpuMemArena?: boolean
  readonly enableMemPattern?: boolean
  readonly executionMode?: string
  readonly logId?: string
  readonly logSeverityLevel?: number
  readonly logVerbosityLevel?: number
  readonly extra?: Readonly<Record<string, unknown>>
}

/** Options of a run of `onnxruntime-common` that have no effect here. */
export interface EngineRunOptions {
  readonly logSeverityLevel?: number
  readonly logVerbosityLevel?: number
  readonly tag?: string
  readonly extra?: Readonly<Record<string, unknown>>
}

const ENGINE = [
  'executionProviders',
  'graphOptimizationLevel',
  'interOpNumThreads',
  'enableCpuMemArena',
  'enableMemPattern',
  'executionMode',
  'logId',
  'logSeverityLevel',
  'logVerbosityLevel',
  'extra'
]
/** `InferenceSession.create` takes the options of `load` as well. */
const SESSION = new Set([
  'maxMemory',
  'threads',
  'intraOpNumThreads',
  'precision',
  'seed',
  'ops',
  ...LOAD_OPTIONS,
  ...ENGINE
])
const RUN = new Set([
  'signal',
  'timeout',
  'onStep',
  'outOfRange',
  'views',
  'logSeverityLevel',
  'logVerbosityLevel',
  'tag',
  'extra'
])

/** @throws NodewiseError `bad-usage` for an option that a session does not have, or a value that it cannot have */
export function checkSessionOptions(options: {
  readonly precision?: string
  readonly threads?: number
  readonly intraOpNumThreads?: number
  readonly maxMemory?: number
}): void {
  refuseUnknownOptions(options, SESSION)
  checkChoice('precision', options.precision, ['fast', 'exact'])
  checkWhole('threads', options.threads, 1)
  checkWhole('intraOpNumThreads', options.intraOpNumThreads, 0)
  const { maxMemory } = options
  // NaN would be neither more nor less than anything.
  if (maxMemory !== undefined && !(typeof maxMemory === 'number' && maxMemory >= 0))
    fail('bad-usage', `maxMemory is ${String(maxMemory)}; expected a number of bytes`)
}

/** @throws NodewiseError `bad-usage` for an option that a run does not have, and for a value that one cannot have */
export function checkRunOptions(options: {
  readonly outOfRange?: string
  readonly timeout?: number
  readonly onStep?: unknown
  readonly signal?: unknown
}): void {
  refuseUnknownOptions(options, RUN)
  checkChoice('outOfRange', options.outOfRange, ['error', 'zero'])
  requireSignal(options.signal)
  // One that is negative has passed: callers subtract.
  if (options.timeout !== undefined && !(typeof options.timeout === 'number' && !Number.isNaN(options.timeout)))
    fail('bad-usage', `timeout is ${String(options.timeout)}; expected a number of milliseconds`)
  if (options.onStep !== undefined && typeof options.onStep !== 'function')
    fail('bad-usage', `onStep is a function, not ${typeof options.onStep}`)
}

/** What no type has checked would count as one of the choices. */
function checkChoice(name: string, value: string | undefined, choices: readonly string[]): void {
  if (value === undefined || choices.includes(value)) return
  const given = typeof value === 'string' ? JSON.stringify(value) : String(value)
  fail('bad-usage', `${name} is ${given}; expected ${choices.map(choice => `"${choice}"`).join(' or ')}`)
}

function checkWhole(name: string, value: unknown, least: number): void {
  if (value !== undefined && !(Number.isSafeInteger(value) && (value as number) >= least))
    fail('bad-usage', `${name} is ${String(value)}; expected a whole number of at least ${least}`)
}
