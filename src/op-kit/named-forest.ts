import { fail } from '../errors.ts'
import { type Forest, forestOf, type Leaves } from '../kernels/ml/forest.ts'
import { leafRef, MODES, type TreeRef } from '../kernels/ml/tree-tests.ts'
import { toNumbers } from '../tensor/elements.ts'
import { type AttributeSource, floats, ints, type NodeFacts, optional, tensor, texts } from './sources.ts'

/** The node modes of versions 1 and 3; LEAF is no test. */
const MODE_NAMES: Readonly<Record<string, number>> = { ...MODES, LEAF: -1 }
/** Features and targets are counted in 32 bits. */
export const MAX_INDEX = 2 ** 31 - 2

type List = ArrayLike<number>

/** A list that must be there. @throws NodewiseError `missing-attribute` */
export function listOf(node: NodeFacts, name: string): readonly number[] {
  return given(node, ints(name)) ?? fail('missing-attribute', `attribute "${name}" is missing`)
}

function given<T>(node: NodeFacts, source: AttributeSource<T>): T | undefined {
  return node.get(optional(source))
}

/** Checks that lists are as long as the first of them. @throws NodewiseError `unknown-attribute-value` */
export function checkLengths(lists: Readonly<Record<string, List | undefined>>): void {
  const [first, ...others] = Object.entries(lists).filter(([, list]) => list !== undefined) as [string, List][]
  for (const [name, { length }] of others)
    if (length !== first[1].length)
      fail('unknown-attribute-value', `"${name}" has ${length} entries, "${first[0]}" ${first[1].length}`)
}

/**
 * A list of float32, or of doubles as a tensor under the same name with `_as_tensor`; undefined where neither has an
 * entry.
 * @throws NodewiseError `unknown-attribute-value` where both have entries
 */
export function numbersOf(node: NodeFacts, name: string): List | undefined {
  const list = given(node, floats(name))
  const precise = given(node, tensor(`${name}_as_tensor`))
  if (list?.length && precise?.data.length)
    fail('unknown-attribute-value', `"${name}" and "${name}_as_tensor" are given; expected one of them`)
  return precise?.data.length ? toNumbers(precise) : list?.length ? list : undefined
}

/** Checks that integers are from 0 to below `end`. @throws NodewiseError `unknown-attribute-value` */
export function checkEntries(name: string, list: List, end: number): void {
  for (let i = 0; i < list.length; i++)
    if (list[i] < 0 || list[i] >= end)
      fail('unknown-attribute-value', `entry ${i} of "${name}" is ${list[i]}; 0 to ${end - 1} is expected`)
}

/** Checks a number of targets. @throws NodewiseError `missing-attribute`, `unknown-attribute-value` */
export function checkTargets(count: number | undefined): number {
  if (count === undefined) fail('missing-attribute', 'attribute "n_targets" is missing')
  if (count < 1) fail('unknown-attribute-value', `attribute "n_targets" is ${count}; 1 or more is expected`)
  return count
}

/**
 * Reads the trees of versions 1 and 3 of TreeEnsembleClassifier and TreeEnsembleRegressor.
 * @param votes prefix of the attributes of the leaves: `class` or `target`
 * @param targets how many targets there are
 * @throws NodewiseError `missing-attribute`, `unknown-attribute-value` for lists that do not fit together
 */
export function namedForest(node: NodeFacts, votes: 'class' | 'target', targets: number): Forest {
  const modes = (given(node, texts('nodes_modes')) ?? []).map(modeOf)
  const tables = {
    nodes_nodeids: listOf(node, 'nodes_nodeids'),
    nodes_treeids: listOf(node, 'nodes_treeids'),
    nodes_featureids: listOf(node, 'nodes_featureids'),
    nodes_truenodeids: listOf(node, 'nodes_truenodeids'),
    nodes_falsenodeids: listOf(node, 'nodes_falsenodeids'),
    nodes_modes: modes,
    nodes_values: numbersOf(node, 'nodes_values') ?? []
  }
  checkLengths(tables)
  const tracks = given(node, ints('nodes_missing_value_tracks_true'))
  const missingIsTrue = tracks?.length ? tracks : undefined
  checkLengths({ nodes_nodeids: tables.nodes_nodeids, nodes_missing_value_tracks_true: missingIsTrue })
  if (modes.length === 0) fail('unknown-attribute-value', 'the trees have no nodes')

  const names = new NodeNames(tables.nodes_treeids, tables.nodes_nodeids)
  const positions = testsIn(modes)
  const pick = (list: List): number[] => positions.map(i => list[i])
  const refs = refsOf(modes)
  const children = (name: 'nodes_truenodeids' | 'nodes_falsenodeids'): Int32Array => {
    const { nodes_treeids: trees, [name]: ids } = tables
    const found = new Int32Array(positions.length)
    positions.forEach((at, i) => (found[i] = refs[names.find(name, trees[at], ids[at])]))
    return found
  }
  const features = pick(tables.nodes_featureids)
  checkEntries('nodes_featureids', features, MAX_INDEX)
  return forestOf(
    {
      modes: pick(modes),
      features,
      splits: pick(tables.nodes_values),
      sets: new Map(),
      ifTrue: children('nodes_truenodeids'),
      ifFalse: children('nodes_falsenodeids'),
      missingIsTrue: missingIsTrue && pick(missingIsTrue)
    },
    names.roots.map(root => refs[root]),
    votesOf(node, votes, targets, names, refs)
  )
}

