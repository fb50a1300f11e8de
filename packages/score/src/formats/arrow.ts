import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import {
  type Field as ArrowField,
  type AsyncRecordBatchStreamReader,
  type Data,
  type DataType,
  makeData,
  makeVector,
  RecordBatch,
  RecordBatchFileWriter,
  RecordBatchReader,
  Schema,
  Struct,
  Table,
  tableToIPC,
  type Vector,
  vectorFromArray
} from 'apache-arrow'
import { NodewiseError } from 'nodewise'
import { type Packed, takePacked } from '../packed.ts'
import {
  type Batch,
  type Column,
  type Field,
  lazy,
  packedColumn,
  plainColumn,
  type Sink,
  type TableReader,
  type TableWriter
} from '../table.ts'
import { addCodecs } from './arrow-compression.ts'
import { dataOfPacked, packedOfVector } from './arrow-packed.ts'
import { takeData } from './arrow-take.ts'
import { arrowField, columnType, numberReader, plainField, plainVector } from './arrow-types.ts'
import { formatOfBytes, type Input } from './input.ts'

addCodecs()

/**
 * Reads Arrow IPC, a file or a stream, batch by batch; bodies may be compressed by LZ4 or Zstandard.
 * @throws NodewiseError `invalid-file` for bytes that are no such thing, `limit-exceeded` for buffers that unpack to
 *   more than a gigabyte
 */
export async function readArrow(input: Input, skip: number): Promise<TableReader> {
  const file = input.path === undefined ? await fileInMemory(input) : await open(input.path)
  const guard = file && new ReadGuard(file)
  const { reader, fields } = await attempt(
    async () => {
      // Its declarations do not know what it takes for a file.
      const source = (guard ?? input.stream()) as unknown as ReturnType<Input['stream']>
      const reader = (await (await RecordBatchReader.from(source)).open()) as AsyncReader
      return { reader, fields: reader.schema.fields.map(fieldOf) }
    },
    () => guard?.close()
  )
  let read = 0
  return {
    fields,
    fraction: () => (input.size === undefined ? undefined : Math.min(1, read / input.size)),
    async close() {
      await guard?.close()
      await input.close()
    },
    async *batches() {
      let row = 0
      for (;;) {
        guard?.begin()
        const batch = await attempt(async () => {
          const { value, done } = await reader.next()
          if (done === true) return undefined
          read += value.data.byteLength
          const begin = Math.min(value.numRows, Math.max(0, skip - row))
          row += value.numRows
          return batchOf(value.slice(begin), fields)
        })
        if (batch === undefined) return
        if (batch.rows > 0) yield batch
      }
    }
  }
}

const fieldOf = (field: ArrowField): Field => ({
  name: field.name,
  type: columnType(field.type as DataType),
  arrow: plainField(field)
})

