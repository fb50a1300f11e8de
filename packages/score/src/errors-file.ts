import type { FileHandle } from 'node:fs/promises'
import type { BadRow } from './feeds.ts'
import { type Batch, type Field, jsonCell } from './table.ts'
import { openAt } from './target.ts'

/** Writes the rows that fail, with their error and their cells, as NDJSON; the file is made with the first of them. */
export class ErrorsFile {
  readonly #path: string | undefined
  readonly #fields: readonly Field[]
  #handle: FileHandle | undefined
  bytes: number

  /** @param bytes that an earlier process has written */
  constructor(path: string | undefined, fields: readonly Field[], bytes: number) {
    this.#path = path
    this.#fields = fields
    this.bytes = bytes
  }

  /** @param firstRow of the batch, in the table */
  async write(batch: Batch, bad: readonly BadRow[], firstRow: number): Promise<void> {
    if (this.#path === undefined || bad.length === 0) return
    this.#handle ??= await openAt(this.#path, this.bytes === 0 ? undefined : this.bytes)
    const text = bad.map(({ row, error }) => {
      const cells = this.#fields.map(
        ({ name }, i) => `${JSON.stringify(name)}:${jsonCell(batch.columns[i].cells[row])}`
      )
      const { code, reason } = error
      const what = `"row":${firstRow + row},"code":"${code}","message":${JSON.stringify(reason)}`
      return `{${what},"values":{${cells.join(',')}}}\n`
    })
    const bytes = new TextEncoder().encode(text.join(''))
    await this.#handle.write(bytes)
    this.bytes += bytes.length
  }

  async close(): Promise<void> {
    await this.#handle?.close()
  }
}
