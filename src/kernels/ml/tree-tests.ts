/** How a node compares its feature with its split; the numbers are those of TreeEnsemble-5. */
export const MODES = {
  BRANCH_LEQ: 0,
  BRANCH_LT: 1,
  BRANCH_GTE: 2,
  BRANCH_GT: 3,
  BRANCH_EQ: 4,
  BRANCH_NEQ: 5,
  BRANCH_MEMBER: 6
} as const

/** What a node goes on to: node `i` is `i`, leaf `i` is `-1 - i`. */
export type TreeRef = number

/** The reference to a leaf, and the leaf of a reference. */
export const leafRef = (leaf: number): TreeRef => -1 - leaf

/** The trees as a file describes them, its lists checked. Entry `i` of the lists is of node `i`, which is no leaf. */
export interface TreeNodes {
  readonly modes: ArrayLike<number>
  readonly features: ArrayLike<number>
  readonly splits: ArrayLike<number>
  /** Members of the set of each node of mode MEMBER. */
  readonly sets: ReadonlyMap<number, readonly number[]>
  readonly ifTrue: ArrayLike<TreeRef>
  readonly ifFalse: ArrayLike<TreeRef>
  /** Where a missing value (NaN) goes: not 0 for the true branch. Undefined: the false branch. */
  readonly missingIsTrue: ArrayLike<number> | undefined
}

/**
 * The trees as nodes that all do the same: they compare a feature, or the negated feature, by `value <= threshold`, and
 * go on to `low` where that is false, so also for NaN, and to `high` where it is true. So a loop can walk them without
 * a branch, whatever the modes are. Tests of equality and membership become searches.
 */
export interface TreeTests {
  /** The feature, or `-1 - feature` for the negated one. */
  readonly values: Int32Array
  readonly thresholds: Float64Array
  readonly low: Int32Array
  readonly high: Int32Array
  /** The test that a node begins with. */
  readonly firstOf: Int32Array
}

/** What a node tests for membership in: values, ascending and each once, and where all others go on to. */
interface TestedSet {
  readonly values: readonly number[]
  readonly ifFalse: TreeRef
}

/** Makes the tests of all nodes. References in it, and those of roots, are to tests in place of nodes. */
export function testsOf(nodes: TreeNodes, roots: readonly TreeRef[]): TreeTests {
  const count = nodes.modes.length
  const firstOf = new Int32Array(count)
  const chains = chainsOf(nodes, roots)
  const sets: (TestedSet | undefined)[] = []
  let tests = 0
  for (let i = 0; i < count; i++) {
    firstOf[i] = tests
    if (chains.isInside(i)) continue
    sets[i] = setOf(nodes, i, chains)
    tests += sets[i] ? Math.max(1, 2 * sets[i]!.values.length) : 1
  }
  const writer = new TestWriter(tests, firstOf)
  for (let i = 0; i < count; i++) {
    if (chains.isInside(i)) continue
    const set = sets[i]
    if (set) writer.writeMembership(nodes, i, set)
    else writer.writeComparison(nodes, i)
  }
  return writer
}

/** The set that a node tests for membership in; undefined for modes that compare by order. */
function setOf({ modes, splits, sets, ifFalse }: TreeNodes, i: number, { lastOf }: Chains): TestedSet | undefined {
  if (modes[i] === MODES.BRANCH_MEMBER) return { values: ascending(sets.get(i) ?? []), ifFalse: ifFalse[i] }
  if (modes[i] !== MODES.BRANCH_EQ && modes[i] !== MODES.BRANCH_NEQ) return undefined
  const last = lastOf.get(i)
  if (last === undefined) return { values: Number.isNaN(splits[i]) ? [] : [splits[i]], ifFalse: ifFalse[i] }
  const values = [splits[i]]
  for (let at = i; at !== last;) values.push(splits[(at = ifFalse[at])])
  return { values: ascending(values), ifFalse: ifFalse[last] }
}

const ascending = (values: readonly number[]): number[] => [...new Set(values)].sort((a, b) => a - b)

/** Chains of tests for equality that are one test for membership. */
interface Chains {
  /** The last node of a chain, by its first. */
  readonly lastOf: ReadonlyMap<number, number>
  /** Whether a node is in a chain, but not its first. */
  isInside(node: number): boolean
}

const NO_CHAINS: Chains = { lastOf: new Map(), isInside: () => false }

/**
 * Finds nodes that ask whether a feature is one value, then whether it is another one, and so on, and go on alike where
 * it is: exporters write sets of categories so (XGBoost's). One after the other, 40 values took 80 steps, as a set 7.
 * Nothing but the node before leads to a node within a chain.
 */
function chainsOf(nodes: TreeNodes, roots: readonly TreeRef[]): Chains {
  const { modes, ifTrue, ifFalse } = nodes
  const count = modes.length
  const follows = new Uint8Array(count)
  let found = false
  for (let i = 0; i < count; i++) {
    if (!areChained(nodes, i, ifFalse[i])) continue
    follows[ifFalse[i]] = 1
    found = true
  }
  if (!found) return NO_CHAINS
  const parents = new Int32Array(count)
  for (const refs of [ifTrue, ifFalse, roots])
    for (let i = 0; i < refs.length; i++) if (refs[i] >= 0) parents[refs[i]]++
  const isNext = (node: number): boolean => follows[node] === 1 && parents[node] === 1
  const isInside = new Uint8Array(count)
  const lastOf = new Map<number, number>()
  for (let i = 0; i < count; i++) {
    // A chain that leads back to its first node has none: it stays as it is, and is found to be a cycle.
    if (isNext(i)) continue
    let last = i
    for (; areChained(nodes, last, ifFalse[last]) && isNext(ifFalse[last]); last = ifFalse[last])
      isInside[ifFalse[last]] = 1
    if (last !== i) lastOf.set(i, last)
  }
  return { lastOf, isInside: node => isInside[node] === 1 }
}

