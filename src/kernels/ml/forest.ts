import { fail } from '../../errors.ts'
import { leafRef, testsOf, type TreeNodes, type TreeRef, type TreeTests } from './tree-tests.ts'

/** What the leaves of trees say: leaf `i` has the votes `starts[i] … starts[i + 1])`. */
export interface Leaves {
  readonly starts: Int32Array
  readonly targets: Int32Array
  readonly weights: Float64Array
}

/**
 * Trees laid out for walking. A cell is a test or a leaf. The two cells that a test leads to lie side by side, so that
 * the next cell is `next[cell] + (value <= threshold ? 1 : 0)`; a leaf leads to itself, since its threshold is NaN.
 * Cells of a tree follow each other, those near the root first.
 */
export interface Forest {
  readonly next: Int32Array
  /** Position in {@link features} of what the cell compares. */
  readonly columns: Int32Array
  readonly thresholds: Float64Array
  /** The leaf that a cell is; anything where it is none. */
  readonly leafOf: Int32Array
  /** The sum of the weights of the leaf that a cell is; 0 where it is none. */
  readonly sums: Float64Array
  /** What is compared: a feature, or `-1 - feature` for the negated feature. */
  readonly features: Int32Array
  /** Features that an input must have. */
  readonly featureCount: number
  /** The root cell of each tree. */
  readonly roots: Int32Array
  /** Tests on the shortest way from each root to a leaf. */
  readonly shortest: Int32Array
  /** The least of {@link shortest}. */
  readonly shallowest: number
  /** Tests on the longest way from any root to a leaf. */
  readonly deepest: number
  readonly leaves: Leaves
}

/**
 * Lays trees out.
 * @param roots a node or leaf for each tree
 * @throws NodewiseError `invalid-graph` where nodes lead back to themselves
 */
export function forestOf(nodes: TreeNodes, roots: readonly TreeRef[], leaves: Leaves): Forest {
  const tests = testsOf(nodes, roots)
  const depths = depthsOf(tests)
  const layout = new Layout(tests, leaves, roots.length)
  const rootRefs = roots.map(ref => (ref < 0 ? ref : tests.firstOf[ref]))
  const shortest = new Int32Array(roots.length)
  const rootCells = new Int32Array(roots.length)
  rootRefs.forEach((ref, tree) => {
    rootCells[tree] = layout.cells
    shortest[tree] = layout.placeTree(ref)
  })
  const { next, columns, thresholds, leafOf, sums } = layout
  const features = inOrder(layout)
  let featureCount = 0
  for (let i = 0; i < nodes.features.length; i++) featureCount = Math.max(featureCount, nodes.features[i] + 1)
  return {
    next,
    columns,
    thresholds,
    leafOf,
    sums,
    features,
    featureCount,
    roots: rootCells,
    shortest,
    shallowest: shortest.reduce((least, own) => Math.min(least, own), Infinity),
    deepest: rootRefs.reduce((most, ref) => Math.max(most, ref < 0 ? 0 : depths[ref]), 0),
    leaves
  }
}

/** Tests on the longest way from each test to a leaf. Those on a cycle are never done (Kahn's algorithm). */
function depthsOf({ low, high }: TreeTests): Int32Array {
  const count = low.length
  const depths = new Int32Array(count).fill(1)
  const parents = new Int32Array(count)
  for (const refs of [low, high]) for (const ref of refs) if (ref >= 0) parents[ref]++
  const order = new Int32Array(count)
  let known = 0
  for (let i = 0; i < count; i++) if (parents[i] === 0) order[known++] = i
  for (let done = 0; done < known; done++) {
    for (const refs of [low, high]) {
      const child = refs[order[done]]
      if (child >= 0 && --parents[child] === 0) order[known++] = child
    }
  }
  if (known < count) fail('invalid-graph', 'nodes of a tree lead back to themselves')
  for (let i = count - 1; i >= 0; i--) {
    const test = order[i]
    for (const refs of [low, high]) {
      const child = refs[test]
      if (child >= 0) depths[test] = Math.max(depths[test], depths[child] + 1)
    }
  }
  return depths
}

/** What is compared, ascending, so that whole rows may be copied: columns are numbered anew. */
function inOrder({ features, columns }: Layout): Int32Array {
  const found = Int32Array.from(features.keys())
  const sorted = found.slice().sort()
  const places = new Int32Array(found.length)
  sorted.forEach((feature, place) => (places[features.get(feature)!] = place))
  if (found.length > 0) for (let cell = 0; cell < columns.length; cell++) columns[cell] = places[columns[cell]]
  return sorted
}

/** Places trees one after the other, each level by level. */
class Layout {
  readonly next: Int32Array
  readonly columns: Int32Array
  readonly thresholds: Float64Array
  readonly leafOf: Int32Array
  readonly sums: Float64Array
  readonly features = new Map<number, number>()
  cells = 0
  /** The cell of each test; -1 while it has none. */
  private readonly cellOf: Int32Array
  /** What each cell holds. */
  private readonly refs: Int32Array

  constructor(
    private readonly tests: TreeTests,
    private readonly leaves: Leaves,
    trees: number
  ) {
    const count = tests.low.length
    const most = trees + 2 * count
    this.next = new Int32Array(most)
    this.columns = new Int32Array(most)
    this.thresholds = new Float64Array(most)
    this.leafOf = new Int32Array(most)
    this.sums = new Float64Array(most)
    this.refs = new Int32Array(most)
    this.cellOf = new Int32Array(count).fill(-1)
  }

  /** Places a tree whose root is at `cells`; returns the tests on the shortest way to a leaf. */
  placeTree(root: TreeRef): number {
    let shortest = -1
    let level = 0
    let cell = this.cells
    this.refs[this.cells++] = root
    for (let end = this.cells; cell < this.cells; cell++) {
      if (cell === end) {
        level++
        end = this.cells
      }
      // A test that other nodes lead to as well is only copied, with what follows it: nothing shorter than a leaf.
      if (!this.placeTest(cell, this.refs[cell]) && shortest < 0) shortest = level
    }
    return shortest
  }

  /** Returns whether it is a test that was met first here, so that what follows it is placed as well. */
  private placeTest(cell: number, ref: TreeRef): boolean {
    if (ref < 0) {
      this.next[cell] = cell
      this.thresholds[cell] = NaN
      const leaf = leafRef(ref)
      const { starts, weights } = this.leaves
      this.leafOf[cell] = leaf
      for (let i = starts[leaf]; i < starts[leaf + 1]; i++) this.sums[cell] += weights[i]
      return false
    }
    const { values, thresholds, low, high } = this.tests
    this.columns[cell] = this.columnOf(values[ref])
    this.thresholds[cell] = thresholds[ref]
    const placed = this.cellOf[ref]
    if (placed >= 0) {
      this.next[cell] = this.next[placed]
      return false
    }
    this.cellOf[ref] = cell
    this.next[cell] = this.cells
    this.refs[this.cells++] = low[ref]
    this.refs[this.cells++] = high[ref]
    return true
  }

  private columnOf(value: number): number {
    let column = this.features.get(value)
    if (column === undefined) this.features.set(value, (column = this.features.size))
    return column
  }
}
