import { fail } from '../errors.ts'
import { fs, path } from '../host.ts'
import { systemFailure } from './byte-source.ts'

/**
 * The folders in which a model's data may lie, as canonical paths: the folder of the model; where the model is a link,
 * also the folder of the file that it leads to, since caches of models are made of links; and `dataRoot`.
 * @throws NodewiseError `missing-file` for a folder that does not exist
 */
export function dataFolders(modelPath: string, dataRoot?: string): string[] {
  const real = realPath(modelPath)
  const folders = [
    path.dirname(path.resolve(modelPath)),
    ...(real === undefined ? [] : [path.dirname(real)]),
    ...(dataRoot === undefined ? [] : [path.resolve(dataRoot)])
  ]
  return [
    ...new Set(folders.map(folder => realPath(folder) ?? fail('missing-file', `the folder ${folder} does not exist`)))
  ]
}

/**
 * The canonical path of a file that a model names. Links are followed, and the file that they lead to must lie in one
 * of the folders.
 * @param location path of the file as the model writes it, relative to any of the folders
 * @param folders canonical paths
 * @param what names the file in messages
 * @returns undefined where no such file exists
 * @throws NodewiseError `outside-folder`, `invalid-file` for text that is no file name
 */
export function findInside(location: string, folders: readonly string[], what: string): string | undefined {
  if (location.includes('\0')) fail('invalid-file', `"${location}" is no file name`)
  if (path.isAbsolute(location) || path.win32.isAbsolute(location))
    fail('outside-folder', `${what} must be given relative to the model's folder`)
  const candidates = folders.map(folder => path.join(folder, location)).filter(file => isInside(file, folders))
  if (candidates.length === 0) fail('outside-folder', `${what} is outside the model's folder`)
  for (const candidate of candidates) {
    const found = realPath(candidate)
    if (found === undefined) continue
    if (!isInside(found, folders)) fail('outside-folder', `${what} is a link that leads outside the model's folder`)
    return found
  }
  return undefined
}

function isInside(file: string, folders: readonly string[]): boolean {
  return folders.some(folder => {
    const relative = path.relative(folder, file)
    const leadsUp = relative === '..' || relative.startsWith(`..${path.sep}`)
    return relative !== '' && !leadsUp && !path.isAbsolute(relative)
  })
}

/** The canonical path of a file or folder; undefined where none exists. */
export function realPath(file: string): string | undefined {
  try {
    return fs.realpathSync(file)
  } catch (error) {
    const failure = systemFailure(error, file)
    if (failure.code === 'missing-file' && (error as NodeJS.ErrnoException).code !== 'EACCES') return undefined
    throw failure
  }
}
