import { fail } from '../../errors.ts'
import { bodyOf } from '../../op-kit/bodies.ts'
import { type Body, type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { body, derive, type DeriveSource, inputFlag } from '../../op-kit/sources.ts'
import type { Fact } from '../../shapes/fact.ts'
import { hullFacts } from '../../shapes/merge.ts'
import type { Value } from '../../tensor/tensor.ts'

/** How the inputs and outputs of a branch are connected. */
interface Branch {
  /** For each input of the body, the operand that it gets; undefined: none. */
  readonly inputs: readonly (number | undefined)[]
  /** For each output of the operator, the output of the body. */
  readonly outputs: readonly number[]
}

interface Params {
  condition: DataDependent<boolean>
  thenBody: Body
  elseBody: Body
  thenPorts: Branch
  elsePorts: Branch
}

/**
 * Runs one of two bodies. ONNX If-1 to -25 (only types were added), whose bodies capture values of the enclosing graph;
 * OpenVINO If-8, whose bodies are connected by port maps. Where the condition is known, facts are those of the branch
 * that is taken.
 */
export const ifOp = defineOp({
  name: 'If',
  operands: { operands: 'any-variadic' },
  params: params<Params>(),
  onnx: [
    {
      since: 1,
      in: { operands: 1 },
      bind: {
        condition: inputFlag(0),
        thenBody: body('then_branch'),
        thenPorts: captured('then_branch'),
        elseBody: body('else_branch'),
        elsePorts: captured('else_branch')
      }
    }
  ],
  openvino: [
    {
      since: 8,
      types: { condition: ['bool'] },
      bind: {
        condition: inputFlag(0),
        thenBody: body('then_body'),
        thenPorts: mapped('then_body'),
        elseBody: body('else_body'),
        elsePorts: mapped('else_body')
      }
    }
  ],
  dynamic: true,

  shape({ operands }, p) {
    const thenFacts = p.condition === false ? undefined : branchFacts(p.thenBody, p.thenPorts, operands)
    const elseFacts = p.condition === true ? undefined : branchFacts(p.elseBody, p.elsePorts, operands)
    if (thenFacts && elseFacts) return thenFacts.map((fact, i) => hullFacts(fact, elseFacts[i]))
    return thenFacts ?? elseFacts ?? []
  },

  *run({ operands }, p, call) {
    const [taken, ports] = p.condition ? [p.thenBody, p.thenPorts] : [p.elseBody, p.elsePorts]
    const begun = taken.start(fed(ports, operands))
    const results = 'next' in begun ? yield* begun : begun
    ports.outputs.forEach((from, i) => call.give(i, results[from]))
  }
})

const fed = <T extends Fact | Value>({ inputs }: Branch, operands: readonly T[]): (T | undefined)[] =>
  inputs.map(index => (index === undefined ? undefined : operands[index]))

function branchFacts(branch: Body, ports: Branch, operands: readonly Fact[]): Fact[] {
  const results = branch.infer(fed(ports, operands))
  return ports.outputs.map(from => results[from])
}

/** ONNX: bodies have no inputs; their outputs are in the order of the node's. */
function captured(attribute: string): DeriveSource<Branch> {
  return derive(({ node, outputCount }) => {
    const graph = bodyOf(node, attribute)
    if (graph.inputs.length > 0)
      fail('invalid-graph', `${attribute} has ${graph.inputs.length} inputs; a branch has none`)
    if (graph.outputs.length < outputCount) {
      fail('invalid-graph', `${attribute} has ${graph.outputs.length} outputs; the node lists ${outputCount}`)
    }
    return { inputs: [], outputs: Array.from({ length: outputCount }, (_, i) => i) }
  })
}

/** IR: all inputs of the layer are operands, the condition too. */
function mapped(attribute: string): DeriveSource<Branch> {
  return derive(({ node, outputCount }) => {
    const entries = node.portMaps?.get(attribute)?.entries.filter(({ externalPort }) => externalPort >= 0) ?? []
    const inputs = new Map(
      entries.filter(({ side }) => side === 'input').map(entry => [entry.bodyIndex, entry.externalPort])
    )
    const outputs = new Map(
      entries.filter(({ side }) => side === 'output').map(entry => [entry.externalPort, entry.bodyIndex])
    )
    return {
      inputs: bodyOf(node, attribute).inputs.map((_, i) => inputs.get(i)),
      outputs: Array.from(
        { length: outputCount },
        (_, i) => outputs.get(i) ?? fail('invalid-graph', `output ${i} is not in the port map of ${attribute}`)
      )
    }
  })
}
