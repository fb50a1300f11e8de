import { type FileHandle, rm } from 'node:fs/promises'
import type { BadRow } from './feeds.ts'
import { type Batch, type Field, jsonCell } from './table.ts'
import { openAt, writeAll, writing } from './target.ts'

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

  /** Removes the rows of an earlier run, unless it is gone on with: they are not those that fail now. */
  async begin(): Promise<void> {
    const path = this.#path
    if (path !== undefined && this.bytes === 0) await writing(path, () => rm(path, { force: true }))
  }

  /** @param firstRow of the batch, in the table */
  async write(batch: Batch, bad: readonly BadRow[], firstRow: number): Promise<void> {
    const path = this.#path
    if (path === undefined || bad.length === 0) return
    const text = bad.map(({ row, error }) => {
      const cells = this.#fields.map(
        ({ name }, i) => `${JSON.stringify(name)}:${jsonCell(batch.columns[i].cells[row])}`
      )
      const { code, reason } = error
      const what = `"row":${firstRow + row},"code":"${code}","message":${JSON.stringify(reason)}`
      return `{${what},"values":{${cells.join(',')}}}\n`
    })
    const bytes = new TextEncoder().encode(text.join(''))
    await writing(path, async () => {
      this.#handle ??= await openAt(path, this.bytes === 0 ? undefined : this.bytes)
      await writeAll(this.#handle, bytes)
    })
    this.bytes += bytes.length
  }

  async close(): Promise<void> {
    await this.#handle?.close()
  }
}
