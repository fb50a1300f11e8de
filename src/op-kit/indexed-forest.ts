import { fail } from '../errors.ts'
import { type Forest, forestOf } from '../kernels/ml/forest.ts'
import { leafRef, MODES } from '../kernels/ml/tree-tests.ts'
import { toNumbers } from '../tensor/elements.ts'
import { checkEntries, checkLengths, listOf, MAX_INDEX } from './named-forest.ts'
import { ints, type NodeFacts, optional, tensor } from './sources.ts'

type List = ArrayLike<number>

/**
 * Reads the trees of TreeEnsemble-5, whose nodes and leaves are named by their positions.
 * @throws NodewiseError `missing-attribute`, `unknown-attribute-value` for lists that do not fit together
 */
export function indexedForest(node: NodeFacts, targets: number): Forest {
  const tables = {
    nodes_splits: numbersIn(node, 'nodes_splits'),
    nodes_modes: numbersIn(node, 'nodes_modes'),
    nodes_featureids: listOf(node, 'nodes_featureids'),
    nodes_truenodeids: listOf(node, 'nodes_truenodeids'),
    nodes_falsenodeids: listOf(node, 'nodes_falsenodeids'),
    nodes_trueleafs: listOf(node, 'nodes_trueleafs'),
    nodes_falseleafs: listOf(node, 'nodes_falseleafs'),
    nodes_missing_value_tracks_true: node.get(optional(ints('nodes_missing_value_tracks_true')))
  }
  checkLengths(tables)
  const votes = { leaf_targetids: listOf(node, 'leaf_targetids'), leaf_weights: numbersIn(node, 'leaf_weights') }
  checkLengths(votes)
  checkEntries('leaf_targetids', votes.leaf_targetids, targets)
  checkEntries('nodes_featureids', tables.nodes_featureids, MAX_INDEX)
  checkEntries('nodes_modes', tables.nodes_modes, Object.keys(MODES).length)
  const count = tables.nodes_splits.length
  const roots = listOf(node, 'tree_roots')
  if (roots.length === 0) fail('unknown-attribute-value', '"tree_roots" is empty; at least one tree is expected')
  checkEntries('tree_roots', roots, count)
  const leafCount = votes.leaf_weights.length
  return forestOf(
    {
      modes: tables.nodes_modes,
      features: tables.nodes_featureids,
      splits: tables.nodes_splits,
      sets: setsOf(
        tables.nodes_modes,
        node.get(optional(tensor('membership_values')))?.data.length ? numbersIn(node, 'membership_values') : []
      ),
      ifTrue: refsOf('nodes_truenodeids', tables.nodes_truenodeids, tables.nodes_trueleafs, count, leafCount),
      ifFalse: refsOf('nodes_falsenodeids', tables.nodes_falsenodeids, tables.nodes_falseleafs, count, leafCount),
      missingIsTrue: tables.nodes_missing_value_tracks_true
    },
    roots,
    {
      starts: Int32Array.from({ length: leafCount + 1 }, (_, i) => i),
      targets: Int32Array.from(votes.leaf_targetids),
      weights: Float64Array.from(votes.leaf_weights)
    }
  )
}

function numbersIn(node: NodeFacts, name: string): List {
  const given = node.get(optional(tensor(name))) ?? fail('missing-attribute', `attribute "${name}" is missing`)
  return toNumbers(given)
}

function refsOf(name: string, ids: List, areLeaves: List, nodes: number, leaves: number): Int32Array {
  const refs = new Int32Array(ids.length)
  for (let i = 0; i < refs.length; i++) {
    const isLeaf = areLeaves[i] !== 0
    const end = isLeaf ? leaves : nodes
    const id = ids[i]
    if (id < 0 || id >= end)
      fail(
        'unknown-attribute-value',
        `entry ${i} of "${name}" is ${id}; there are ${end} ${isLeaf ? 'leaves' : 'nodes'}`
      )
    refs[i] = isLeaf ? leafRef(id) : id
  }
  return refs
}

/** The sets of the nodes of mode MEMBER, in the order of these nodes; NaN ends a set. */
function setsOf(modes: List, members: List): Map<number, number[]> {
  const sets = new Map<number, number[]>()
  let at = 0
  for (let i = 0; i < modes.length; i++) {
    if (modes[i] !== MODES.BRANCH_MEMBER) continue
    if (at >= members.length)
      fail('unknown-attribute-value', '"membership_values" has fewer sets than there are nodes of mode BRANCH_MEMBER')
    const set: number[] = []
    for (; at < members.length && !Number.isNaN(members[at]); at++) set.push(members[at])
    at++
    sets.set(i, set)
  }
  if (at < members.length)
    fail('unknown-attribute-value', '"membership_values" has more sets than there are nodes of mode BRANCH_MEMBER')
  return sets
}
