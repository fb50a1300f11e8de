import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { Place } from '../errors.ts'
import { namePattern } from './name-pattern.ts'

/**
 * A place within the graph: `12:then_branch/3/Gather_5/y` is the value y of node 3, Gather_5, of the branch of node 12.
 */
export const graphPlace = ({ graphPath, node, nodeIndex, layer, port, value }: Place): string =>
  [graphPath, nodeIndex ?? layer, node, port === undefined ? undefined : `port ${port}`, value]
    .filter(part => part !== undefined && part !== '')
    .join('/')

/** Whether a file is named by a URL. */
export const isUrl = (file: string): boolean => /^(https?|file):/i.test(file)

/** The path of a file from a folder, with slashes; absolute where there is no way from there, as to another drive. */
export function pathFrom(folder: string, file: string): string {
  if (isUrl(file)) return file
  const path = relative(folder, resolve(folder, file))
  return (isAbsolute(path) ? resolve(folder, file) : path).split(sep).join('/')
}

/** A file by its whole path, or its URL. */
export const wholePath = (file: string): string => (isUrl(file) ? file : resolve(file))

/** A test of files by patterns of their paths from a folder; `*` stands for any characters, `/` too. */
export function pathTest(patterns: readonly string[], folder: string): (file: string) => boolean {
  const tests = patterns.map(namePattern)
  return file => {
    const path = pathFrom(folder, wholePath(file))
    // So that `**/old/**` is also the folder `old` at the top.
    return tests.some(test => test(path) || test(`/${path}`))
  }
}
