import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { afterAll } from 'vitest'
import { commandFolder } from '../bundles.ts'

export const MODELS = join(import.meta.dirname, '../../models')

/** The command is bundled into a folder without packages; those that it loads when needed are found here. */
const env = { ...process.env, NODE_PATH: join(import.meta.dirname, '../../node_modules') }

/** The file of the command, bundled as users get it. */
export const command = (): string => join(commandFolder(), 'nodewise.js')

export interface Finished {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** What a command did, and what it took: seconds of processor time, and the most bytes that its process held. */
export interface Answer extends Finished {
  readonly seconds: number
  readonly memory: number
}

/** Milliseconds after which a command hangs: a busy machine is no failure. */
const PATIENCE = 60_000
/** A server that holds more after an answer is replaced, so that one command's memory is not counted to the next. */
const MAX_KEPT = 256 * 2 ** 20

interface Place {
  readonly cwd?: string
  /** Options of Node. */
  readonly execArgv?: readonly string[]
}

function startServer({ cwd, execArgv = [] }: Place = {}): ChildProcess {
  const child = fork(join(import.meta.dirname, 'server.mjs'), [dirname(command())], {
    env,
    cwd,
    execArgv: [...execArgv],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced'
  })
  // Only a command that is under way keeps the tests waiting for it.
  child.unref()
  child.channel?.unref()
  return child
}

/** Answers a command in a process of its own, started as users start it: what it took is what a user sees it take. */
export function askAlone(args: readonly string[]): Promise<Answer> {
  const child = spawn(process.execPath, ['--import', join(import.meta.dirname, 'usage.mjs'), command(), ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    timeout: PATIENCE,
    killSignal: 'SIGKILL'
  })
  const texts = ['', '', '']
  for (const [i, stream] of child.stdio.slice(1).entries())
    (stream as Readable).setEncoding('utf8').on('data', (piece: string) => (texts[i] += piece))
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (status, signal) => {
      const [stdout, stderr, usage] = texts
      if (signal !== null) return reject(new Error(`${args.join(' ')} ends by ${signal}: ${stderr.slice(0, 2000)}`))
      resolve({ status, stdout, stderr, ...(JSON.parse(usage) as Pick<Answer, 'seconds' | 'memory'>) })
    })
  })
}

/**
 * What answers commands in a process that answers many, one at a time. A command that ends the process, or does not
 * end, is an error; the next one gets a new process.
 */
export function answering(place: Place = {}): (args: readonly string[]) => Promise<Answer> {
  let server: ChildProcess | undefined
  /** The answer that the next command waits for: answers carry no name of their command. */
  let turn: Promise<unknown> = Promise.resolve()
  const askKept = async (args: readonly string[]): Promise<Answer> => {
    const child = (server ??= startServer(place))
    let isKept = false
    try {
      const answer = await askServer(child, args)
      isKept = answer.memory < MAX_KEPT
      return answer
    } finally {
      if (!isKept) {
        child.kill('SIGKILL')
        server = undefined
      }
    }
  }
  return args => {
    const answer = turn.then(() => askKept(args))
    turn = answer.catch(() => undefined)
    return answer
  }
}

/** Answers a command in the process that answers those of all tests which ask for no other place. */
export const ask = answering()

/**
 * Runs lines of shell in a folder, each of which has one command: in Bash where it is piped or redirected, else in a
 * process that answers all lines, with the arguments that Bash reads.
 *
 * @param prefix how a line calls the command
 * @param run how Bash calls it
 */
export function shellIn(
  place: Place & { readonly cwd: string },
  prefix: string,
  run: (line: string) => Finished
): (line: string) => Promise<Finished> {
  const answer = answering(place)
  return async line => {
    if (!line.startsWith(prefix) || /[|<>;&$`]/.test(line)) return run(line)
    const words = line.slice(prefix.length).trim()
    const { stdout } = spawnSync('bash', ['-c', `printf '%s\\0' ${words}`], { cwd: place.cwd, encoding: 'utf8' })
    return answer(words === '' ? [] : stdout.split('\0').slice(0, -1))
  }
}

function askServer(child: ChildProcess, args: readonly string[]): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let words = ''
    const hear = (piece: Buffer): void => {
      words += piece.toString()
    }
    const stop = (problem: string): void => {
      finish()
      reject(new Error(`${args.join(' ')} ${problem}: ${words.slice(0, 2000)}`))
    }
    const ended = (code: number | null, signal: string | null): void => stop(`ends its process with ${signal ?? code}`)
    const answered = (answer: Answer): void => {
      finish()
      resolve(answer)
    }
    const timer = setTimeout(() => stop(`takes more than ${PATIENCE / 1000} s`), PATIENCE)
    const finish = (): void => {
      clearTimeout(timer)
      child.off('exit', ended).off('message', answered)
      child.stderr?.off('data', hear)
    }
    child.on('exit', ended).on('message', answered)
    child.stderr?.on('data', hear)
    child.send(args)
  })
}

/** What the command answers a user; the process that answers is shared by the commands of many tests. */
export async function nodewise(args: readonly string[]): Promise<Finished> {
  const { status, stdout, stderr } = await ask(args)
  return { status, stdout, stderr }
}

/** The same, with stdout read as one JSON document. */
export async function nodewiseJson(args: readonly string[]): Promise<{
  status: number | null
  json: Record<string, unknown>
  stderr: string
}> {
  const { status, stdout, stderr } = await ask(args)
  return { status, stderr, json: JSON.parse(stdout) as Record<string, unknown> }
}

interface Circumstances {
  readonly cwd?: string
  /** A script of bash that runs `"$0" "$@"`. */
  readonly shell?: string
}

/** Runs the command in a process of its own, as a user would, and waits for its end. */
export function nodewiseProcess(args: readonly string[], { cwd, shell }: Circumstances = {}): Finished {
  const [program, ...rest] = [
    ...(shell === undefined ? [] : ['bash', '-c', shell]),
    process.execPath,
    command(),
    ...args
  ]
  const { status, stdout, stderr } = spawnSync(program, rest, { encoding: 'utf8', maxBuffer: 2 ** 28, cwd, env })
  return { status, stdout, stderr }
}

/** Starts the command in a process of its own and leaves it running. */
export const start = (args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [command(), ...args], { stdio: ['ignore', 'pipe', 'pipe'] })

/** A folder of its own for the tests of a file; it goes when they are done. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'nodewise-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Writes a file of a folder, in folders of its own where its name has such; gives its path. */
export function writeIn(folder: string, name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}
