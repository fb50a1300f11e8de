// Holds the types of a packed package against what runs (arethetypeswrong): that each entry is found with its types
// however it is imported, and that they are of the same kind of module.
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path/posix'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'

/** The package is ESM only: require() of it works from Node 20.19 on, of which the check does not know. */
const IGNORED = ['node10', 'node16-cjs']

/** All folders in which files lie. */
function foldersOf(files) {
  const folders = new Set()
  for (const file of files)
    for (let folder = dirname(file); !folders.has(folder); folder = dirname(folder)) folders.add(folder)
  return folders
}

/**
 * @param {string} tarball the path of the packed package
 * @returns {Promise<string[]>} what is wrong
 */
export async function checkTypes(tarball) {
  const files = createPackageFromTarballData(readFileSync(tarball))
  const folders = foldersOf(files.listFiles())
  // Its own goes through all files each time that the compiler asks for a folder: half of the time of the check.
  files.directoryExists = path => folders.has(path.replace(/(?<=.)\/$/, ''))
  const { types, problems } = await checkPackage(files, { excludeEntrypoints: ['kernels.wasm'] })
  if (!types) return ['the package has no types']
  return problems.filter(problem => !IGNORED.includes(problem.resolutionKind)).map(problem => JSON.stringify(problem))
}
