import { Refusal } from '../refusal.ts'
import type { PlainTensor } from './datatypes.ts'
import { isCoded } from './json.ts'

/**
 * The `count` greatest elements of each row, as the classification extension has them: strings `value:index`. All dims
 * but the first are one row; a tensor of one dim is a row.
 * @throws Refusal `bad-request` for elements that are no numbers
 */
export function classesOf(name: string, { type, dims, data }: PlainTensor, count: number): PlainTensor {
  if (Array.isArray(data) || type === 'bool' || isCoded(type))
    throw new Refusal('bad-request', `output "${name}" of type ${type} has no classes`)
  const rows = dims.length < 2 ? 1 : dims[0]
  const size = rows === 0 ? 0 : data.length / rows
  const kept = Math.min(count, size)
  const classes: string[] = []
  for (let row = 0; row < rows; row++) {
    const values: (number | bigint)[] = [...data.slice(row * size, (row + 1) * size)]
    const order = values.map((_, i) => i).sort((a, b) => compared(values[b], values[a]) || a - b)
    for (const i of order.slice(0, kept)) classes.push(`${values[i]}:${i}`)
  }
  return { type: 'string', dims: dims.length < 2 ? [kept] : [rows, kept], data: classes }
}

/** NaN is less than all else: an order needs it to have a place. */
const compared = (a: number | bigint, b: number | bigint): number =>
  a < b ? -1 : a > b ? 1 : Number(Number.isNaN(b)) - Number(Number.isNaN(a))
