import { bind } from '../../bind/bind.ts'
import type { Registry } from '../../bind/registry.ts'
import { fail, type NodewiseError } from '../../errors.ts'
import { derive } from '../../graph/derive.ts'
import { allGraphs, type Graph, type Model, type Node } from '../../graph/graph.ts'
import { propagate, type Propagation, propagations } from '../../infer/propagate.ts'
import type { Conversions } from '../../op-kit/conversion.ts'
import { irVersionOf } from '../model.ts'
import { Restating, type Unsaid } from '../restate.ts'
import { type Change, nodeName } from './nodes.ts'
import { valueIds } from './parts.ts'

/**
 * A model in another operator set of its dialect. ONNX: the model imports it. IR: no layer names a newer one. Nodes
 * that mean something else there are said by others.
 * @throws NodewiseError `unsupported-op`, with each node that stands against it in `details.nodes`
 */
export function moveToOpset(
  model: Model,
  opset: number,
  registry: Registry,
  conversions: Conversions
): { model: Model; changed: readonly Change[] } {
  const { dialect, graph } = model
  const isOnnx = dialect === 'onnx'
  if (isOnnx && model.opsets.get('ai.onnx') === opset) return { model, changed: [] }
  if (model.functions.size > 0) fail('unsupported-op', 'the operator set of a model with functions of its own stays')
  const found = propagate(bind(model, registry))
  const known = new Map<Graph, Propagation>([...propagations(found)].map(one => [one.bound.graph, one]))
  const taken = new Set([...allGraphs(model)].flatMap(one => [...valueIds(one)]))
  const restating = new Restating(model, known, { opset, registry, conversions }, taken)
  const edited = restating.graph(graph)
  const { refused, changed } = restating
  if (refused.length > 0) refuse(opset, refused)
  if (!isOnnx && edited === graph) return { model, changed }
  const moved = derive(model, {
    graph: edited,
    ...(isOnnx
      ? {
          opsets: new Map([...model.opsets, ['ai.onnx', opset]]),
          irVersion: Math.max(model.irVersion, irVersionOf(opset))
        }
      : {})
  })
  const before = new Set(found.failures.map(({ node, error }) => describe(node, error)))
  for (const { node, error } of propagate(bind(moved, registry)).failures)
    if (!before.has(describe(node, error))) refused.push({ node: nodeName(node), reason: error.reason })
  return refused.length === 0 ? { model: moved, changed } : refuse(opset, refused)
}

function refuse(opset: number, refused: readonly Unsaid[]): never {
  const [{ node, reason }] = refused
  return fail('unsupported-op', `the model cannot be moved to opset ${opset}: ${node}: ${reason}`, { nodes: refused })
}

const describe = ({ name, type, outputs }: Node, { code }: NodewiseError): string =>
  `${name} ${type} ${outputs.join()} ${code}`
