import { readFileSync } from 'node:fs'
import { NodewiseError } from '../errors.ts'
import { systemFailure } from '../files/byte-source.ts'

/**
 * What a file of JSON holds.
 * @throws NodewiseError `missing-file`, `invalid-file`, with the path
 */
export function readJsonFile(path: string): unknown {
  try {
    // Editors of Windows put a mark of the byte order before a text.
    return JSON.parse(readFileSync(path, 'utf8').replace(/^\ufeff/, ''))
  } catch (error) {
    if (error instanceof SyntaxError) throw new NodewiseError('invalid-file', error.message, { file: path })
    throw systemFailure(error, path).at({ file: path })
  }
}