/** What apache-arrow reads of a file. */
type ReadFile = Pick<FileHandle, 'close'> & {
  stat(): Promise<{ readonly size: number }>
  read(to: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>
}

/** A file that comes as a stream: it is read from its end, so that all of it is held. Undefined for another stream. */
async function fileInMemory(input: Input): Promise<ReadFile | undefined> {
  if (formatOfBytes(input.head) !== 'arrow') return undefined
  const bytes = Buffer.concat((await input.stream().toArray()) as Uint8Array[])
  return {
    stat: async () => ({ size: bytes.length }),
    read: async (to, offset, length, position) => ({ bytesRead: bytes.copy(to, offset, position, position + length) }),
    close: async () => undefined
  }
}

/**
 * A file for apache-arrow. Where a batch is marked as a schema, its reader begins anew and reads the same bytes without
 * end; here reading them ends.
 */
class ReadGuard implements ReadFile {
  readonly #file: ReadFile
  #size = Infinity
  #left = Infinity
  /** By this apache-arrow knows a file; it does not use it. */
  readonly fd = 0

  constructor(file: ReadFile) {
    this.#file = file
  }

  /** From here on all of the file may be read, and what it begins with once more. */
  begin(): void {
    this.#left = 2 * this.#size
  }

  async stat(): Promise<{ readonly size: number }> {
    const { size } = await this.#file.stat()
    this.#size = size
    this.begin()
    return { size }
  }

  async read(to: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }> {
    this.#left -= length
    if (this.#left < 0) throw new Error('the same bytes are read again and again')
    return this.#file.read(to, offset, length, position)
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}

/** Files and streams are read by readers of other classes, which have this in common. */
type AsyncReader = Pick<AsyncRecordBatchStreamReader, 'schema' | 'next'>

async function attempt<T>(action: () => Promise<T>, otherwise?: () => Promise<void> | undefined): Promise<T> {
  try {
    return await action()
  } catch (error) {
    await otherwise?.()
    if (error instanceof NodewiseError) throw error
    throw new NodewiseError('invalid-file', `this is no Arrow IPC that can be read: ${(error as Error).message}`)
  }
}

function batchOf(batch: RecordBatch, fields: readonly Field[]): Batch {
  const columns = fields.map((_, i) => vectorColumn(plainVector(batch.getChildAt(i) as Vector)))
  return { rows: batch.numRows, columns }
}

function vectorColumn(vector: Vector): Column {
  const cells = lazy(() => cellsOf(vector))
  const packed = lazy(() => packedOfVector(vector))
  return {
    get cells() {
      return cells()
    },
    get packed() {
      return packed()
    },
    vector,
    slice: (begin, end) => vectorColumn(vector.slice(begin, end)),
    take: rows => {
      if (packed()) return packedColumn(takePacked(packed() as Packed, rows))
      // Cells as JavaScript has them would lose the digits of times below a millisecond, and what decimals are.
      const taken = vector.data.length === 1 ? takeData(vector.data[0] as Data, rows) : undefined
      return taken ? vectorColumn(makeVector(taken as never)) : plainColumn(rows.map(row => cells()[row]))
    }
  }
}

/** Numbers as a typed array where none is missing; lists as arrays of their elements. */
function cellsOf(vector: Vector): ArrayLike<unknown> {
  const { kind } = columnType(vector.type as DataType)
  const read = numberReader(vector.type as DataType)
  if (read) return Array.from(vector, cell => (cell === null ? null : read(cell)))
  if (kind === 'number' && vector.nullCount === 0) return vector.toArray() as ArrayLike<unknown>
  if (kind !== 'date' && kind !== 'timestamp') return Array.from(vector, plainCell)
  return Array.from(vector, time => (time === null ? null : new Date(Math.floor(Number(time)))))
}

function plainCell(cell: unknown): unknown {
  if (cell === null || typeof cell !== 'object') return cell ?? null
  if (ArrayBuffer.isView(cell) || cell instanceof Date) return cell
  return isVector(cell) ? listOf(cell) : (cell as { toJSON(): unknown }).toJSON()
}

/** The elements of a list; those of bytes as an array, since a Uint8Array is a cell of bytes. */
function listOf(vector: Vector): unknown {
  const cells = cellsOf(vector)
  return cells instanceof Uint8Array ? Array.from(cells) : cells
}

const isVector = (cell: object): cell is Vector => 'nullCount' in cell && 'toArray' in cell

/** Writes an Arrow stream: a schema, batches, an end. */
export function writeArrowStream(sink: Sink, fields: readonly Field[], alreadyWritten: number): TableWriter {
  const declared = fields.map(arrowField)
  const schema = new Schema(declared)
  const header = withoutEnd(tableToIPC(new Table(schema), 'stream'))
  let written = alreadyWritten
  let isBegun = sink.bytes > 0
  const begin = async (): Promise<void> => {
    if (!isBegun) await sink.write(header)
    isBegun = true
  }
  return {
    get written() {
      return written
    },
    state: () => null,
    async write({ rows, columns }) {
      await begin()
      const children = columns.map((column, i) => dataOf(column, declared[i]))
      const data = makeData({ type: new Struct(declared), length: rows, nullCount: 0, children })
      const bytes = tableToIPC(new Table([new RecordBatch(schema, data)]), 'stream')
      await sink.write(withoutEnd(bytes).subarray(header.length))
      written += rows
    },
    async end() {
      await begin()
      await sink.write(END)
    }
  }
}

/** What ends a stream: the mark of a message, of no bytes. */
const END = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)
const withoutEnd = (stream: Uint8Array): Uint8Array => stream.subarray(0, stream.length - END.length)

function dataOf(column: Column, { type }: ArrowField): RecordBatch['data'] {
  const { vector, packed } = column
  if (vector) return vector.data[0] as RecordBatch['data']
  const data = packed && dataOfPacked(packed, type as DataType)
  return (data ?? vectorFromArray(column.cells as readonly unknown[], type).data[0]) as RecordBatch['data']
}

/** Makes an Arrow file of a stream, batch by batch, in its place: a footer says where its batches are. */
export async function fileOfStream(path: string): Promise<void> {
  const [from, target] = [await open(path), `${path}.file`]
  try {
    const to = await open(target, 'w')
    try {
      // Its declaration does not say that a writer fed by a file is promised.
      const promised: unknown = RecordBatchFileWriter.writeAll(await RecordBatchReader.from(from))
      const writer = (await promised) as AsyncIterable<Uint8Array>
      for await (const bytes of writer) await to.write(bytes)
      await to.sync()
    } finally {
      await to.close()
    }
    await rename(target, path)
  } catch (error) {
    await rm(target, { force: true })
    throw error
  } finally {
    await from.close()
  }
}
