import { type ErrorCode, type InferenceSession, NodewiseError, type Value } from 'nodewise'
import { type BadRow, tensorOf } from './feeds.ts'
import { badUsage, elementCount, type MappedInput, type RowShape } from './mapping.ts'
import type { ScoreOptions } from './options.ts'
import { columnOf, type MappedOutput } from './outputs.ts'
import { type Batch, type Column, joinColumns, sliceBatch, takeRows } from './table.ts'

/** Elements of all inputs that one run takes where the caller does not say how many rows. */
const RUN_ELEMENTS = 2 ** 15
const MAX_RUN_ROWS = 8192
/** Rows that are looked at for one that says how rows fill an input. */
const LOOKED_AT = 1024

/** Faults of the model or of the call, which no other row would be without. */
const NOT_OF_ROWS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'aborted',
  'internal',
  'invalid-file',
  'invalid-graph',
  'missing-file',
  'missing-input',
  'unexpected-input',
  'unsupported-op',
  'unsupported-version'
])

/** What became of some rows. */
export interface Scored {
  /** Rows that were computed, in order; their outputs are the columns. */
  readonly good: readonly number[]
  readonly columns: readonly Column[]
  readonly bad: readonly BadRow[]
}

/** Runs a model over rows. */
export class Scorer {
  readonly #session: InferenceSession
  readonly #inputs: readonly MappedInput[]
  #outputs: readonly MappedOutput[] = []
  readonly #options: ScoreOptions
  /** The first dim where the model fixes it; the last row is repeated to fill it. */
  #fixedRows: number | undefined
  readonly rowsPerRun: number
  /** Whether rows stand along the first dim of inputs and outputs. */
  isBatched = true

  /** @param first rows of the table: what cells hold says how they fill the inputs; undefined where there are none */
  constructor(
    session: InferenceSession,
    inputs: readonly MappedInput[],
    options: ScoreOptions,
    first: Batch | undefined
  ) {
    this.#session = session
    this.#inputs = inputs
    this.#options = options
    this.rowsPerRun = this.#layOut(first)
  }

  /** The outputs that are wanted; settled when it is known whether rows stand along a first dim. */
  setOutputs(outputs: readonly MappedOutput[]): void {
    this.#outputs = outputs
  }

