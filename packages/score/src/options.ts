import type { Readable } from 'node:stream'
import type { Op, Value } from 'nodewise'
import type { Format } from './table.ts'

/** What happens to rows that cannot be computed. */
export type OnError = 'fail' | 'skip' | 'null'

/** What is scored, and how. */
export interface ScoreOptions {
  /** A path or URL of a model. */
  readonly model: string
  /** The table: a path, or a stream such as `process.stdin`. */
  readonly from: string | Readable
  /** Where the result goes: a path, or a function that takes its bytes. */
  readonly to: string | ((bytes: Uint8Array) => Promise<void>)
  /** Formats; by the suffix of the name or the first bytes where they are left out. */
  readonly fromFormat?: Format
  readonly toFormat?: Format
  /** The columns of an input, where the column does not have its name. Several columns stand side by side. */
  readonly map?: Readonly<Record<string, readonly string[]>>
  /** The column of an output, where it is not to have its name. */
  readonly as?: Readonly<Record<string, string>>
  /** Outputs that are wanted; all where they are left out. */
  readonly outputs?: readonly string[]
  /** Columns of the table that the result has; all where they are left out. */
  readonly keep?: readonly string[]
  /** Inputs that are the same for all rows. */
  readonly feeds?: Readonly<Record<string, Value>>
  /** Rows of one run; by the size of a row where it is left out. */
  readonly batch?: number
  /** What fills lists that are shorter than the longest of their batch; they are an error where it is left out. */
  readonly pad?: number | string
  readonly onError?: OnError
  /** Where rows that fail are written, as NDJSON. */
  readonly errors?: string
  /** Goes on where an earlier process that wrote the same path has stopped. */
  readonly resume?: boolean
  readonly threads?: number
  readonly maxMemory?: number
  readonly ops?: readonly Op[]
  readonly signal?: AbortSignal
  /** Called after every batch. */
  readonly onProgress?: (progress: Progress) => void
}

/** How far a table has come. */
export interface Progress {
  /** Rows that are done, those of an earlier process included, and rows of them that failed. */
  readonly rows: number
  readonly failed: number
  /** Rows of the whole table, where known. */
  readonly total?: number
  /** The part that is done, from 0 to 1, where known. */
  readonly fraction?: number
}

/** What was done. */
export interface ScoreResult {
  readonly rows: number
  readonly failed: number
  /** Columns of the result. */
  readonly columns: readonly string[]
  /** Rows that an earlier process had done. */
  readonly resumed: number
}
