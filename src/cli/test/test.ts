import { availableParallelism } from 'node:os'
import { NodewiseError } from '../../errors.ts'
import { stringifyExact } from '../../io/json-text.ts'
import { printable } from '../../io/print.ts'
import { badUsage, EXIT } from '../failure.ts'
import { registryOf } from '../own-ops.ts'
import { forPeople, isStdout, writeTo } from '../streams.ts'
import { counted, print, startProgress, type Style, styleOf, type Terminal } from '../terminal.ts'
import { type Case, findCases } from './cases.ts'
import { junitReport } from './junit.ts'
import { largestErrorText } from './largest-error.ts'
import type { Asked, CaseResult, Status } from './run-case.ts'
import { runInWorkers } from './workers.ts'

export interface TestFlags extends Asked {
  readonly jobs?: number
  readonly filter?: string
  readonly junit?: string
  readonly json?: boolean
}

/** `nodewise test <folders…>` */
export async function test(folders: readonly string[], flags: TestFlags, given: Terminal): Promise<number> {
  // What is wrong with a file of operators is said once, not by every case.
  registryOf(flags)
  const cases = select(folders.flatMap(findCases), flags.filter)
  if (cases.length === 0) throw new NodewiseError('missing-file', noCase(folders, flags.filter))
  if (isStdout(flags.junit) && flags.json) badUsage('--junit - and --json both write to stdout')
  const terminal = forPeople(given, flags.junit)
  const results = await runAll(cases, flags, terminal)
  if (flags.junit !== undefined)
    await writeTo(flags.junit, new TextEncoder().encode(junitReport(results)), given.stdout)
  const { passed, failed, skipped } = countsOf(results)
  if (flags.json) {
    const cases = results.map(({ largest, ...rest }) => ({ ...rest, ...(largest && { largest: { ...largest } }) }))
    print(terminal, stringifyExact({ cases, passed, failed, skipped }, 2))
  } else {
    const { red, green } = styleOf(terminal)
    print(terminal, (failed > 0 ? red : green)(`${passed} passed, ${failed} failed, ${skipped} skipped`))
  }
  return failed > 0 ? EXIT.no : EXIT.yes
}

const noCase = (folders: readonly string[], filter: string | undefined): string =>
  `there is no case${filter === undefined ? '' : ` that matches /${filter}/`} under ${folders.join(', ')}`

/** Each folder once, in order, and only what the filter finds in its name. */
function select(cases: readonly Case[], filter: string | undefined): Case[] {
  const pattern = filter === undefined ? undefined : patternOf(filter)
  const unique = new Map(cases.map(one => [one.name, one]))
  return [...unique.values()].filter(({ name }) => pattern?.test(name) ?? true)
}

function patternOf(text: string): RegExp {
  try {
    return new RegExp(text)
  } catch (error) {
    return badUsage(`--filter: ${(error as Error).message}`)
  }
}

/** Runs the cases and prints a line for each in their order, as soon as all before it are done. */
async function runAll(
  cases: readonly Case[],
  { jobs = availableParallelism(), json, ...asked }: TestFlags,
  terminal: Terminal
): Promise<CaseResult[]> {
  const results: (CaseResult | undefined)[] = new Array<CaseResult | undefined>(cases.length).fill(undefined)
  const progress = startProgress(terminal)
  let printed = 0
  let done = 0
  const style = styleOf(terminal)
  const workers = { program: terminal.program, count: Math.min(jobs, cases.length), asked }
  await runInWorkers(cases, workers, (index, result) => {
    results[index] = result
    done++
    progress.end()
    for (; printed < cases.length && results[printed] !== undefined; printed++)
      if (!json) print(terminal, line(results[printed]!, style))
    progress.show(() => `${done} of ${counted(cases.length, 'case')}`)
  })
  progress.end()
  return results.filter(result => result !== undefined)
}

const WORDS = {
  pass: ['green', 'pass '],
  fail: ['red', 'FAIL '],
  error: ['red', 'ERROR'],
  skip: ['yellow', 'skip ']
} as const satisfies Readonly<Record<Status, readonly [keyof Style, string]>>

function line({ name, status, message, largest }: CaseResult, style: Style): string {
  const [color, word] = WORDS[status]
  const words = message === '' && largest !== undefined ? largestErrorText(largest) : message
  return `${style[color](word)} ${printable(name)}${words === '' ? '' : `: ${words}`}`
}

function countsOf(results: readonly CaseResult[]): { passed: number; failed: number; skipped: number } {
  const count = (...wanted: Status[]): number => results.filter(({ status }) => wanted.includes(status)).length
  return { passed: count('pass'), failed: count('fail', 'error'), skipped: count('skip') }
}
