/** Rows that walk decision trees from cell to cell. */
@unmanaged
export class TreesArguments {
  /** Cells of sixteen bytes: those before the next cell, those before the column that is compared, the threshold. */
  cells: usize
  /** What rows compare, in double precision. */
  values: usize
  /** Of each tree the bytes before its root, and the steps that no walk needs fewer of. */
  trees: usize
  /** The numbers of the leaf cells, of a tree for all rows, then of the next one. */
  y: usize
  /** A multiple of four. */
  rows: u32
  /** Bytes of a row. */
  row: u32
}

/**
 * Walks trees `from … to - 1`. A step is the same few instructions whatever is compared, and four rows walk at once, so
 * that the processor need not wait for one of them; a leaf leads to itself.
 */
export function walkTrees(args: TreesArguments, from: u32, to: u32): void {
  let y = args.y + ((<usize>from * args.rows) << 2)
  for (let tree = from; tree < to; tree++) {
    const own = args.trees + ((<usize>tree) << 3)
    walkTree(args, args.cells + load<u32>(own), load<u32>(own, 4), y)
    y += (<usize>args.rows) << 2
  }
}

function walkTree(args: TreesArguments, root: usize, least: u32, y: usize): void {
  const cells = args.cells
  const row = <usize>args.row
  const end = y + ((<usize>args.rows) << 2)
  let v0 = args.values
  for (; y < end; y += 16, v0 += row << 2) {
    const v1 = v0 + row
    const v2 = v1 + row
    const v3 = v2 + row
    let a = root
    let b = root
    let c = root
    let d = root
    for (let step: u32 = 0; step < least; step++) {
      a = next(cells, a, v0)
      b = next(cells, b, v1)
      c = next(cells, c, v2)
      d = next(cells, d, v3)
    }
    let isDone = false
    while (!isDone) {
      const a1 = next(cells, a, v0)
      const b1 = next(cells, b, v1)
      const c1 = next(cells, c, v2)
      const d1 = next(cells, d, v3)
      isDone = ((a ^ a1) | (b ^ b1) | (c ^ c1) | (d ^ d1)) == 0
      a = a1
      b = b1
      c = c1
      d = d1
    }
    store<u32>(y, <u32>(a - cells) >> 4)
    store<u32>(y, <u32>(b - cells) >> 4, 4)
    store<u32>(y, <u32>(c - cells) >> 4, 8)
    store<u32>(y, <u32>(d - cells) >> 4, 12)
  }
}

// @ts-ignore: decorator
@inline
function next(cells: usize, cell: usize, values: usize): usize {
  const isBelow = load<f64>(values + load<u32>(cell, 4)) <= load<f64>(cell, 8)
  return cells + load<u32>(cell) + ((<usize>isBelow) << 4)
}
