import { fail } from '../errors.ts'
import type { Node } from '../graph/graph.ts'
import { mapType } from '../tensor/map.ts'
import { isTensor, type Value } from '../tensor/tensor.ts'
import type { StepEvent } from './run.ts'

/** One node that ran, without its values: a profile does not hold every tensor of a run in memory. */
export interface ProfiledStep {
  readonly node: Node
  /** Types and dims. */
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  /** Milliseconds since the run began. */
  readonly start: number
  readonly milliseconds: number
}

/**
 * What a profile keeps of a step: pass it to `onStep`, and what it returned to {@link chromeTrace}.
 * @throws NodewiseError `bad-usage` for what is no step
 */
export function profiledStep(step: StepEvent): ProfiledStep {
  requireStep(step)
  const { node, inputs, outputs, start, milliseconds } = step
  return { node, inputs: inputs.map(typeAndDims), outputs: outputs.map(typeAndDims), start, milliseconds }
}

/** Steps come from JavaScript too, as anything. */
function requireStep(step: unknown): void {
  const { node, inputs, outputs } = (step ?? {}) as Readonly<Record<string, unknown>>
  const isStep = typeof node === 'object' && node !== null && Array.isArray(inputs) && Array.isArray(outputs)
  if (!isStep) fail('bad-usage', 'a step is what `onStep` is given')
}

/** `float32[2,3]`, `sequence of 3`, `map(string,float32) of 3`, `-` where nothing is. */
export function typeAndDims(value: Value | undefined): string {
  if (value === undefined) return '-'
  if (isTensor(value)) return `${value.type}[${value.dims.join(',')}]`
  if (value.type === 'sequence') return `sequence of ${value.values.length}`
  if (value.type === 'map') return `${mapType(value.keyType, value.valueType)} of ${value.entries.size}`
  return value.value === undefined ? 'absent' : `optional ${typeAndDims(value.value)}`
}

/** `Gather-13`, `com.example::Op-1`, `Gather (opset8)`. */
export const operatorOf = ({ dialect, domain, type, version }: Node): string =>
  dialect === 'openvino' ? `${type} (${version})` : `${domain === 'ai.onnx' ? '' : `${domain}::`}${type}-${version}`

/**
 * Runs as JSON in the Chrome trace format, for Perfetto and chrome://tracing; times in microseconds.
 * @param runs the steps of each run; runs stand one behind the other
 * @param title name of the process that the viewer shows
 * @throws NodewiseError `bad-usage` for what are no steps of runs
 */
export function chromeTrace(runs: readonly (readonly ProfiledStep[])[], title: string): string {
  if (!Array.isArray(runs) || !runs.every(Array.isArray))
    fail('bad-usage', 'a trace is made of runs, each a list of what `profiledStep` gives')
  runs.forEach(steps => steps.forEach(requireStep))
  const process = [{ name: 'process_name', ph: 'M', pid: 1, tid: 1, args: { name: title } }]
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