  /** Rows that one run takes: what the model asks for, else what the caller says, else by the size of a row. */
  #layOut(first: Batch | undefined): number {
    let elements = 0
    for (const input of this.#inputs) {
      const shape = first && shapeOfFirst(input, first, this.#options.pad)
      this.isBatched &&= shape?.isBatched !== false
      const rows = shape?.isBatched === false ? 1 : input.dims?.[0]
      if (rows !== undefined && this.#fixedRows !== undefined && rows !== this.#fixedRows)
        badUsage(`the model takes ${this.#fixedRows} rows of one input with ${rows} of "${input.name}"`)
      this.#fixedRows ??= rows
      elements += shape ? elementCount(shape.dims) : 0
    }
    const fitting = Math.floor(RUN_ELEMENTS / Math.max(1, elements))
    return this.#fixedRows ?? this.#options.batch ?? Math.max(1, Math.min(MAX_RUN_ROWS, fitting))
  }

  /** Computes rows. Where a run fails, its halves are run, down to the rows that make it fail. */
  async score(batch: Batch): Promise<Scored> {
    const pieces: Scored[] = []
    await this.#scoreRows(batch, rowsFrom(0, batch.rows), pieces)
    return joinScored(pieces)
  }

  async #scoreRows(all: Batch, rows: readonly number[], pieces: Scored[]): Promise<void> {
    if (rows.length === 0) return
    const ran = Math.max(rows.length, this.#fixedRows ?? 0)
    const repeated = Array.from({ length: ran - rows.length }, () => rows[rows.length - 1])
    const batch = ran === all.rows && rows.length === ran ? all : takeRows(all, [...rows, ...repeated])
    const filled = this.#feedsOf(batch)
    if (filled.bad.size > 0) {
      const bad = [...filled.bad].flatMap(([at, error]) => (at < rows.length ? [{ row: rows[at], error }] : []))
      pieces.push({ good: [], columns: [], bad })
      if (this.#mayGoOn(bad))
        await this.#scoreRows(
          all,
          rows.filter((_, at) => !filled.bad.has(at)),
          pieces
        )
      return
    }
    try {
      pieces.push({ good: rows, columns: await this.#run(filled, rows.length, ran), bad: [] })
    } catch (error) {
      if (!(error instanceof NodewiseError) || NOT_OF_ROWS.has(error.code)) throw error
      if (rows.length === 1) {
        pieces.push({ good: [], columns: [], bad: [{ row: rows[0], error }] })
        return
      }
      const middle = rows.length >> 1
      await this.#scoreRows(all, rows.slice(0, middle), pieces)
      if (this.#mayGoOn(pieces.flatMap(({ bad }) => bad))) await this.#scoreRows(all, rows.slice(middle), pieces)
    }
  }

  /** Where the first failing row ends it all, no others are looked for. */
  #mayGoOn(bad: readonly BadRow[]): boolean {
    return bad.length === 0 || (this.#options.onError ?? 'fail') !== 'fail'
  }

  #feedsOf(batch: Batch): Filled {
    const feeds: Record<string, Value> = { ...this.#options.feeds }
    const bad = new Map<number, NodewiseError>()
    let isBatched = true
    for (const input of this.#inputs) {
      const made = tensorOf(input, batch, this.#options.pad)
      if (made.tensor) {
        feeds[input.name] = made.tensor
        isBatched &&= made.shape.isBatched
      }
      for (const { row, error } of made.bad) if (!bad.has(row)) bad.set(row, error)
    }
    return { feeds, isBatched, bad }
  }

  async #run({ feeds, isBatched }: Filled, rows: number, ran: number): Promise<Column[]> {
    const { signal, outputs } = this.#options
    this.#session.resetState()
    const found = await this.#session.run(feeds, outputs, signal && { signal })
    return this.#outputs.map(output => columnOf(output, found[output.name], rows, isBatched ? ran : undefined))
  }
}

/** Numbers of rows, one after the other. */
function rowsFrom(first: number, count: number): number[] {
  const rows = new Array<number>(count)
  for (let i = 0; i < count; i++) rows[i] = first + i
  return rows
}

/** What became of the rows of several pieces: columns are those of the pieces that have rows. */
export function joinScored(pieces: readonly Scored[]): Scored {
  if (pieces.length === 1) return pieces[0]
  const there = pieces.filter(({ good }) => good.length > 0).map(({ columns }) => columns)
  return {
    good: joinRows(pieces),
    columns: (there[0] ?? []).map((_, i) => joinColumns(there.map(columns => columns[i]))),
    bad: pieces.flatMap(({ bad }) => bad).sort((a, b) => a.row - b.row)
  }
}

function joinRows(pieces: readonly Scored[]): number[] {
  const all = new Array<number>(pieces.reduce((sum, { good }) => sum + good.length, 0))
  let at = 0
  for (const { good } of pieces) for (let i = 0; i < good.length; i++) all[at++] = good[i]
  return all
}

/** The inputs of a run, and the rows that have no place in them. */
interface Filled {
  readonly feeds: Record<string, Value>
  readonly isBatched: boolean
  readonly bad: ReadonlyMap<number, NodewiseError>
}

/** How the first row that can be computed fills an input; those before it are told when it is their turn. */
function shapeOfFirst(input: MappedInput, first: Batch, pad: number | string | undefined): RowShape | undefined {
  for (let row = 0; row < Math.min(LOOKED_AT, first.rows); row++) {
    try {
      const { shape } = tensorOf(input, sliceBatch(first, row, row + 1), pad)
      if (shape) return shape
    } catch (error) {
      if (!(error instanceof NodewiseError)) throw error
    }
  }
  return undefined
}
