import { availableParallelism } from 'node:os'
import { NodewiseError } from '../errors.ts'
import type { Tolerance } from '../io/compare.ts'
import { stringifyExact } from '../io/json-text.ts'
import { type Case, findCases } from './cases.ts'
import { badUsage, EXIT } from './failure.ts'
import { junitReport } from './junit.ts'
import type { CaseResult, Status } from './run-case.ts'
import { counted, green, print, red, startProgress, yellow } from './terminal.ts'
import { runInWorkers } from './workers.ts'

export interface TestFlags {
  readonly rtol: number
  readonly atol: number
  readonly jobs?: number
  readonly filter?: string
  readonly junit?: string
  readonly json?: boolean
}

/** `nodewise test <folders…>` */
export async function test(folders: readonly string[], flags: TestFlags): Promise<number> {
  const cases = select(folders.flatMap(findCases), flags.filter)
  if (cases.length === 0)
    throw new NodewiseError(
      'missing-file',
      `there is no case${flags.filter === undefined ? '' : ` that matches /${flags.filter}/`} under ${folders.join(', ')}`
    )
  const results = await runAll(cases, flags)
  if (flags.junit !== undefined) {
    const { saveFile } = await import('../io/save.ts')
    await saveFile(flags.junit, new TextEncoder().encode(junitReport(results)))
  }
  const { passed, failed, skipped } = countsOf(results)
  if (flags.json) print(stringifyExact({ cases: results.map(result => ({ ...result })), passed, failed, skipped }, 2))
  else print((failed > 0 ? red : green)(`${passed} passed, ${failed} failed, ${skipped} skipped`))
  return failed > 0 ? EXIT.no : EXIT.yes
}

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
  { jobs = availableParallelism(), json, rtol, atol }: TestFlags
): Promise<CaseResult[]> {
  const tolerance: Tolerance = { rtol, atol }
  const results: (CaseResult | undefined)[] = new Array<CaseResult | undefined>(cases.length).fill(undefined)
  const progress = startProgress()
  let printed = 0
  let done = 0
  await runInWorkers(cases, tolerance, Math.min(jobs, cases.length), (index, result) => {
    results[index] = result
    done++
    progress.end()
    for (; printed < cases.length && results[printed] !== undefined; printed++)
      if (!json) print(line(results[printed]!))
    progress.show(() => `${done} of ${counted(cases.length, 'case')}`)
  })
  progress.end()
  return results.filter(result => result !== undefined)
}

const WORDS: Readonly<Record<Status, string>> = {
  pass: green('pass '),
  fail: red('FAIL '),
  error: red('ERROR'),
  skip: yellow('skip ')
}

const line = ({ name, status, message }: CaseResult): string =>
  `${WORDS[status]} ${name}${message === '' ? '' : `: ${message}`}`

function countsOf(results: readonly CaseResult[]): { passed: number; failed: number; skipped: number } {
  const count = (...wanted: Status[]): number => results.filter(({ status }) => wanted.includes(status)).length
  return { passed: count('pass'), failed: count('fail', 'error'), skipped: count('skip') }
}
