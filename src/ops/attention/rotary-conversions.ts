import { asHeads, besideEachOther, rotated, sizeOf } from '../../op-kit/conversion-attention.ts'
import { gathered, joined, squeezed, unsqueezed, upTo } from '../../op-kit/conversion-kit.ts'
import { add, part, widened } from '../../op-kit/conversion-parts.ts'
import { counted, sizeAt } from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  dimsOf,
  expands,
  knownSizes,
  type Made,
  rankOf,
  type SourceCall,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { positionRotary } from './position-rotary.ts'
import { rotaryEmbedding } from './rotary-embedding.ts'

/** Rotates the heads of an input of rank 3 or 4 by tables for each token, `[batch or 1, rows, half]`. */
function rotate(call: SourceCall, w: Writer, heads: number, tables: readonly Made[]): readonly Made[] {
  const x = call.operand('x')
  const wide = widened(w, x)
  const half = sizeOf(tables[0])
  const [cos, sin] = tables.map(table => unsqueezed(w, table, [1]))
  const own = rankOf(x) === 4 ? wide : asHeads(w, wide, heads)
  const y = rotated(w, own, { cos, sin, half, interleaved: call.param('interleaved') })
  return [w.cast(rankOf(x) === 4 ? y : besideEachOther(w, y), typeOf(x))]
}

/** Tables by position, where each token may have three, each for a section of the columns. */
function expandByPosition(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const rows = sizeAt(w, x, rankOf(x) === 4 ? 2 : 1)
  const given = w.cast(call.operand('positions'), 'int64')
  const half = sizeOf(call.operand('cos'))
  const positions = rankOf(given) === 1 ? unsqueezed(w, add(w, given, counted(w, 0, rows)), [0]) : given
  const sections = call.param<readonly number[] | undefined>('sections')
  const tables = ['cos', 'sin'].map(name => {
    const table = gathered(w, call.operand(name), positions, 0)
    return sections ? bySection(w, table, sections, call.param('alternates')) : table
  })
  return rotate(call, w, headsOf(call, half), tables)
}

function headsOf(call: SourceCall, half: number): number {
  const heads = call.param<number>('heads')
  if (heads > 0 || rankOf(call.operand('x')) === 4) return heads
  const [columns] = knownSizes('the number of heads', dimsOf(call.operand('x')).at(-1))
  return columns / (2 * half)
}

/** `[3, batch, rows, half]`: each column from the table of its position. */
function bySection(w: Writer, tables: Made, [time, height, width]: readonly number[], alternates: boolean): Made {
  const half = time + height + width
  const streamOf = (column: number): number => {
    if (!alternates) return column < time ? 0 : column < time + height ? 1 : 2
    if (column % 3 === 1 && column < 3 * height) return 1
    return column % 3 === 2 && column < 3 * width ? 2 : 0
  }
  const columns = upTo(half).map(column => {
    const stream = streamOf(column)
    return part(w, part(w, tables, 0, stream, stream + 1), 3, column, column + 1)
  })
  return squeezed(w, joined(w, columns, 3), [0])
}

/** RotaryEmbedding of ONNX: tables by position, or for each token. */
function expandRotary(call: SourceCall, w: Writer): readonly Made[] {
  const positions = call.optional('positions')
  const tables = ['cos', 'sin'].map(name =>
    positions ? gathered(w, call.operand(name), positions, 0) : call.operand(name)
  )
  return rotate(call, w, call.param<number | undefined>('heads') ?? 1, tables)
}

/** Rotations by position. */
export const rotaryRules: readonly Conversion[] = [
  ...expands(positionRotary, expandByPosition),
  ...expands(rotaryEmbedding, expandRotary)
]
