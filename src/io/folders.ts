import { readdirSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { systemFailure } from '../files/byte-source.ts'

/**
 * Names of what is in a folder, sorted.
 * @throws NodewiseError `missing-file`, `invalid-file`
 */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch (error) {
    throw systemFailure(error, basename(folder)).at({ file: folder })
  }
}

/**
 * Makes a folder and those above it that do not exist. Not by `recursive` of Node's `mkdir`, which tries again without
 * end below a folder such as /proc, where a folder that exists says of what is made in it that it does not.
 */
export async function makeFolder(path: string): Promise<void> {
  const missing: string[] = []
  for (let at = path; !(await exists(at)); at = dirname(at)) {
    missing.unshift(at)
    if (dirname(at) === at) break
  }
  for (const folder of missing)
    await mkdir(folder).catch(async (error: NodeJS.ErrnoException) => {
      // Another process may have made it meanwhile.
      if (error.code !== 'EEXIST' || !(await isFolder(folder))) throw error
    })
  if (missing.length === 0 && !(await isFolder(path))) await mkdir(path)
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    stats => stats.isDirectory(),
    () => false
  )

/** Whether there is something at a path; that it may not be looked at is told when something is made there. */
const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT'
  )
