import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, inject, test } from 'vitest'
import { temporaryFolder } from '../cli/command.ts'

/**
 * What a command must answer: `run --fill zeros`, its exit code, and the code of its error or of one of its findings.
 */
export type Answer = readonly [command: string, exit: 0 | 1 | 2, code?: string | undefined, says?: string | RegExp]

/** A file that means harm, and what the commands must say to it. */
export interface Hostile {
  readonly name: string
  /** Writes what is needed into an empty folder; returns the model's path. */
  make(folder: string): string
  readonly answers: readonly Answer[]
  /** Bytes that a command may take, where that is less than what any may. */
  readonly memory?: number
}

/** What any of them may take: seconds of processor time, seconds on the clock (a busy machine is no failure), bytes. */
const MOST_SECONDS = 5
const PATIENCE = 60
const MOST_MEMORY = 512 * 2 ** 20

/** A row of a table of ONNX files. */
export const onnx = (name: string, bytes: () => Uint8Array, ...answers: readonly Answer[]): Hostile => ({
  name,
  make: folder => put(folder, 'model.onnx', bytes()),
  answers
})

/** A row of a table of IR files, with a `.bin` or without. */
export const ir = (name: string, xml: () => string | Uint8Array, ...answers: readonly Answer[]): Hostile => ({
  name,
  make: folder => put(folder, 'model.xml', xml()),
  answers
})

/** Writes a file; returns its path. */
export function put(folder: string, file: string, content: string | Uint8Array): string {
  const path = join(folder, file)
  writeFileSync(path, content)
  return path
}

/**
 * Gives every row to the command line, as a user would, and holds each answer against what it must be, in time and
 * memory.
 */
export function holdAll(rows: readonly Hostile[]): void {
  const top = temporaryFolder()
  const meter = put(top, 'meter.mjs', METER)
  rows.forEach(({ name, make, answers, memory: most = MOST_MEMORY }, i) =>
    test(name, async () => {
      const folder = join(top, String(i))
      mkdirSync(folder)
      const model = make(folder)
      for (const [command, exit, code, says] of answers) {
        const [verb, ...flags] = command.split(' ')
        const args = [verb, model, ...flags.map(flag => flag.replaceAll('{folder}', folder)), '--json']
        const { status, json, text, memory, seconds } = await run(meter, args)
        const found = {
          command,
          exit: status,
          ...(code !== undefined && { code: codesOf(json).includes(code) ? code : codesOf(json) })
        }
        expect(found, text).toEqual({ command, exit, ...(code !== undefined && { code }) })
        if (says !== undefined) expect(text).toMatch(says)
        expect(text).not.toContain('internal error')
        expect(memory, `${command} takes ${memory} bytes`).toBeLessThan(most)
        expect(seconds, `${command} takes ${seconds} s`).toBeLessThan(MOST_SECONDS)
      }
    })
  )
}

/** The code of the error, or those of the findings. */
function codesOf(json: { error?: { code: string }; findings?: { code: string }[] }): string[] {
  return json.error ? [json.error.code] : (json.findings?.map(({ code }) => code) ?? [])
}

/**
 * Loaded before the command: tells, when it ends, what it has taken. `maxRSS` may count the process that started it.
 */
const METER = `
import { readFileSync, writeSync } from 'node:fs'
process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  let memory = maxRSS
  try {
    memory = Number(/VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1])
  } catch {}
  writeSync(3, JSON.stringify({ memory: memory * 1024, seconds: (userCPUTime + systemCPUTime) / 1e6 }))
})
`

interface Ended {
  readonly status: number | null
  readonly text: string
  readonly json: { error?: { code: string }; findings?: { code: string }[] }
  readonly memory: number
  readonly seconds: number
}

async function run(meter: string, args: readonly string[]): Promise<Ended> {
  const built = inject('command')
  if ('problem' in built) throw new Error(`the command could not be bundled: ${built.problem}`)
  const child = spawn(process.execPath, ['--import', pathToFileURL(meter).href, built.path, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe']
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE * 1000)
  const pieces: Buffer[][] = [[], [], [], []]
  for (const i of [1, 2, 3]) child.stdio[i]?.on('data', (piece: Buffer) => pieces[i].push(piece))
  const status = await new Promise<number | null>(resolve => child.on('close', resolve))
  clearTimeout(timer)
  const [, stdout, stderr, meterText] = pieces.map(list => Buffer.concat(list).toString('utf8'))
  if (meterText === '') throw new Error(`${args.join(' ')} was killed or crashed: ${stderr.slice(0, 2000)}`)
  return {
    status,
    text: stdout.slice(0, 4000) + stderr.slice(0, 2000),
    json: JSON.parse(stdout) as Ended['json'],
    ...(JSON.parse(meterText) as Pick<Ended, 'memory' | 'seconds'>)
  }
}
