import type { FileHandle } from 'node:fs/promises'
import type { ColumnMetaData, PageHeader } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { NodewiseError } from 'nodewise'
import type { Packed } from '../packed.ts'
import { type Leaf, type Page, readDictionary, readPage } from './parquet-pages.ts'

/** Bytes that are read from a column at a time, at least. */
const WINDOW = 2 ** 18
/** Bytes that the header of a page may take. */
const MAX_HEADER_BYTES = 2 ** 24

const broken = (why: string): never => {
  throw new NodewiseError('invalid-file', `this is no Parquet that can be read: ${why}`)
}

/** Reads the pages of a column in a row group. */
export class PageReader {
  readonly #file: FileHandle
  readonly #leaf: Leaf
  readonly #metadata: ColumnMetaData
  /** Bytes that have been read and not used, where those after them stand in the file, and where the column ends. */
  #window = new Uint8Array(0)
  #at: number
  readonly #end: number
  #cells = 0
  #dictionary: Packed | undefined

  /** @param size of the file @throws NodewiseError `invalid-file` for a column that is not in it */
  constructor(file: FileHandle, size: number, leaf: Leaf, metadata: ColumnMetaData) {
    this.#file = file
    this.#leaf = leaf
    this.#metadata = metadata
    const { dictionary_page_offset: dictionary, data_page_offset: data, total_compressed_size: bytes } = metadata
    // Some writers say 0 where there is no dictionary.
    this.#at = Number(dictionary !== undefined && dictionary > 0n && dictionary < data ? dictionary : data)
    this.#end = this.#at + Number(bytes)
    if (!(this.#at >= 0 && this.#end >= this.#at && this.#end <= size)) broken('a column is not in the file')
  }

  /** The next page; undefined after the last. @throws NodewiseError `invalid-file`, `limit-exceeded` */
  async next(): Promise<Page | undefined> {
    while (this.#cells < Number(this.#metadata.num_values)) {
      const header = await this.#header()
      const bytes = await this.#bytes(header.compressed_page_size)
      if (header.type === 'DICTIONARY_PAGE') {
        this.#dictionary = readDictionary(bytes, header, this.#leaf, this.#metadata)
      } else if (header.type === 'DATA_PAGE' || header.type === 'DATA_PAGE_V2') {
        const page = readPage(bytes, header, this.#leaf, this.#metadata, this.#dictionary)
        this.#cells += page.places
        return page
      }
    }
    return undefined
  }

  async #header(): Promise<PageHeader> {
    for (let length = WINDOW; ; length *= 2) {
      const isAll = await this.#fill(length)
      const reader = {
        view: new DataView(this.#window.buffer, this.#window.byteOffset, this.#window.length),
        offset: 0
      }
      try {
        const header = parquetHeader(reader)
        this.#window = this.#window.subarray(reader.offset)
        return header
      } catch (error) {
        if (isAll || length > MAX_HEADER_BYTES) throw error
      }
    }
  }

  async #bytes(length: number): Promise<Uint8Array> {
    if (!(length >= 0 && length <= this.#window.length + this.#end - this.#at)) broken('a page is not in its column')
    await this.#fill(length)
    const bytes = this.#window.subarray(0, length)
    this.#window = this.#window.subarray(length)
    return bytes
  }

  /** Reads until so many bytes are there, or all. @returns whether it is all */
  async #fill(length: number): Promise<boolean> {
    const missing = length - this.#window.length
    if (missing > 0 && this.#at < this.#end) {
      const more = Math.min(this.#end - this.#at, Math.max(WINDOW, missing))
      const larger = new Uint8Array(this.#window.length + more)
      larger.set(this.#window)
      for (let at = this.#window.length; at < larger.length;) {
        const { bytesRead } = await this.#file.read(larger, at, larger.length - at, this.#at)
        if (bytesRead === 0) broken('the file ends too early')
        at += bytesRead
        this.#at += bytesRead
      }
      this.#window = larger
    }
    return this.#at === this.#end
  }
}
