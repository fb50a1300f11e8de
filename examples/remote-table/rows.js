// Which rows the examples look up, in a table of how many.

/** Rows of 768 float32: 10 GB. */
export const ROWS = 3_300_000
export const WIDTH = 768

/** So many rows at random, and the same each time. */
export function someRows(count, rows) {
  let seed = 1
  return Array.from({ length: count }, () => {
    seed = (seed * 48271) % 2147483647
    return Math.floor((seed / 2147483647) * rows)
  })
}
