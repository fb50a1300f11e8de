/**
 * What lies in the scratch memory of the thread beyond a tile, as a block of rows of the job: rows that a kernel has
 * prepared, and which serve all columns.
 */
let block: u32 = -1

/** Says that a job begins, or goes on after others. */
// @ts-ignore: decorator
@inline
export function forgetRows(): void {
  block = -1
}

/** Notes that the rows of a block are prepared from now on. @returns whether they have been before */
// @ts-ignore: decorator
@inline
export function haveRows(number: u32): bool {
  const had = block == number
  block = number
  return had
}
