import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { serialize } from 'node:v8'
import { InferenceSession, NodewiseError } from 'nodewise'
import { ErrorsFile } from './errors-file.ts'
import type { BadRow } from './feeds.ts'
import { readTable, writeTable } from './formats/formats.ts'
import { formatOfBytes, formatOfName, formatOfText, type Input, openInput } from './formats/input.ts'
import { badUsage, mapInputs } from './mapping.ts'
import type { Progress, ScoreOptions, ScoreResult } from './options.ts'
import { mapOutputs, type MappedOutput } from './outputs.ts'
import { joinScored, type Scored, Scorer } from './scorer.ts'
import {
  type Batch,
  type Field,
  type Format,
  plainColumn,
  sliceBatch,
  type TableReader,
  type TableWriter,
  takeRows
} from './table.ts'
import { type Checkpoint, functionTarget, openFileTarget, readCheckpoint, type Target } from './target.ts'

/**
 * Runs a model over the rows of a table and appends its outputs as columns. Memory is bounded by a batch. A file is
 * whole under its name, or not there: until then it stands beside it as `.part`, from which `resume` goes on.
 * @throws NodewiseError (as a rejection) what opening a model, a table and a run throw; `bad-usage` for options that do
 *   not fit them. Its `details.row` is the row that ended it
 */
export async function score(options: ScoreOptions): Promise<ScoreResult> {
  const { from, to } = options
  const errors = errorsPath(options)
  const isSame = (path: unknown, other: unknown): boolean =>
    typeof path === 'string' && typeof other === 'string' && resolve(path) === resolve(other)
  if (isSame(from, to)) badUsage('the result cannot take the place of its table while that is read')
  if (isSame(from, errors)) badUsage('the rows that fail cannot take the place of the table while that is read')
  if (isSame(to, errors)) badUsage('the rows that fail and the others need a file each')
  if (options.resume === true && (typeof to !== 'string' || typeof from !== 'string'))
    badUsage('--resume goes on with a file from a file, not with a stream')
  const input = await openInput(from)
  try {
    const session = await InferenceSession.create(options.model, sessionOptions(options))
    return await scoreTable(session, input, options)
  } finally {
    await input.close()
  }
}

const sessionOptions = ({ threads, maxMemory, ops }: ScoreOptions): object => ({
  ...(threads !== undefined && { threads }),
  ...(maxMemory !== undefined && { maxMemory }),
  ...(ops && { ops })
})

async function scoreTable(session: InferenceSession, input: Input, options: ScoreOptions): Promise<ScoreResult> {
  const { to } = options
  const fromFormat =
    options.fromFormat ??
    formatOfBytes(input.head) ??
    formatOfName(input.name) ??
    formatOfText(input) ??
    noFormat(input)
  const toFormat = options.toFormat ?? (typeof to === 'string' ? formatOfTarget(to) : streamed(fromFormat))
  const checkpoint =
    options.resume === true && typeof to === 'string' ? await readCheckpoint(to, questionOf(input, options)) : undefined
  const reader = await readTable(fromFormat, input, checkpoint?.read ?? 0)
  const target = await targetOf(to, checkpoint).catch(async (error: unknown) => {
    await reader.close()
    throw error
  })
  try {
    const batches = reader.batches()[Symbol.asyncIterator]()
    const first = await batches.next()
    const scorer = new Scorer(
      session,
      mapInputs(session, reader.fields, options),
      options,
      first.value as Batch | undefined
    )
    const kept = keptColumns(reader.fields, options)
    const keptFields = kept.map(i => reader.fields[i])
    const outputs = mapOutputs(session, keptFields, options, scorer.isBatched)
    scorer.setOutputs(outputs)
    const fields = [...keptFields, ...outputs.map(({ field }) => field)]
    const all = kept.length === reader.fields.length ? kept.length : 0
    const writer = await writeTable(toFormat, target, {
      fields,
      kept: all,
      rows: checkpoint?.written ?? 0,
      state: checkpoint?.state
    })
    const errors = new ErrorsFile(errorsPath(options), reader.fields, checkpoint?.errorBytes ?? 0)
    await errors.begin()
    const job = { reader, writer, target, errors, outputs, kept, all, options, input }
    const done = { rows: checkpoint?.read ?? 0, failed: checkpoint?.failed ?? 0, written: checkpoint?.written ?? 0 }
    await scoreRows(scorer, startingWith(first, batches), job, done)
    await writer.end()
    await target.complete(toFormat === 'arrow' ? (await import('./formats/arrow.ts')).fileOfStream : undefined)
    const columns = fields.map(({ name }) => name)
    return { rows: done.rows, failed: done.failed, columns, resumed: checkpoint?.read ?? 0 }
  } catch (error) {
    await target.abandon()
    throw withAdvice(error, target)
  } finally {
    await reader.close()
  }
}

const targetOf = async (to: ScoreOptions['to'], from: Checkpoint | undefined): Promise<Target> =>
  typeof to === 'string' ? openFileTarget(to, from) : functionTarget(to)

/** What is needed to score rows. */
interface Job {
  readonly reader: TableReader
  readonly writer: TableWriter
  readonly target: Target
  readonly errors: ErrorsFile
  readonly outputs: readonly MappedOutput[]
  readonly kept: readonly number[]
  /** Columns of the table where all are kept, else none. */
  readonly all: number
  readonly options: ScoreOptions
  readonly input: Input
}

async function* startingWith<T>(first: IteratorResult<T>, rest: AsyncIterator<T>): AsyncGenerator<T> {
  for (let next = first; next.done !== true; next = await rest.next()) yield next.value
}

