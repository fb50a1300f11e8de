import type { Node } from '../graph/graph.ts'
import type { Json } from '../io/json-text.ts'
import { printable } from '../io/print.ts'
import type { StepEvent } from '../runtime/execute.ts'
import { summarize, type Summary, summaryText, typeAndDims } from './summary.ts'
import { table } from './terminal.ts'

/**
 * One node that ran, without its values: what is kept of a step, so that a trace does not hold every tensor in memory.
 */
export interface TraceRow {
  readonly node: Node
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  readonly summaries: readonly (Summary | undefined)[]
  readonly start: number
  readonly milliseconds: number
}

export const traceRow = ({ node, inputs, outputs, start, milliseconds }: StepEvent): TraceRow => ({
  node,
  inputs: inputs.map(typeAndDims),
  outputs: outputs.map(typeAndDims),
  summaries: outputs.map(value => value && summarize(value)),
  start,
  milliseconds
})

/** A table: name, operator, types and dims, time, and what is in the outputs. */
export function traceText(rows: readonly TraceRow[]): string {
  const head = ['name', 'op', 'inputs', 'outputs', 'ms', 'values']
  const cells = rows.map(({ node, inputs, outputs, summaries, milliseconds }) => [
    printable(`${way(node)}${node.name || `#${node.index}`}`),
    printable(operatorOf(node)),
    inputs.join(' '),
    outputs.join(' '),
    milliseconds.toFixed(3),
    summaries
      .map(summary => (summary === undefined ? '' : summaryText(summary)))
      .filter(text => text !== '')
      .join('; ')
  ])
  return table([head, ...cells], [4]).join('\n')
}

const way = ({ place: { graphPath } }: Node): string => (graphPath ? `${graphPath}/` : '')

/** `Gather-13`, `com.example::Op-1`, `Gather (opset8)`. */
export const operatorOf = ({ dialect, domain, type, version }: Node): string =>
  dialect === 'openvino' ? `${type} (${version})` : `${domain === 'ai.onnx' ? '' : `${domain}::`}${type}-${version}`

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

/** Events of the Chrome trace format, times in microseconds, for Perfetto and chrome://tracing. */
export function chromeTrace(runs: readonly (readonly TraceRow[])[], model: string): string {
  const process = [{ name: 'process_name', ph: 'M', pid: 1, tid: 1, args: { name: `nodewise run ${model}` } }]
  let offset = 0
  const events = runs.flatMap((rows, run) => {
    const own = rows.map(({ node, inputs, outputs, start, milliseconds }) => ({
      name: node.name || node.type,
      cat: node.type,
      ph: 'X',
      pid: 1,
      tid: 1,
      ts: 1000 * (offset + start),
      dur: 1000 * milliseconds,
      args: {
        op: operatorOf(node),
        inputs,
        outputs,
        run,
        ...(node.place.graphPath && { graphPath: node.place.graphPath })
      }
    }))
    offset += rows.reduce((end, { start, milliseconds }) => Math.max(end, start + milliseconds), 0)
    return own
  })
  return JSON.stringify({ displayTimeUnit: 'ms', traceEvents: [...process, ...events] })
}
