import { bind } from '../../bind/bind.ts'
import type { Registry } from '../../bind/registry.ts'
import { fail, type NodewiseError } from '../../errors.ts'
import { derive } from '../../graph/derive.ts'
import type { Graph, Model, Node } from '../../graph/graph.ts'
import { propagate } from '../../infer/propagate.ts'
import { nodeName, withBodies } from './nodes.ts'

/**
 * A model that imports another version of ONNX's operator set, where every node means the same in both: its operator
 * has no change of meaning between them, and what is known of its inputs is allowed in the new one.
 * @throws NodewiseError `unsupported-op`, with each node that stands against it in `details.nodes`
 */
export function moveToOpset(model: Model, opset: number, registry: Registry): Model {
  const earlier = model.opsets.get('ai.onnx')
  if (earlier === opset) return model
  if (model.functions.size > 0) fail('unsupported-op', 'the operator set of a model with functions of its own stays')
  const refused: { node: string; reason: string }[] = []
  const move = (graph: Graph): Graph =>
    derive(graph, {
      nodes: graph.nodes.map(node => {
        const moved = withBodies(node, move)
        if (node.domain !== 'ai.onnx') return moved
        const [was, is] = [Number(node.version), opset].map(version =>
          registry.find('onnx', 'ai.onnx', node.type, version)
        )
        if (was === undefined || was.opVersion !== is?.opVersion)
          refused.push({ node: nodeName(node), reason: `${node.type} has another meaning in opset ${opset}, or none` })
        return derive(moved, { version: String(opset) })
      })
    })
  const moved = derive(model, { graph: move(model.graph), opsets: new Map([...model.opsets, ['ai.onnx', opset]]) })
  if (refused.length === 0) {
    const before = failuresOf(model, registry)
    for (const { node, error } of propagate(bind(moved, registry)).failures)
      if (!before.has(describe(node, error))) refused.push({ node: nodeName(node), reason: error.reason })
  }
  if (refused.length === 0) return moved
  const [{ node, reason }] = refused
  return fail('unsupported-op', `the model cannot be moved to opset ${opset}: ${node}: ${reason}`, { nodes: refused })
}

const failuresOf = (model: Model, registry: Registry): Set<string> =>
  new Set(propagate(bind(model, registry)).failures.map(({ node, error }) => describe(node, error)))

const describe = ({ index }: Node, { code }: NodewiseError): string => `${index} ${code}`
