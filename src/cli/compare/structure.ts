import type {
  StructuralChange,
  StructuralDifference,
  StructureComparison,
  StructureNode
} from '../../compare/structure.ts'
import type { Json } from '../../io/json-text.ts'
import { printable } from '../../io/print.ts'
import { nodeTitle } from '../../report/compared-words.ts'
import { counted, type Style } from '../terminal.ts'

/** How two models differ, in the manner of diff: what the first says after `-`, what the second says after `+`. */
export function structureText(
  { equal, differences, nodes }: StructureComparison,
  { a, b }: { readonly a: string; readonly b: string },
  style: Style
): string {
  const matched = `${counted(nodes.pairs, 'node')} of ${nodes.a} and ${nodes.b} belong together`
  if (equal) return [printable(`${a} and ${b}: ${matched}`), style.green('no difference')].join('\n')
  const lines = [style.bold(printable(`--- ${a}`)), style.bold(printable(`+++ ${b}`))]
  for (const difference of differences) lines.push(...differenceText(difference, style))
  const changed = differences.filter(one => one.a && one.b).length
  const [onlyA, onlyB] = [differences.filter(one => one.a && !one.b), differences.filter(one => one.b && !one.a)]
  lines.push('', `${matched}; ${changed} of them differ, ${onlyA.length} are only in a, ${onlyB.length} only in b`)
  return lines.join('\n')
}

function differenceText({ a, b, changes }: StructuralDifference, style: Style): string[] {
  const minus = (text: string): string => style.red(printable(`- ${text}`))
  const plus = (text: string): string => style.green(printable(`+ ${text}`))
  if (a && !b) return [minus(nodeText(a))]
  if (b && !a) return [plus(nodeText(b))]
  const head =
    a && b ? `@@ ${nodeTitle(a)}${nodeTitle(a) === nodeTitle(b) ? '' : ` | ${nodeTitle(b)}`} @@` : '@@ model @@'
  return [
    style.cyan(printable(head)),
    ...changes.flatMap(({ what, a: x, b: y }) => {
      if (what.startsWith('constant ')) return [style.yellow(printable(`! ${what} ${y}`))]
      return [...(x === undefined ? [] : [minus(`${what}: ${x}`)]), ...(y === undefined ? [] : [plus(`${what}: ${y}`)])]
    })
  ]
}

const nodeText = (node: StructureNode): string =>
  `${nodeTitle(node)} (${node.inputs.join(', ')}) -> ${node.outputs.join(', ')}`

/** The same as JSON: `null` for a node that a side lacks. */
export const structureJson = ({ equal, differences, nodes }: StructureComparison): Json => ({
  equal,
  nodes: { ...nodes },
  differences: differences.map(({ a, b, changes }) => ({
    a: a ? { ...a } : null,
    b: b ? { ...b } : null,
    changes: changes.map((change: StructuralChange) => ({ ...change }))
  }))
})
