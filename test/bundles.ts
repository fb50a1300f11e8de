import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import { BUNDLE_INPUTS, isBuilt } from '../scripts/stamp.mjs'

const ROOT = join(import.meta.dirname, '..')

/** The folder of the command, bundled as users get it. Nothing may be written to it. */
export const commandFolder = (): string => madeOnce('bundle.mjs', join(ROOT, 'bin'))

/** The folder of the library for Node, bundled as users get it. Nothing may be written to it. */
export const libraryFolder = (): string => madeOnce('bundle-library.mjs', join(ROOT, 'dist/node'))

/**
 * The folder that a script of `scripts/` has filled, or a copy of what `npm run build` filled by it where that was of
 * the same sources. It is made once for all tests, when one of them first needs it; the process that makes the folder
 * `building` fills it, the others wait for that.
 */
function madeOnce(script: string, built: string): string {
  const folder = join(inject('bundlesFolder'), script.replace('.mjs', ''))
  const [building, done, failed] = ['building', 'done', 'failed'].map(name => `${folder}.${name}`)
  if (isFirst(building)) {
    const failure = failureOf(script, built, folder)
    writeFileSync(failure === undefined ? done : failed, failure ?? '')
  }
  const clock = new Int32Array(new SharedArrayBuffer(4))
  while (!existsSync(done) && !existsSync(failed)) Atomics.wait(clock, 0, 0, 50)
  if (existsSync(failed)) throw new Error(`${script} failed: ${readFileSync(failed, 'utf8')}`)
  return folder
}

/** Fills a folder as {@link madeOnce} says. @returns why it could not; the others, which wait, must come to know */
function failureOf(script: string, built: string, folder: string): string | undefined {
  try {
    if (isBuilt(built, BUNDLE_INPUTS)) {
      mkdirSync(folder)
      // The script makes files alone; the thousand declarations of types that the build puts below them serve no test.
      for (const each of readdirSync(built, { withFileTypes: true }))
        if (each.isFile()) copyFileSync(join(built, each.name), join(folder, each.name))
      return undefined
    }
    const { status, stderr, error } = spawnSync(process.execPath, [join(ROOT, 'scripts', script), folder], {
      encoding: 'utf8'
    })
    if (error) throw error
    return status === 0 ? undefined : stderr
  } catch (error) {
    return String(error)
  }
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
