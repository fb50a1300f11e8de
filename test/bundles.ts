import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'

/** The folder of the command, bundled as users get it. Nothing may be written to it. */
export const commandFolder = (): string => madeOnce('bundle.mjs')

/** The folder of the library for Node, bundled as users get it. Nothing may be written to it. */
export const libraryFolder = (): string => madeOnce('bundle-library.mjs')

/**
 * The folder that a script of `scripts/` has filled. It is made once for all tests, when one of them first needs it;
 * the process that makes the folder `building` fills it, the others wait for that.
 */
function madeOnce(script: string): string {
  const folder = join(inject('bundlesFolder'), script.replace('.mjs', ''))
  const [building, done, failed] = ['building', 'done', 'failed'].map(name => `${folder}.${name}`)
  if (isFirst(building)) {
    const path = join(import.meta.dirname, '../scripts', script)
    const { status, stderr } = spawnSync(process.execPath, [path, folder], { encoding: 'utf8' })
    writeFileSync(status === 0 ? done : failed, stderr)
  }
  const clock = new Int32Array(new SharedArrayBuffer(4))
  while (!existsSync(done) && !existsSync(failed)) Atomics.wait(clock, 0, 0, 50)
  if (existsSync(failed)) throw new Error(`${script} failed: ${readFileSync(failed, 'utf8')}`)
  return folder
}

/** Makes a folder. @returns whether nobody had made it before */
function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
