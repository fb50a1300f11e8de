import { NodewiseError } from 'nodewise'

/** Bytes that one row may take as text. */
const MAX_LINE = 2 ** 26
/** Rows of text that are read together, and their bytes at most. */
const CHUNK_ROWS = 8192
const CHUNK_BYTES = 2 ** 23

const NEWLINE = 0x0a

/**
 * The lines of a stream of UTF-8, some thousand at a time, without those that are empty.
 * @throws NodewiseError `limit-exceeded` for a line that never ends, `invalid-file` for bytes that are not UTF-8
 */
export async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest: Uint8Array[] = []
  let restBytes = 0
  let lines: string[] = []
  let size = 0
  for await (const chunk of stream) {
    const end = chunk.lastIndexOf(NEWLINE)
    if (end >= 0) {
      for (const line of textOf(decoder, rest, chunk.subarray(0, end)).split('\n')) {
        if (line.trim() !== '') lines.push(line.endsWith('\r') ? line.slice(0, -1) : line)
        size += line.length
        if (lines.length < CHUNK_ROWS && size < CHUNK_BYTES) continue
        yield lines
        ;[lines, size] = [[], 0]
      }
      ;[rest, restBytes] = [[], 0]
    }
    rest.push(chunk.subarray(end + 1))
    restBytes += chunk.length - end - 1
    if (restBytes > MAX_LINE)
      throw new NodewiseError('limit-exceeded', `a row takes more than ${MAX_LINE} bytes; is it a table of lines?`)
  }
  const last = textOf(decoder, rest, new Uint8Array()).replace(/\r$/, '')
  if (last.trim() !== '') lines.push(last)
  if (lines.length > 0) yield lines
}

function textOf(decoder: TextDecoder, pieces: readonly Uint8Array[], last: Uint8Array): string {
  try {
    return decoder.decode(pieces.length === 0 ? last : Buffer.concat([...pieces, last]))
  } catch {
    throw new NodewiseError('invalid-file', 'the text is not in UTF-8')
  }
}

/**
 * The rows of chunks from the first that is wanted on, with its place in the table.
 * @param head the first chunk, which was read to know the columns
 */
export async function* rowsFrom<T>(
  head: readonly T[],
  rest: AsyncIterator<readonly T[]>,
  skip: number
): AsyncGenerator<readonly [rows: readonly T[], firstRow: number]> {
  let row = 0
  for (let rows = head; ;) {
    const begin = Math.min(rows.length, Math.max(0, skip - row))
    if (begin < rows.length) yield [rows.slice(begin), row + begin]
    row += rows.length
    const next = await rest.next()
    if (next.done === true) return
    rows = next.value
  }
}
