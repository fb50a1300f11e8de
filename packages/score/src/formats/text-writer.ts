import type { Batch, Sink, TableWriter } from '../table.ts'

/** A writer of a format whose rows are lines of text: all that is written may be gone on after. */
export function textWriter(
  sink: Sink,
  alreadyWritten: number,
  textOf: (batch: Batch) => string,
  header = ''
): TableWriter {
  let written = alreadyWritten
  let start = alreadyWritten === 0 && sink.bytes === 0 ? header : ''
  const encoder = new TextEncoder()
  return {
    get written() {
      return written
    },
    state: () => null,
    async write(batch) {
      await sink.write(encoder.encode(start + textOf(batch)))
      start = ''
      written += batch.rows
    },
    async end() {
      if (start !== '') await sink.write(encoder.encode(start))
    }
  }
}