/** Whether two nodes test one feature for equality, and go on alike where it is equal or missing. */
function areChained({ modes, features, splits, ifTrue, missingIsTrue }: TreeNodes, a: number, b: TreeRef): boolean {
  if (b < 0 || modes[a] !== MODES.BRANCH_EQ || modes[b] !== MODES.BRANCH_EQ) return false
  if (features[a] !== features[b] || ifTrue[a] !== ifTrue[b]) return false
  if (Number.isNaN(splits[a]) || Number.isNaN(splits[b])) return false
  return missingIsTrue === undefined || (missingIsTrue[a] === 0) === (missingIsTrue[b] === 0)
}

class TestWriter implements TreeTests {
  readonly values: Int32Array
  readonly thresholds: Float64Array
  readonly low: Int32Array
  readonly high: Int32Array
  readonly firstOf: Int32Array
  private next = 0

  constructor(tests: number, firstOf: Int32Array) {
    this.values = new Int32Array(tests)
    this.thresholds = new Float64Array(tests)
    this.low = new Int32Array(tests)
    this.high = new Int32Array(tests)
    this.firstOf = firstOf
  }

  writeComparison(nodes: TreeNodes, i: number): void {
    const mode = nodes.modes[i]
    const feature = nodes.features[i]
    const yes = this.toTest(nodes.ifTrue[i])
    const no = this.toTest(nodes.ifFalse[i])
    const missing = (nodes.missingIsTrue?.[i] ?? 0) !== 0
    const isGreater = mode === MODES.BRANCH_GTE || mode === MODES.BRANCH_GT
    const isStrict = mode === MODES.BRANCH_LT || mode === MODES.BRANCH_GT
    const split = isGreater ? -nodes.splits[i] : nodes.splits[i]
    const value = isGreater ? -1 - feature : feature
    if (Number.isNaN(split)) this.write(value, Infinity, missing ? yes : no, no)
    // x < t is x <= the number below t.
    else if (!missing) this.write(value, isStrict ? nextBelow(split) : split, no, yes)
    // NaN goes low, so the test is that of the false branch: not x <= t is -x < -t.
    else this.write(-1 - value, isStrict ? -split : nextBelow(-split), yes, no)
  }

  /** EQ, NEQ and MEMBER: a binary search in the set, of two tests for each member. */
  writeMembership(nodes: TreeNodes, i: number, { values: set, ifFalse }: TestedSet): void {
    const feature = nodes.features[i]
    const yes = this.toTest(nodes.ifTrue[i])
    const no = this.toTest(ifFalse)
    const isNot = nodes.modes[i] === MODES.BRANCH_NEQ
    const [inside, outside] = isNot ? [no, yes] : [yes, no]
    // NaN differs from everything, so NEQ holds for it; so do both runtimes, where the text would ask the other list.
    const missing = isNot || (nodes.missingIsTrue?.[i] ?? 0) !== 0 ? yes : no
    if (set.length === 0) {
      this.write(feature, Infinity, missing, outside)
      return
    }
    this.write(-1 - feature, nextBelow(-set[set.length - 1]), this.next + 1, outside)
    this.search(feature, set, 0, set.length, { inside, outside, missing })
  }

  /** Tests for membership in `set[from … to)`, of values that are at most its largest; NaN always goes low. */
  private search(feature: number, set: readonly number[], from: number, to: number, refs: Membership): void {
    if (to - from > 1) {
      const middle = (from + to) >> 1
      const left = this.next + 1
      const right = left + 2 * (middle - from) - 1
      this.write(-1 - feature, nextBelow(-set[middle - 1]), left, right)
      this.search(feature, set, from, middle, refs)
      this.search(feature, set, middle, to, refs)
    } else if (refs.missing === refs.inside) this.write(feature, nextBelow(set[from]), refs.inside, refs.outside)
    else this.write(-1 - feature, -set[from], refs.outside, refs.inside)
  }

  private write(value: number, threshold: number, low: TreeRef, high: TreeRef): void {
    const at = this.next++
    this.values[at] = value
    this.thresholds[at] = threshold
    this.low[at] = low
    this.high[at] = high
  }

  private toTest(ref: TreeRef): TreeRef {
    return ref < 0 ? ref : this.firstOf[ref]
  }
}

interface Membership {
  readonly inside: TreeRef
  readonly outside: TreeRef
  /** Where NaN goes: `inside` or `outside`. */
  readonly missing: TreeRef
}

const float = new Float64Array(1)
const bits = new BigInt64Array(float.buffer)

/** The largest double below `x`: `y < x` is `y <= nextBelow(x)` for every double `y`. NaN for -Infinity and NaN. */
function nextBelow(x: number): number {
  if (x === 0) return -Number.MIN_VALUE
  if (x === -Infinity) return NaN
  float[0] = x
  bits[0] += x > 0 ? -1n : 1n
  return float[0]
}
