import type { Finding } from '../graph/graph.ts'

/** `[2, n]`; `[...]` where the rank is unknown, nothing where the type is none of tensors, such as `seq(int64)`. */
export const dimsText = (dims: readonly (number | string)[] | null | undefined, type?: string | null): string =>
  dims ? `[${dims.join(', ')}]` : type?.endsWith(')') ? '' : '[...]'

/** `1,234,567` */
export const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',')

/** `1 node`, `2 nodes` */
export const counted = (count: number, what: string): string => `${grouped(count)} ${what}${count === 1 ? '' : 's'}`

/** A number in a few digits. */
export const shortNumber = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 1e6 ? String(value) : String(Number(value.toPrecision(5)))

/** The value of a finding, where neither its message nor its place in words names it; else nothing. */
export function valueText({ message, place: { value } }: Pick<Finding, 'message' | 'place'>, where: string): string {
  const text = `value "${value}"`
  return value === undefined || message.includes(`"${value}"`) || where.endsWith(text) ? '' : text
}
