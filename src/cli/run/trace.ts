import type { Node } from '../../graph/graph.ts'
import type { Json } from '../../io/json-text.ts'
import { printable } from '../../io/print.ts'
import { operatorOf, profiledStep, type ProfiledStep } from '../../runtime/profile.ts'
import type { StepEvent } from '../../runtime/run.ts'
import { counted, fitted, table } from '../terminal.ts'
import { summarize, type Summary, summaryText } from './summary.ts'

/** One node that ran, with what is said of its outputs. */
export interface TraceRow extends ProfiledStep {
  readonly summaries: readonly (Summary | undefined)[]
}

export const traceRow = (event: StepEvent): TraceRow => ({
  ...profiledStep(event),
  summaries: event.outputs.map(value => value && summarize(value))
})

/**
 * A table: name, operator, types and dims, time, and what is in the outputs; under it totals by operator, and the nodes
 * that took longest.
 * @param columns those of the terminal, which the tables fit; undefined: nothing is cut
 */
export function traceText(rows: readonly TraceRow[], columns?: number): string {
  const head = ['name', 'op', 'inputs', 'outputs', 'ms', 'values']
  const cells = rows.map(({ node, inputs, outputs, summaries, milliseconds }) => [
    printable(nameOf(node)),
    printable(operatorOf(node)),
    inputs.join(' '),
    outputs.join(' '),
    milliseconds.toFixed(3),
    summaries
      .map(summary => (summary === undefined ? '' : summaryText(summary)))
      .filter(text => text !== '')
      .join('; ')
  ])
  const tables = [table(fitted([head, ...cells], columns, [4]), [4]), ...totalsText(rows, columns)]
  return tables.map(lines => lines.join('\n')).join('\n\n')
}

/** Calls and milliseconds of an operator, or of a node that ran once or, in the body of a loop, many times. */
interface Total {
  readonly name: string
  readonly operator: string
  readonly calls: number
  readonly milliseconds: number
}

/** Nodes whose totals are printed. */
const MAX_NODES = 10

/** Totals by a key, the longest first. The time of a node with a body has that of the nodes in the body in it. */
function totalsBy(rows: readonly TraceRow[], keyOf: (node: Node) => string): Total[] {
  const totals = new Map<string, { name: string; operator: string; calls: number; milliseconds: number }>()
  for (const { node, milliseconds } of rows) {
    const key = keyOf(node)
    let total = totals.get(key)
    if (!total) totals.set(key, (total = { name: nameOf(node), operator: operatorOf(node), calls: 0, milliseconds: 0 }))
    total.calls++
    total.milliseconds += milliseconds
  }
  return [...totals.values()].sort((a, b) => b.milliseconds - a.milliseconds)
}

const byOperator = (rows: readonly TraceRow[]): Total[] => totalsBy(rows, operatorOf)
const byNode = (rows: readonly TraceRow[]): Total[] =>
  totalsBy(rows, node => JSON.stringify([node.place.graphPath, node.index, node.name]))

/**
 * Milliseconds of all rows. The time of a node with a body has that of the body in it, whose nodes began later and are
 * listed before. Nodes of functions stand in no other node.
 */
function totalTime(rows: readonly TraceRow[]): number {
  let all = 0
  let begin = Infinity
  for (const { start, milliseconds } of rows.toReversed()) {
    if (start >= begin) continue
    begin = start
    all += milliseconds
  }
  return all
}

function totalsText(rows: readonly TraceRow[], columns: number | undefined): string[][] {
  if (rows.length === 0) return []
  const all = totalTime(rows)
  const cells = ({ calls, milliseconds }: Total): string[] => [
    String(calls),
    milliseconds.toFixed(3),
    `${((100 * milliseconds) / (all || 1)).toFixed(1)} %`
  ]
  const operators = byOperator(rows).map(total => [printable(total.operator), ...cells(total)])
  const nodes = byNode(rows)
  const longest = nodes
    .slice(0, MAX_NODES)
    .map(total => [...[total.name, total.operator].map(printable), ...cells(total)])
  return [
    table(fitted([['operator', 'calls', 'ms', 'share'], ...operators], columns, [1, 2, 3]), [1, 2, 3]),
    [
      ...table(fitted([['node', 'op', 'calls', 'ms', 'share'], ...longest], columns, [2, 3, 4]), [2, 3, 4]),
      ...(nodes.length > MAX_NODES ? [`and ${counted(nodes.length - MAX_NODES, 'node')} that took less`] : [])
    ]
  ]
}

/** Totals by operator and by node, longest first, as JSON. */
export const totalsJson = (rows: readonly TraceRow[]): Json => ({
  operators: byOperator(rows).map(({ operator, calls, milliseconds }) => ({ operator, calls, milliseconds })),
  nodes: byNode(rows).map(total => ({ ...total }))
})

const nameOf = (node: Node): string => `${way(node)}${node.name || `#${node.index}`}`
const way = ({ place: { graphPath } }: Node): string => (graphPath ? `${graphPath}/` : '')

/** The rows as JSON: what the table says, numbers as numbers. */
export const traceJson = (rows: readonly TraceRow[]): Json =>
  rows.map(({ node, inputs, summaries, start, milliseconds }) => ({
    name: node.name,
    op: node.type,
    domain: node.domain,
    version: node.version,
    ...(node.place.graphPath ? { graphPath: node.place.graphPath } : {}),
    inputs: [...inputs],
    outputs: summaries.map(summary => (summary === undefined ? null : { ...summary })),
    start,
    milliseconds
  }))
