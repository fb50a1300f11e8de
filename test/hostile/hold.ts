import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Answer as Answered, ask, askAlone, temporaryFolder } from '../cli/command.ts'

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
  /** Bytes that a command may take in a process of its own, where that is less than what any may. */
  readonly memory?: number
}

/** What any of them may take: seconds of processor time, and bytes. */
const MAX_SECONDS = 5
const MAX_MEMORY = 512 * 2 ** 20

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

/** A finding of the graph for `check`, for which `run` refuses it. */
export const found = (code: string): Answer[] => [
  ['check', 1, code],
  ['run --fill zeros', 2, 'invalid-graph']
]

/** Writes a file; returns its path. */
export function put(folder: string, file: string, content: string | Uint8Array): string {
  const path = join(folder, file)
  writeFileSync(path, content)
  return path
}

/** Gives every row to the command, and holds each answer against what it must be, in time and memory. */
export function holdAll(rows: readonly Hostile[]): void {
  const top = temporaryFolder()
  rows.forEach(({ name, make, answers, memory: own }, i) =>
    test(name, async () => {
      const folder = join(top, String(i))
      mkdirSync(folder)
      const model = make(folder)
      for (const [command, exit, code, says] of answers) {
        const [verb, ...flags] = command.split(' ')
        const args = [verb, model, ...flags.map(flag => flag.replaceAll('{folder}', folder)), '--json']
        const { status, stdout, stderr, memory, seconds } = await (own === undefined ? answerOf(args) : askAlone(args))
        const json = JSON.parse(stdout) as Report
        const text = stdout.slice(0, 4000) + stderr.slice(0, 2000)
        const found = {
          command,
          exit: status,
          ...(code !== undefined && { code: codesOf(json).includes(code) ? code : codesOf(json) })
        }
        expect(found, text).toEqual({ command, exit, ...(code !== undefined && { code }) })
        if (says !== undefined) expect(text).toMatch(says)
        expect(text).not.toContain('internal error')
        expect(memory, `${command} takes ${memory} bytes`).toBeLessThan(own ?? MAX_MEMORY)
        expect(seconds, `${command} takes ${seconds} s`).toBeLessThan(MAX_SECONDS)
      }
    })
  )
}

interface Report {
  readonly error?: { readonly code: string }
  readonly findings?: readonly { readonly code: string }[]
}

/** The code of the error, or those of the findings. */
const codesOf = ({ error, findings = [] }: Report): string[] =>
  error ? [error.code] : findings.map(({ code }) => code)

/** What the shared process holds from earlier commands counts too, so one that holds too much is asked again alone. */
async function answerOf(args: readonly string[]): Promise<Answered> {
  const answer = await ask(args)
  return answer.memory < MAX_MEMORY ? answer : askAlone(args)
}