function modeOf(name: string): number {
  if (!Object.hasOwn(MODE_NAMES, name) || name === 'BRANCH_MEMBER')
    fail('unknown-attribute-value', `"${name}" is no node mode; expected one of ${Object.keys(MODE_NAMES).join(', ')}`)
  return MODE_NAMES[name]
}

/** Positions of the nodes that are no leaves. */
function testsIn(modes: readonly number[]): number[] {
  const positions: number[] = []
  modes.forEach((mode, i) => {
    if (mode >= 0) positions.push(i)
  })
  return positions
}

/** What stands for each node: tests and leaves are counted apart. */
function refsOf(modes: readonly number[]): TreeRef[] {
  let tests = 0
  let leaves = 0
  return modes.map(mode => (mode < 0 ? leafRef(leaves++) : tests++))
}

/** The nodes of a tree: at consecutive positions, by ids from 0 on, as most writers have them; else `byId`. */
interface NamedTree {
  readonly first: number
  count: number
  byId?: Map<number, number>
}

/** Finds nodes by the ids of their tree and their own. The first node of a tree is its root, as in both runtimes. */
class NodeNames {
  readonly roots: number[] = []
  private readonly trees = new Map<number, NamedTree>()

  constructor(treeIds: readonly number[], nodeIds: readonly number[]) {
    for (let i = 0; i < treeIds.length; i++) {
      let tree = this.trees.get(treeIds[i])
      if (!tree) {
        this.trees.set(treeIds[i], (tree = { first: i, count: 0 }))
        this.roots.push(i)
      }
      if (!tree.byId && nodeIds[i] === tree.count && i === tree.first + tree.count) {
        tree.count++
        continue
      }
      tree.byId ??= namedInOrder(tree)
      if (tree.byId.has(nodeIds[i]))
        fail('unknown-attribute-value', `tree ${treeIds[i]} has two nodes of id ${nodeIds[i]}`)
      tree.byId.set(nodeIds[i], i)
    }
  }

  /** Position of a node, for an entry of attribute `name`. */
  find(name: string, treeId: number, nodeId: number): number {
    const tree = this.trees.get(treeId)
    const found = tree?.byId
      ? tree.byId.get(nodeId)
      : tree && nodeId >= 0 && nodeId < tree.count
        ? tree.first + nodeId
        : undefined
    if (found === undefined)
      fail('unknown-attribute-value', `"${name}" names node ${nodeId} of tree ${treeId}, which is not there`)
    return found
  }
}

const namedInOrder = ({ first, count }: NamedTree): Map<number, number> =>
  new Map(Array.from({ length: count }, (_, id) => [id, first + id]))

/**
 * The votes, sorted by leaf. Those of nodes that are no leaves count for nothing, as in ONNX Runtime, and where a
 * regressor has one target neither do those of a leaf after its first: exporters of decision paths (skl2onnx) repeat
 * the number of a leaf for each class of its tree.
 */
function votesOf(
  node: NodeFacts,
  prefix: 'class' | 'target',
  targetCount: number,
  names: NodeNames,
  refs: readonly TreeRef[]
): Leaves {
  const nodeIds = listOf(node, `${prefix}_nodeids`)
  const treeIds = listOf(node, `${prefix}_treeids`)
  const ids = listOf(node, `${prefix}_ids`)
  const weights = numbersOf(node, `${prefix}_weights`) ?? []
  checkLengths({
    [`${prefix}_ids`]: ids,
    [`${prefix}_nodeids`]: nodeIds,
    [`${prefix}_treeids`]: treeIds,
    [`${prefix}_weights`]: weights
  })
  checkEntries(`${prefix}_ids`, ids, targetCount)
  const named = nodeIds.map((id, i) => leafRef(refs[names.find(`${prefix}_nodeids`, treeIds[i], id)]))
  const leafOf = prefix === 'target' && targetCount === 1 ? firstOfEach(named, refs.length) : named
  const starts = new Int32Array(refs.length + 1)
  for (const leaf of leafOf) if (leaf >= 0) starts[leaf + 1]++
  for (let i = 0; i < refs.length; i++) starts[i + 1] += starts[i]
  const next = starts.slice()
  const leaves = {
    starts,
    targets: new Int32Array(ids.length),
    weights: new Float64Array(ids.length)
  }
  leafOf.forEach((leaf, i) => {
    if (leaf < 0) return
    const at = next[leaf]++
    leaves.targets[at] = ids[i]
    leaves.weights[at] = weights[i]
  })
  return leaves
}

/** Leaves that votes are for; -1 where an earlier vote is for the same. */
function firstOfEach(leaves: readonly number[], count: number): number[] {
  const seen = new Uint8Array(count)
  return leaves.map(leaf => {
    if (leaf < 0 || seen[leaf] === 1) return -1
    seen[leaf] = 1
    return leaf
  })
}
