import type { FileHandle } from 'node:fs/promises'
import type { ColumnMetaData, SchemaTree } from 'hyparquet'
import { NodewiseError } from 'nodewise'
import { concatPacked, newNumbers, type Packed, type PackedLists, slicePacked } from '../packed.ts'
import { PageReader } from './parquet-page-reader.ts'
import type { Leaf, Page } from './parquet-pages.ts'

const broken = (why: string): never => {
  throw new NodewiseError('invalid-file', `this is no Parquet that can be read: ${why}`)
}

/** How a column that is read page by page lies in the file. */
export interface FlatColumn {
  readonly leaf: Leaf
  /** Names down to the leaf. */
  readonly path: readonly string[]
  /** Definition levels of a list that is there, and of an item; undefined where cells are no lists. */
  readonly list?: { readonly there: number; readonly item: number }
}

/**
 * Says how a column is read page by page: one of single cells, or of lists of those. Undefined for others, and for
 * those whose cells mean what arrays cannot hold.
 */
export function flatColumn(node: SchemaTree): FlatColumn | undefined {
  const { element, children } = node
  const own = element.repetition_type === 'OPTIONAL' ? 1 : 0
  if (element.repetition_type === 'REPEATED') return undefined
  if (children.length === 0) {
    if (element.type === 'INT96') return undefined
    return { leaf: { element, maxDefinition: own, maxRepetition: 0 }, path: node.path }
  }
  if (element.converted_type !== 'LIST' && element.logical_type?.type !== 'LIST') return undefined
  const [repeated] = children
  if (children.length !== 1 || repeated.element.repetition_type !== 'REPEATED') return undefined
  const item = repeated.children.length === 1 ? repeated.children[0] : repeated
  const isLeaf = item.children.length === 0 && (item === repeated || item.element.repetition_type !== 'REPEATED')
  if (!isLeaf || item.element.type === 'INT96') return undefined
  const there = own + 1
  const maxDefinition = there + (item !== repeated && item.element.repetition_type === 'OPTIONAL' ? 1 : 0)
  return {
    leaf: { element: item.element, maxDefinition, maxRepetition: 1 },
    path: item.path,
    list: { there: own, item: there }
  }
}

/** Reads a column of a row group, page by page: what is not asked for yet is not in memory. */
export class ColumnCursor {
  readonly #pages: PageReader
  readonly #column: FlatColumn
  /** Rows that have been decoded and not taken. */
  #pieces: Packed[] = []
  #rows = 0

  /** @param size of the file @throws NodewiseError `invalid-file` for a column that is not in it */
  constructor(file: FileHandle, size: number, column: FlatColumn, metadata: ColumnMetaData) {
    this.#pages = new PageReader(file, size, column.leaf, metadata)
    this.#column = column
  }

  /**
   * The next rows.
   * @throws NodewiseError `invalid-file` where there are fewer
   */
  async take(rows: number): Promise<Packed> {
    // The last row of lists goes on in the next page until another row begins.
    const wanted = this.#column.list ? rows + 1 : rows
    while (this.#rows < wanted) {
      const page = await this.#pages.next()
      if (!page) break
      this.#keep(page)
    }
    if (this.#rows < rows) broken('a column ends too early')
    const taken: Packed[] = []
    for (let missing = rows; missing > 0;) {
      const [piece] = this.#pieces
      const count = Math.min(missing, piece.rows)
      taken.push(count === piece.rows ? piece : slicePacked(piece, 0, count))
      if (count === piece.rows) this.#pieces.shift()
      else this.#pieces[0] = slicePacked(piece, count, piece.rows)
      missing -= count
    }
    this.#rows -= rows
    return concatPacked(taken)
  }

  #keep(page: Page): void {
    const { leaf, list } = this.#column
    if (!list) {
      const piece = spread(page.cells, page.definition, leaf.maxDefinition)
      this.#pieces.push(piece)
      this.#rows += piece.rows
      return
    }
    const { lists, goesOn } = listsOf(page, leaf, list)
    const last = goesOn ? this.#pieces.pop() : undefined
    if (goesOn && !last) broken('a page goes on with a row that none has begun')
    this.#rows += lists.rows - (last ? 1 : 0)
    this.#pieces.push(last ? joined(last as PackedLists, lists) : lists)
  }
}

/** Cells with a place for those that are null. */
function spread(cells: Packed, levels: Uint8Array | undefined, there: number): Packed {
  if (!levels) return cells
  const rows = levels.length
  const valid = new Uint8Array(rows)
  for (let row = 0; row < rows; row++) valid[row] = levels[row] === there ? 1 : 0
  if ('values' in cells) {
    const values = newNumbers(cells.values, rows)
    for (let row = 0, at = 0; row < rows; row++) if (valid[row] === 1) values[row] = cells.values[at++]
    return { kind: cells.kind, rows, valid, values }
  }
  const offsets = new Int32Array(rows + 1)
  offsets[0] = cells.offsets[0]
  for (let row = 0, at = 0; row < rows; row++) offsets[row + 1] = cells.offsets[valid[row] === 1 ? ++at : at]
  return cells.kind === 'lists'
    ? { kind: 'lists', rows, valid, offsets, items: cells.items }
    : { kind: cells.kind, rows, valid, offsets, bytes: cells.bytes }
}

/** The lists of a page, and whether the first goes on with the last of the page before. */
function listsOf(
  { cells, definition, repetition }: Page,
  { maxDefinition }: Leaf,
  { there, item }: { readonly there: number; readonly item: number }
): { lists: PackedLists; goesOn: boolean } {
  const starts = repetition ?? new Uint8Array(cells.rows)
  const count = starts.length
  const goesOn = count > 0 && starts[0] > 0
  let rows = goesOn ? 1 : 0
  for (const level of starts) if (level === 0) rows++
  const offsets = new Int32Array(rows + 1)
  const valid = new Uint8Array(rows).fill(1)
  // Levels of the items that there are: those of lists that are empty or null stand for none.
  const levels = definition && new Uint8Array(count)
  let [row, items] = [goesOn ? 0 : -1, 0]
  for (let i = 0; i < count; i++) {
    if (starts[i] === 0) offsets[++row] = items
    const level = definition ? definition[i] : maxDefinition
    if (level < there) valid[row] = 0
    if (level < item) continue
    if (levels) levels[items] = level
    items++
  }
  offsets[rows] = items
  return {
    goesOn,
    lists: {
      kind: 'lists',
      rows,
      valid: valid.includes(0) ? valid : undefined,
      offsets,
      items: spread(
        cells,
        levels?.subarray(0, items).some(level => level < maxDefinition) === true
          ? levels.subarray(0, items)
          : undefined,
        maxDefinition
      )
    }
  }
}

/** The rows of two pages, of which the last and the first are one. */
function joined(before: PackedLists, after: PackedLists): PackedLists {
  const { offsets, items, valid } = concatPacked([before, after]) as PackedLists
  const place = before.rows
  const rows = before.rows + after.rows - 1
  const kept = new Int32Array(rows + 1)
  kept.set(offsets.subarray(0, place))
  kept.set(offsets.subarray(place + 1), place)
  return {
    kind: 'lists',
    rows,
    offsets: kept,
    items,
    valid: valid && Uint8Array.from([...valid.subarray(0, place), ...valid.subarray(place + 1)])
  }
}
