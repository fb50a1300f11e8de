import { readFileSync } from 'node:fs'
import { NodewiseError } from '../errors.ts'
import { systemFailure } from '../files/byte-source.ts'
import { badUsage } from './failure.ts'
import { statOf } from './stat.ts'
import type { Output, Terminal } from './terminal.ts'

/** Name of stdin in messages. */
export const STDIN = 'stdin'

/** Paths of what the shell has opened for the command: its stdin, and the pipe of a process substitution. */
const OPENED = /^(?:\/dev\/stdin|\/dev\/fd\/\d+|\/proc\/self\/fd\/\d+)$/

/**
 * Whether a path is read once, from its start to its end: stdin (`-`), or a pipe that the shell made. Other pipes and
 * devices are no files of models or tensors: reading them might never end.
 */
export const isStream = (path: string): boolean => path === '-' || (OPENED.test(path) && isSpecial(path))

/** Whether a path is a pipe or a device. */
function isSpecial(path: string): boolean {
  const stats = statOf(path)
  return stats !== undefined && !stats.isFile() && !stats.isDirectory()
}

/** Whether a path that is written to names stdout. */
export const isStdout = (path: string | undefined): boolean => path === '-' || path === '/dev/stdout'

/** The terminal whose stdout people read: stderr, where one of the documents goes to stdout. */
export const forPeople = (terminal: Terminal, ...documents: readonly (string | undefined)[]): Terminal =>
  documents.some(isStdout) ? { ...terminal, stdout: terminal.stderr } : terminal

/** Whether a path that is written to names stdout, a pipe or a device. */
export const isOutputStream = (path: string): boolean => isStdout(path) || isSpecial(path)

/**
 * Writes to stdout, to a pipe, or into a file, whole or not at all.
 * @throws NodewiseError `write-failed`
 */
export async function writeTo(path: string, bytes: Uint8Array, stdout: Output): Promise<void> {
  if (isStdout(path))
    await new Promise<void>((resolve, reject) => stdout.write(bytes, error => (error ? reject(error) : resolve())))
  else if (isSpecial(path)) await writeSpecial(path, bytes)
  else if (statOf(path)?.isDirectory())
    throw new NodewiseError('write-failed', 'cannot write: this is a folder', { file: path })
  else await (await import('../io/save.ts')).saveFile(path, bytes)
}

async function writeSpecial(path: string, bytes: Uint8Array): Promise<void> {
  try {
    await (await import('node:fs/promises')).writeFile(path, bytes)
  } catch (error) {
    // A reader that has seen enough is no failure.
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return
    throw new NodewiseError('write-failed', `cannot write: ${(error as Error).message}`, { file: path })
  }
}

/** What comes in on stdin can be had once in a process. */
let isTaken = false

/**
 * All bytes of stdin, or of a pipe.
 * @throws NodewiseError `bad-usage` where stdin is read twice
 */
export async function streamBytes(path: string): Promise<Uint8Array> {
  try {
    if (path !== '-' && path !== '/dev/stdin' && path !== '/dev/fd/0') return readFileSync(path)
    if (isTaken) badUsage('"-" is stdin, which can be read once only')
    isTaken = true
    const pieces: Buffer[] = []
    for await (const piece of process.stdin) pieces.push(piece as Buffer)
    return Buffer.concat(pieces)
  } catch (error) {
    throw error instanceof NodewiseError ? error : systemFailure(error, path === '-' ? STDIN : path)
  }
}
