import { readFileSync, statSync } from 'node:fs'
import { NodewiseError } from '../errors.ts'
import { systemFailure } from '../files/byte-source.ts'
import { badUsage } from './failure.ts'

/** Name of stdin in messages. */
export const STDIN = 'stdin'

/** Whether a path is stdin (`-`), or a pipe or device: what is read once, from its start to its end. */
export function isStream(path: string): boolean {
  if (path === '-') return true
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats !== undefined && !stats.isFile() && !stats.isDirectory()
  } catch {
    return false
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
    if (isTaken) badUsage('stdin ("-") can be read once only')
    isTaken = true
    const pieces: Buffer[] = []
    for await (const piece of process.stdin) pieces.push(piece as Buffer)
    return Buffer.concat(pieces)
  } catch (error) {
    throw error instanceof NodewiseError ? error : systemFailure(error, path === '-' ? STDIN : path)
  }
}
