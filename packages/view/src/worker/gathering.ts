import { isTensor, type Tensor, type Value } from 'nodewise'
import type { Flat } from './flatten.ts'
import { numbersOf } from './numbers.ts'
import { portsOf } from './ports.ts'

/** What a gather did: the rows of its table that it chose. */
export interface GatherView {
  readonly axis: number
  /** Rows along the axis. */
  readonly size: number
  /** The first of the indices, negative ones counted from the end. */
  readonly indices: readonly number[]
  readonly count: number
  /** How often the rows of each of up to 128 equal parts of the axis were chosen. */
  readonly picks: readonly number[]
  /** Rows around the chosen ones, with their first elements: what a person sees of the table. */
  readonly rows: readonly { readonly index: number; readonly times: number; readonly values: readonly number[] }[]
}

const MAX = { indices: 256, rows: 24, columns: 12, parts: 128 } as const

/** The rows that a gather of the last run chose; undefined for what is no gather along an axis with known operands. */
export function gatherView(flat: Flat, values: ReadonlyMap<number, Value>, record: number): GatherView | undefined {
  const node = flat.nodes[record]
  if (node?.type !== 'Gather') return undefined
  const [data, indices, third] = portsOf(flat.inputs, record).map(index => tensorOf(flat, values, index))
  if (!data || !indices) return undefined
  const given = node.dialect === 'onnx' ? axisOf(node.attributes.get('axis')) : Number(third?.data[0] ?? 0)
  const axis = given < 0 ? given + data.dims.length : given
  const size = data.dims[axis] ?? 0
  const all = Array.from(numbersOf(indices) ?? [], index => (index < 0 ? index + size : index))
  const picks = new Array<number>(Math.max(1, Math.min(MAX.parts, size))).fill(0)
  const times = new Map<number, number>()
  for (const index of all) {
    if (index < 0 || index >= size) continue
    picks[Math.floor((index / size) * picks.length)]++
    times.set(index, (times.get(index) ?? 0) + 1)
  }
  return {
    axis,
    size,
    indices: all.slice(0, MAX.indices),
    count: all.length,
    picks,
    rows: rowsOf(data, axis, size, times)
  }
}

const axisOf = (attribute: { readonly kind: string; readonly value: unknown } | undefined): number =>
  attribute?.kind === 'int' ? Number(attribute.value) : 0

function tensorOf(flat: Flat, values: ReadonlyMap<number, Value>, index: number | undefined): Tensor | undefined {
  if (index === undefined) return undefined
  const value = values.get(index) ?? flat.constants.get(index)?.read()
  return value && isTensor(value) ? value : undefined
}

/** The chosen rows and those next to them, in order, as far as there is room. */
function rowsOf(data: Tensor, axis: number, size: number, times: ReadonlyMap<number, number>): GatherView['rows'] {
  const wanted = new Set<number>()
  for (const index of [...times.keys()].sort((a, b) => a - b))
    for (const near of [index - 1, index, index + 1])
      if (near >= 0 && near < size && wanted.size < MAX.rows) wanted.add(near)
  const numbers = numbersOf(data) ?? []
  const inner = data.dims.slice(axis + 1).reduce((product, dim) => product * dim, 1)
  return [...wanted]
    .sort((a, b) => a - b)
    .map(index => ({
      index,
      times: times.get(index) ?? 0,
      values: Array.from({ length: Math.min(inner, MAX.columns) }, (_, i) => numbers[index * inner + i])
    }))
}
