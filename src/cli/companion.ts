import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { NodewiseError } from '../errors.ts'
import type { Terminal } from './terminal.ts'

/** Commands that are packages of their own, so that the library depends on nothing that only they need. */
export const COMPANIONS = { score: 'nodewise-score', serve: 'nodewise-serve', view: 'nodewise-view' } as const

type Companion = keyof typeof COMPANIONS

/**
 * A file of the package of a command: among the packages of the folder that it is called in, or beside this command.
 * @param file its name in the package; what the package exports where it is left out
 * @throws NodewiseError `missing-file` where the package is not installed
 */
export function companionFile(command: Companion, { cwd, program }: Terminal, file = ''): string {
  const name = COMPANIONS[command]
  for (const from of [pathToFileURL(join(cwd, 'package.json')), program]) {
    try {
      return createRequire(from).resolve(name + file)
    } catch {
      // Not installed there.
    }
  }
  throw new NodewiseError('missing-file', `nodewise ${command} is a package of its own: npm install ${name}`)
}

/** What the package of a command exports; see {@link companionFile}. */
export const companion = <T>(command: Companion, terminal: Terminal): T =>
  createRequire(terminal.program)(companionFile(command, terminal)) as T
