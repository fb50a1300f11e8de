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
