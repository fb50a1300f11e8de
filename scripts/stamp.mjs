// Says in the folder of a build what it was built of, so that tests can take it where that is as it was.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { globSync } from 'tinyglobby'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The file in the folder of a build that says what it was built of. */
const STAMP = '.inputs'

/** What both bundles for Node, the command and the library, are made of. */
export const BUNDLE_INPUTS = [
  'models/palette.{onnx,xml}',
  'package{,-lock}.json',
  'scripts/*.mjs',
  'src/**/*.{ts,js,wasm}'
]

/**
 * A hash of the names and contents of files, and of the Node that reads them, for which V8 compiles bundles.
 * @param {readonly string[]} inputs patterns of files, from the root
 */
function hashOf(inputs) {
  const hash = createHash('sha256').update(`${process.version} ${process.platform} ${process.arch}\0`)
  for (const name of globSync([...inputs], { cwd: ROOT, ignore: ['src/wasm/assembly/**', '**/*.d.ts'] }).sort()) {
    const path = join(ROOT, name)
    hash.update(`${name}\0${statSync(path).size}\0`).update(readFileSync(path))
  }
  return hash.digest('hex')
}

/**
 * Begins a build in a folder, whose stamp goes until the build is whole.
 * @param {string} folder
 * @param {readonly string[]} inputs patterns of the files that it is built of
 * @returns what writes the stamp when the build is done
 */
export function beginBuild(folder, inputs) {
  const path = join(folder, STAMP)
  const hash = hashOf(inputs)
  rmSync(path, { force: true })
  return () => writeFileSync(path, hash)
}

/**
 * Whether a folder holds a build of what the inputs are now.
 * @param {string} folder
 * @param {readonly string[]} inputs
 */
export function isBuilt(folder, inputs) {
  const path = join(folder, STAMP)
  return existsSync(path) && readFileSync(path, 'utf8') === hashOf(inputs)
}
