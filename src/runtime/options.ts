import { fail } from '../errors.ts'
import { LOAD_OPTIONS } from '../graph/limits.ts'
import { refuseUnknownOptions } from '../suggest.ts'

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

/** @throws NodewiseError `bad-usage` for an option that a session does not have, or another value of `precision` */
export function checkSessionOptions(options: { readonly precision?: string }): void {
  refuseUnknownOptions(options, SESSION)
  checkChoice('precision', options.precision, ['fast', 'exact'])
}

/** @throws NodewiseError `bad-usage` for an option that a run does not have, or another value of `outOfRange` */
export function checkRunOptions(options: { readonly outOfRange?: string }): void {
  refuseUnknownOptions(options, RUN)
  checkChoice('outOfRange', options.outOfRange, ['error', 'zero'])
}

/** What no type has checked would count as one of the choices. */
function checkChoice(name: string, value: string | undefined, choices: readonly string[]): void {
  if (value !== undefined && !choices.includes(value))
    fail(
      'bad-usage',
      `${name} is ${JSON.stringify(value)}; expected ${choices.map(choice => `"${choice}"`).join(' or ')}`
    )
}
