import { upTo } from '../../op-kit/conversion-kit.ts'
import { portEntry } from '../../op-kit/conversion-loops.ts'
import {
  type Conversions,
  type Made,
  type NewBody,
  type SourceCall,
  toOnnx,
  toOpenvino,
  type Writer
} from '../../op-kit/conversion.ts'
import { ifOp } from './if.ts'
import { conditionOf, loopToOnnx, loopToOpenvino } from './loop-conversions.ts'
import { loop } from './loop.ts'
import { scanToOpenvino } from './scan-conversion.ts'
import { scan } from './scan.ts'
import { stateRules } from './state-conversions.ts'
import { tensorIterator } from './tensor-iterator.ts'

/** How a branch is connected, see `if.ts`. */
interface Branch {
  readonly inputs: readonly (number | undefined)[]
  readonly outputs: readonly number[]
}

/** The body of a branch, its inputs being operands of the node. */
const branchOf = (call: SourceCall, w: Writer, body: string, ports: string): NewBody => {
  const { inputs, outputs } = call.param<Branch>(ports)
  const operands = call.all('operands')
  return w.body(body, {
    inputs: () => inputs.map(index => (index === undefined ? undefined : operands[index])),
    outputs: results => outputs.map(from => results[from])
  })
}

/** Bodies of ONNX read what the port maps of IR connect. */
const ifToOnnx = (call: SourceCall, w: Writer): readonly Made[] => {
  const then_branch = branchOf(call, w, 'thenBody', 'thenPorts')
  const else_branch = branchOf(call, w, 'elseBody', 'elsePorts')
  return w.nodes('If', [conditionOf(call, w)], { then_branch, else_branch }, { outputs: call.outputCount })
}

/** What bodies of ONNX read from around them are inputs of the layer, each body with a port map of its own. */
function ifToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const bodies = [branchOf(call, w, 'thenBody', 'thenPorts'), branchOf(call, w, 'elseBody', 'elsePorts')]
  const inputs: Made[] = [conditionOf(call, w)]
  const maps = bodies.map(({ imports }) => {
    const entries = imports.map(({ outer, parameter }) => {
      const known = inputs.indexOf(outer, 1)
      const externalPort = known > 0 ? known : inputs.push(outer) - 1
      return portEntry('input', externalPort, parameter)
    })
    return [...entries, ...upTo(call.outputCount).map(i => portEntry('output', i, i))]
  })
  return w.nodes(
    'If',
    inputs,
    { then_body: bodies[0], else_body: bodies[1] },
    {
      outputs: call.outputCount,
      portMaps: new Map([
        ['then_body', maps[0]],
        ['else_body', maps[1]]
      ])
    }
  )
}

/** Control flow in words of the other dialect. */
export const controlConversions: Conversions = {
  rules: [
    toOnnx(ifOp, ifToOnnx),
    toOpenvino(ifOp, ifToOpenvino),
    toOnnx(loop, loopToOnnx),
    toOnnx(tensorIterator, loopToOnnx),
    toOpenvino(loop, loopToOpenvino),
    toOpenvino(scan, scanToOpenvino),
    ...stateRules
  ],
  leniencies: []
}
