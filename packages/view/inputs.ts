import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { globSync } from 'tinyglobby'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Files that a build of the page depends on. */
const INPUTS = [
  'models/*.{onnx,xml,bin}',
  'package-lock.json',
  'packages/view/{index.html,inputs.ts,vite.config.ts}',
  'packages/view/{public,src}/**',
  'src/**/*.{ts,js}'
]

/** The file in the folder of a build that says what it was built of. */
export const STAMP = '.inputs'

/** A hash of the names and contents of all that the page is built of. */
export function hashInputs(): string {
  const hash = createHash('sha256')
  for (const name of globSync(INPUTS, { cwd: ROOT, ignore: ['src/wasm/assembly/**', '**/*.d.ts'] }).sort()) {
    const path = join(ROOT, name)
    hash.update(`${name}\0${statSync(path).size}\0`).update(readFileSync(path))
  }
  return hash.digest('hex')
}

/** Whether a folder holds a build of what the inputs are now. */
export const isBuilt = (folder: string): boolean =>
  existsSync(join(folder, STAMP)) && readFileSync(join(folder, STAMP), 'utf8') === hashInputs()
