import type { Tensor } from '../../../src/tensor/tensor.ts'

type Attributes = Record<string, number | string | readonly number[] | readonly string[] | Tensor>

/** A node of a tree in a test: a leaf with its votes, or a test of a feature. */
export type Branch =
  | { readonly votes: readonly (readonly [target: number, weight: number])[] }
  | {
      readonly mode: string
      readonly feature: number
      readonly split: number
      readonly yes: Branch
      readonly no: Branch
      readonly missing?: boolean
    }

export const leaf = (weight: number, target = 0): Branch => ({ votes: [[target, weight]] })

export const branch = (mode: string, split: number, yes: Branch, no: Branch, feature = 0, missing = false): Branch => ({
  mode: `BRANCH_${mode}`,
  feature,
  split,
  yes,
  no,
  missing
})

/** Attributes of versions 1 and 3 for some trees; ids of nodes restart in each. */
export function treeAttributes(prefix: 'class' | 'target', trees: readonly Branch[]): Attributes {
  const nodes: Record<string, (number | string)[]> = {}
  const push = (entries: Record<string, number | string>): void => {
    for (const [name, value] of Object.entries(entries)) (nodes[name] ??= []).push(value)
  }
  trees.forEach((root, tree) => {
    const queue = [root]
    for (let id = 0; id < queue.length; id++) {
      const node = queue[id]
      const isLeaf = 'votes' in node
      push({
        nodes_treeids: tree,
        nodes_nodeids: id,
        nodes_featureids: isLeaf ? 0 : node.feature,
        nodes_modes: isLeaf ? 'LEAF' : node.mode,
        nodes_values: isLeaf ? 0 : node.split,
        nodes_truenodeids: isLeaf ? 0 : queue.length,
        nodes_falsenodeids: isLeaf ? 0 : queue.length + 1,
        nodes_missing_value_tracks_true: !isLeaf && node.missing ? 1 : 0
      })
      if (!isLeaf) queue.push(node.yes, node.no)
      else
        for (const [target, weight] of node.votes) {
          push({
            [`${prefix}_treeids`]: tree,
            [`${prefix}_nodeids`]: id,
            [`${prefix}_ids`]: target,
            [`${prefix}_weights`]: weight
          })
        }
    }
  })
  return nodes as Attributes
}
