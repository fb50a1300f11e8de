import type { FileHandle } from 'node:fs/promises'
import type { DecodedArray, RowGroup, SchemaTree } from 'hyparquet'
import { assembleLists, assembleNested } from 'hyparquet/src/assemble.js'
import { getMaxDefinitionLevel, getMaxRepetitionLevel, getTreePath } from 'hyparquet/src/schema.js'
import { NodewiseError } from 'nodewise'
import { cellsOfPacked, type Packed } from '../packed.ts'
import { PageReader } from './parquet-page-reader.ts'
import { meantBy, parsersOf } from './parquet-types.ts'

/** The cells of a row group in a column with columns inside, or of a type that arrays do not hold, one by one. */
export async function nestedColumn(
  handle: FileHandle,
  size: number,
  node: SchemaTree,
  group: RowGroup
): Promise<readonly unknown[]> {
  const root = { element: { name: 'root' }, children: [node], path: [], count: 0 } as unknown as SchemaTree
  const columns = new Map<string, DecodedArray>()
  for (const leaf of leavesOf(node)) {
    const schemaPath = getTreePath(root, [...leaf.path])
    const metadata = group.columns.find(({ meta_data: meta }) => String(meta?.path_in_schema) === String(leaf.path))
    if (!metadata?.meta_data)
      throw new NodewiseError('invalid-file', `Parquet without the column ${leaf.path.join('.')}`)
    const { element } = leaf
    const maxDefinition = getMaxDefinitionLevel(schemaPath)
    const levels = { element, maxDefinition, maxRepetition: getMaxRepetitionLevel(schemaPath) }
    const pages = new PageReader(handle, size, levels, metadata.meta_data)
    const cells: unknown[] = []
    for (let page = await pages.next(); page; page = await pages.next()) {
      const values = meantBy(plainCells(page.cells, element.type === 'INT96'), element, schemaPath)
      const definition = Array.from(page.definition ?? new Uint8Array(page.places).fill(maxDefinition))
      const repetition = Array.from(page.repetition ?? [])
      const rows = assembleLists(cells, maxDefinition === 0 ? undefined : definition, repetition, values, schemaPath)
      // Cells without levels are given back, and not put behind the others.
      if (rows !== cells) for (const cell of rows) cells.push(cell)
    }
    columns.set(leaf.path.join('.'), cells)
  }
  assembleNested(columns, node, parsersOf(node.element))
  return (columns.get(node.path.join('.')) ?? []) as readonly unknown[]
}

/** Columns without others inside. */
export const leavesOf = (node: SchemaTree): SchemaTree[] =>
  node.children.length === 0 ? [node] : node.children.flatMap(leavesOf)

/** Cells as the library has them before it says what they mean: times of 96 bits as numbers. */
function plainCells(packed: Packed, isTime: boolean): DecodedArray {
  const cells = cellsOfPacked(packed.kind === 'texts' ? { ...packed, kind: 'binary' } : packed) as DecodedArray
  if (!isTime) return cells
  return Array.from(cells as ArrayLike<Uint8Array>, ({ buffer, byteOffset }) => {
    const view = new DataView(buffer, byteOffset, 12)
    return (BigInt(view.getInt32(8, true)) << 64n) | view.getBigInt64(0, true)
  })
}
