import type { GraphPort, Model, ValueId } from '../graph/graph.ts'
import type { Propagation } from '../infer/propagate.ts'
import type { Writer } from '../op-kit/conversion.ts'
import { portType } from '../runtime/graph-ports.ts'
import { type Fact, tensorFact, UNKNOWN_TENSOR } from '../shapes/fact.ts'
import { type MadeValue, type Refusal, type Scope, valueOf } from './scope.ts'

/** Graph inputs of the new model, with the names of the source's. Those that have a default are constants. */
export function convertInputs(
  source: Model,
  { facts, bound }: Propagation,
  environment: Map<ValueId, MadeValue>,
  scope: Scope,
  w: Writer
): void {
  for (const port of source.graph.inputs) {
    if (bound.constants.has(port.value)) continue
    const fact = facts.get(port.value) ?? UNKNOWN_TENSOR
    const input = scope.input(outside(source, 'input', fact), namesOf(port))
    const inner = fact.kind === 'tensor' && fact.type ? valueOf(w.cast(input, fact.type)) : input
    environment.set(port.value, port.mean ? valueOf(w.node('Sub', [inner, w.keep(port.mean)])) : inner)
  }
}

/** Values of the graph outputs of the new model. */
export const convertOutputs = (source: Model, valueAt: (id: ValueId) => MadeValue, w: Writer): MadeValue[] =>
  source.graph.outputs.map(port => {
    const value = valueAt(port.value)
    const { fact } = value
    if (fact.kind !== 'tensor' || fact.type === undefined) return value
    return valueOf(w.cast(value, portType(source, 'output', fact.type)))
  })

/**
 * ONNX: inputs and outputs whose rank is not known. ONNX Runtime takes them; `onnx.checker` does not, and so no model
 * that has some is written.
 */
export function portsOfNoRank(source: Model, inputs: readonly MadeValue[], outputs: readonly MadeValue[]): Refusal[] {
  if (source.dialect === 'onnx') return []
  const { graph } = source
  const given = graph.inputs.filter(({ name }) =>
    inputs.some(({ names, fact }) => names[0] === name && hasNoRank(fact))
  )
  const made = graph.outputs.filter((_, i) => hasNoRank(outputs[i].fact))
  return [...given, ...made].flatMap(({ node, name }) => {
    const found = node === undefined ? undefined : graph.nodes[node]
    return found
      ? [{ node: found, reason: `the rank of "${name}" is not known before the model runs`, graphPath: '' }]
      : []
  })
}

const hasNoRank = (fact: Fact): boolean => fact.kind === 'tensor' && fact.shape === undefined

const namesOf = ({ name, aliases }: GraphPort): string[] => [name, ...aliases]

const outside = (source: Model, side: 'input' | 'output', fact: Fact): Fact =>
  fact.kind === 'tensor' && fact.type !== undefined ? tensorFact(portType(source, side, fact.type), fact.shape) : fact
