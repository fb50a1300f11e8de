import { readFileSync } from 'node:fs'
import { NodewiseError } from '../errors.ts'
import { systemFailure } from '../files/byte-source.ts'

/** @throws NodewiseError `missing-file`, `invalid-file`, with the path */
export function readTextFile(path: string): string {
  try {
    // Editors of Windows put a mark of the byte order before a text.
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '')
  } catch (error) {
    throw systemFailure(error, path).at({ file: path })
  }
}

/**
 * What a file of JSON holds.
 * @throws NodewiseError `missing-file`, `invalid-file`, with the path
 */
export function readJsonFile(path: string): unknown {
  const text = readTextFile(path)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new NodewiseError('invalid-file', (error as Error).message, { file: path })
  }
}