async function scoreRows(
  scorer: Scorer,
  batches: AsyncIterable<Batch>,
  job: Job,
  done: { rows: number; failed: number; written: number }
): Promise<void> {
  const { writer, target, errors, options } = job
  const question = questionOf(job.input, options)
  try {
    for await (const batch of batches) {
      const scored = await scoreBatch(scorer, batch, job, done)
      const first = done.rows - batch.rows
      await errors.write(batch, scored.bad, first)
      const result = resultOf(batch, scored, job)
      await writer.write(result)
      done.written += result.rows
      // Between batches, so that who goes on from here has the same batches.
      if (writer.written === done.written)
        await target.checkpoint(() => ({
          question,
          read: done.rows,
          written: done.written,
          failed: done.failed,
          errorBytes: errors.bytes,
          state: writer.state()
        }))
    }
  } finally {
    await errors.close()
  }
}

/** Computes a batch in as many runs as it takes. */
async function scoreBatch(
  scorer: Scorer,
  batch: Batch,
  { reader, options }: Job,
  done: { rows: number; failed: number; written: number }
): Promise<Scored> {
  const pieces: Scored[] = []
  for (let begin = 0; begin < batch.rows; begin += scorer.rowsPerRun) {
    if (options.signal?.aborted === true)
      throw new NodewiseError('aborted', 'it was stopped', {}, {}, { cause: options.signal.reason })
    const part = sliceBatch(batch, begin, Math.min(batch.rows, begin + scorer.rowsPerRun))
    const { good, columns, bad } = await scorer.score(part)
    if ((options.onError ?? 'fail') === 'fail' && bad.length > 0) refuseRow(bad[0], done.rows)
    pieces.push({
      good: begin === 0 ? good : shifted(good, begin),
      columns,
      bad: begin === 0 ? bad : bad.map(({ row, error }) => ({ row: begin + row, error }))
    })
    done.rows += part.rows
    done.failed += bad.length
    options.onProgress?.(progressOf(reader, done))
  }
  return joinScored(pieces)
}

function shifted(rows: readonly number[], by: number): number[] {
  const all = new Array<number>(rows.length)
  for (let i = 0; i < rows.length; i++) all[i] = rows[i] + by
  return all
}

function progressOf(reader: TableReader, { rows, failed }: { rows: number; failed: number }): Progress {
  const fraction = reader.fraction()
  return {
    rows,
    failed,
    ...(reader.rows !== undefined && { total: reader.rows }),
    ...(fraction !== undefined && { fraction })
  }
}

/** The rows of the result: those of the table that are kept, with the outputs. */
function resultOf(part: Batch, { good, columns, bad }: Scored, { options, kept, all, outputs }: Job): Batch {
  const isSkipped = bad.length > 0 && options.onError === 'skip'
  const rows = isSkipped ? takeRows(part, good) : part
  const added =
    bad.length === 0 || isSkipped
      ? columns
      : outputs.map((_, i) => {
          const cells = new Array<unknown>(part.rows).fill(null)
          if (good.length > 0)
            good.forEach((row, at) => {
              cells[row] = columns[i].cells[at]
            })
          return plainColumn(cells)
        })
  return {
    rows: rows.rows,
    columns: [...kept.map(i => rows.columns[i]), ...added],
    ...(all > 0 && rows.lines && { lines: rows.lines })
  }
}

function refuseRow({ row, error }: BadRow, firstRow: number): never {
  throw new NodewiseError(
    error.code,
    `row ${firstRow + row}: ${error.reason} (--on-error skip or null goes on without such rows)`,
    error.place,
    { ...error.details, row: firstRow + row },
    { cause: error }
  )
}

function withAdvice(error: unknown, { isKept }: Target): unknown {
  if (!isKept || !(error instanceof NodewiseError)) return error
  const { code, reason, place, details } = error
  return new NodewiseError(code, `${reason}; --resume goes on from the rows that are done`, place, details, {
    cause: error
  })
}

function keptColumns(fields: readonly Field[], { keep }: ScoreOptions): number[] {
  const names = fields.map(({ name }) => name)
  const missing = keep?.find(name => !names.includes(name))
  if (missing !== undefined) badUsage(`--keep: there is no column "${missing}"; the table has ${names.join(', ')}`)
  return fields.flatMap(({ name }, i) => (keep === undefined || keep.includes(name) ? [i] : []))
}

const noFormat = ({ name }: Input): never =>
  badUsage(`what kind of table ${name} is, neither its name nor its first bytes tell; say it with --from-format`)

const formatOfTarget = (path: string): Format =>
  formatOfName(path) ??
  badUsage(`${path}: a table is written as .parquet, .arrow, .arrows (a stream), .ndjson or .csv; or say --to-format`)

/** The format of a stream: what can be written without going back. */
const streamed = (format: Format): Format => (format === 'arrow' ? 'arrow-stream' : format)

const errorsPath = ({ errors, to, onError = 'fail' }: ScoreOptions): string | undefined =>
  errors ?? (onError !== 'fail' && typeof to === 'string' ? `${to}.errors.ndjson` : undefined)

/** What is asked for, in one line: the table as it is now, the model, and all that changes the result. */
function questionOf({ path, size }: Input, options: ScoreOptions): string {
  const { model, map, as, outputs, keep, feeds = {}, batch, pad, onError, toFormat } = options
  return JSON.stringify([
    path && resolve(path),
    size,
    changeOf(path),
    model,
    changeOf(model),
    map,
    as,
    outputs,
    keep,
    digestOf(feeds),
    batch,
    pad,
    onError,
    toFormat
  ])
}

/** When a file was last changed; a stream and a URL say 0. */
const changeOf = (path: string | undefined): number =>
  (path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })?.mtimeMs) ?? 0

/** What tells values from others. */
const digestOf = (feeds: NonNullable<ScoreOptions['feeds']>): string =>
  createHash('sha256').update(serialize(feeds)).digest('base64')
