import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, inject } from 'vitest'

export const MODELS = join(import.meta.dirname, '../../models')

function command(): string {
  const built = inject('command')
  if ('problem' in built) throw new Error(`the command could not be bundled: ${built.problem}`)
  return built.path
}

export interface Finished {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

interface Circumstances {
  readonly cwd?: string
  readonly env?: Record<string, string>
  /** A script of bash that runs `"$0" "$@"`. */
  readonly shell?: string
}

/** Runs the command as a user would and waits for its end. */
export function nodewise(args: readonly string[], { cwd, env, shell }: Circumstances = {}): Finished {
  const [program, ...rest] = [
    ...(shell === undefined ? [] : ['bash', '-c', shell]),
    process.execPath,
    command(),
    ...args
  ]
  const { status, stdout, stderr } = spawnSync(program, rest, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    cwd,
    env: { ...process.env, ...env }
  })
  return { status, stdout, stderr }
}

/** The same, with stdout read as one JSON document. */
export function nodewiseJson(args: readonly string[]): {
  status: number | null
  json: Record<string, unknown>
  stderr: string
} {
  const { status, stdout, stderr } = nodewise(args)
  return { status, stderr, json: JSON.parse(stdout) as Record<string, unknown> }
}

/** Starts the command and leaves it running. */
export const start = (args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [command(), ...args], { stdio: ['ignore', 'pipe', 'pipe'] })

/** A folder of its own for the tests of a file; it goes when they are done. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'nodewise-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
