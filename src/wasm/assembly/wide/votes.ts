/** Rows that walk decision trees and add up what the leaves say. */
@unmanaged
export class VotesArguments {
  /** The rows as they are. */
  x: usize
  /**
   * Cells of sixteen bytes: those before the next cell, those before the feature that is compared, and the threshold in
   * double precision; or in single precision, and then a mask that negates the feature, or nothing. In the last word of
   * a leaf, whose threshold is NaN in single precision, and in the word before it else, are the bytes before its votes.
   */
  cells: usize
  /**
   * Of each tree the bytes before its root, the steps that no walk needs fewer of, the bytes before the first sum that
   * it votes for, and those of all that it votes for.
   */
  trees: usize
  /** What leaves vote. */
  votes: usize
  /** Sums of rows in double precision, of whole groups of four rows. */
  y: usize
  rows: u32
  /** Bytes of a row. */
  row: u32
  treeCount: u32
  targets: u32
  /** How rows are compared: 0 in double precision, 1 in single, 2 in single with features that may be negated. */
  way: u32
}

/** Computes the groups `from … to-1` of four rows: all of them walk a tree while its cells are in the cache. */
export function addVotes(args: VotesArguments, from: u32, to: u32): void {
  const group = (<usize>args.targets) << 5
  memory.fill(args.y + from * group, 0, (to - from) * group)
  if (args.way == 0) walkAll<f64>(args, from, to)
  else if (args.way == 1) walkAll<f32>(args, from, to)
  else walkAll<i32>(args, from, to)
}

// @ts-ignore: decorator
@inline
function walkAll<T>(args: VotesArguments, from: u32, to: u32): void {
  for (let tree: u32 = 0; tree < args.treeCount; tree++) {
    walkTree<T>(args, args.trees + ((<usize>tree) << 4), from, to)
  }
}

/** Four rows walk at once, each step the same few instructions, so that the processor need not wait for one of them. */
// @ts-ignore: decorator
@inline
function walkTree<T>(args: VotesArguments, tree: usize, from: u32, to: u32): void {
  const cells = args.cells
  const root = cells + load<u32>(tree)
  const least = load<u32>(tree, 4)
  const own = <usize>load<u32>(tree, 12)
  const row = <usize>args.row
  const last = args.x + (args.rows - 1) * row
  const line = (<usize>args.targets) << 3
  let y = args.y + (from << 2) * line + load<u32>(tree, 8)
  let v0 = args.x + (from << 2) * row
  for (let group = from; group < to; group++, v0 += row << 2) {
    // Where the last group has fewer rows the last row walks for all that are missing.
    const v1 = min(v0 + row, last)
    const v2 = min(v1 + row, last)
    const v3 = min(v2 + row, last)
    let a = root
    let b = root
    let c = root
    let d = root
    for (let step: u32 = 0; step < least; step++) {
      a = next<T>(cells, a, v0)
      b = next<T>(cells, b, v1)
      c = next<T>(cells, c, v2)
      d = next<T>(cells, d, v3)
    }
    let isDone = false
    while (!isDone) {
      const a1 = next<T>(cells, a, v0)
      const b1 = next<T>(cells, b, v1)
      const c1 = next<T>(cells, c, v2)
      const d1 = next<T>(cells, d, v3)
      isDone = ((a ^ a1) | (b ^ b1) | (c ^ c1) | (d ^ d1)) == 0
      a = a1
      b = b1
      c = c1
      d = d1
    }
    add<T>(args, a, y, own)
    y += line
    add<T>(args, b, y, own)
    y += line
    add<T>(args, c, y, own)
    y += line
    add<T>(args, d, y, own)
    y += line
  }
}

/** The cell that a row goes on to. A leaf leads to itself: nothing is below NaN. */
// @ts-ignore: decorator
@inline
function next<T>(cells: usize, cell: usize, values: usize): usize {
  const at = values + load<u32>(cell, 4)
  let isBelow = false
  if (sizeof<T>() == 8) isBelow = load<f64>(at) <= load<f64>(cell, 8)
  else if (isFloat<T>()) isBelow = load<f32>(at) <= load<f32>(cell, 8)
  else isBelow = reinterpret<f32>(load<i32>(at) ^ load<i32>(cell, 12)) <= load<f32>(cell, 8)
  return cells + load<u32>(cell) + ((<usize>isBelow) << 4)
}

/** Adds the votes of a leaf to sums of a row. */
// @ts-ignore: decorator
@inline
function add<T>(args: VotesArguments, leaf: usize, y: usize, bytes: usize): void {
  let vote = args.votes + (sizeof<T>() == 8 ? load<u32>(leaf, 8) : load<u32>(leaf, 12))
  for (const end = y + bytes; y < end; y += 8, vote += 8) store<f64>(y, load<f64>(y) + load<f64>(vote))
}
