import { fail } from '../../errors.ts'
import { inferLoop } from '../../kernels/control/loop-facts.ts'
import { type LoopInput, type LoopOutput, type LoopPorts, tripOfSlices } from '../../kernels/control/loop-ports.ts'
import { runLoop } from '../../kernels/control/loop.ts'
import { bodyOf } from '../../op-kit/bodies.ts'
import { type Body, defineOp, params } from '../../op-kit/define.ts'
import { inferBatches, runBatches } from '../../op-kit/scan-batches.ts'
import { body, derive, type DeriveSource, int, ints, is, type NodeFacts } from '../../op-kit/sources.ts'
import { unknownDim } from '../../shapes/dim.ts'
import { isTensor } from '../../tensor/tensor.ts'

interface Params {
  body: Body
  ports: LoopPorts
  /** Version 8: dim 0 of every operand is the batch, dim 1 of scanned operands the sequence. */
  batched: boolean
}

/**
 * Runs a body on each element of its scanned inputs. ONNX Scan-8 (batches, sequence lengths; outputs after the end of a
 * shorter sequence are zero, as in ONNX Runtime), Scan-9 to -25 (any axis, directions of outputs; Scan-11 states
 * negative axes, which are taken in every version).
 */
export const scan = defineOp({
  name: 'Scan',
  operands: { lengths: 'optional', operands: 'any-variadic' },
  params: params<Params>(),
  onnx: [
    {
      since: 8,
      bind: { body: body('body'), ports: ports(facts => facts.inputCount - 1, 'directions'), batched: is(true) }
    },
    {
      since: 9,
      in: { operands: 0 },
      bind: { body: body('body'), ports: ports(facts => facts.inputCount, 'scan_input_directions'), batched: is(false) }
    }
  ],
  dynamic: true,

  shape({ lengths, operands }, p) {
    if (p.batched) return inferBatches(p.ports, p.body, lengths, operands)
    const trip =
      tripOfSlices(
        p.ports,
        operands.map(operand => (operand.kind === 'tensor' ? operand.shape : undefined))
      ) ?? unknownDim()
    return inferLoop(p.ports, p.body, operands, { trip, condition: true })
  },

  *run({ lengths, operands }, p, call) {
    if (p.batched) return yield* runBatches(p.ports, p.body, lengths, operands, call)
    const trip = tripOfSlices(
      p.ports,
      operands.map(operand => (isTensor(operand) ? operand.dims : undefined))
    )
    yield* runLoop(p.ports, p.body, operands, { trip: trip as number, condition: true }, call)
  }
})

/** Body inputs: states, then an element of each scanned input. Body outputs: states, then the stacked outputs. */
function ports(operandCount: (facts: NodeFacts) => number, inputDirections: string): DeriveSource<LoopPorts> {
  return derive(facts => {
    const graph = bodyOf(facts.node, 'body')
    const scanned =
      facts.get(int('num_scan_inputs')) ?? fail('missing-attribute', 'attribute "num_scan_inputs" is missing')
    const states = operandCount(facts) - scanned
    if (scanned < 1 || states < 0)
      fail('value-out-of-range', `num_scan_inputs is ${scanned}; expected 1..${operandCount(facts)}`)
    if (graph.inputs.length !== states + scanned) {
      fail(
        'invalid-graph',
        `the body has ${graph.inputs.length} inputs; ` +
          `${states} states and ${scanned} scanned inputs make ${states + scanned}`
      )
    }
    if (facts.outputCount < states)
      fail('invalid-graph', `the node lists ${facts.outputCount} outputs; there are ${states} states`)
    if (graph.outputs.length < facts.outputCount) {
      fail('invalid-graph', `the body has ${graph.outputs.length} outputs; the node lists ${facts.outputCount}`)
    }
    const stacked = facts.outputCount - states
    const inputBackward = directions(facts, inputDirections, scanned)
    const inputAxes = list(facts, 'scan_input_axes', scanned)
    const outputBackward = directions(facts, 'scan_output_directions', stacked)
    const outputAxes = list(facts, 'scan_output_axes', stacked)
    const inputs: LoopInput[] = Array.from({ length: states }, (_, i) => ({ kind: 'carried', operand: i, from: i }))
    for (let k = 0; k < scanned; k++) {
      const direction = inputBackward[k] ? BACKWARD : FORWARD
      inputs.push({
        kind: 'sliced',
        operand: states + k,
        slice: { axis: inputAxes[k], ...direction, part: 1, keepsAxis: false }
      })
    }
    return {
      inputs,
      outputs: Array.from({ length: facts.outputCount }, (_, i): LoopOutput =>
        i < states
          ? { kind: 'last', from: i, initial: i }
          : {
              kind: 'concatenated',
              from: i,
              axis: outputAxes[i - states],
              stacks: true,
              reversed: outputBackward[i - states]
            }
      )
    }
  })
}

const FORWARD = { start: 0, end: -1, backward: false }
const BACKWARD = { start: -1, end: 0, backward: true }

/** A list of `count` numbers; zeros where it is missing. */
function list(facts: NodeFacts, name: string, count: number): readonly number[] {
  const given = facts.get(ints(name))
  if (given !== undefined && given.length !== count) {
    fail('unknown-attribute-value', `attribute "${name}" has ${given.length} elements; expected ${count}`)
  }
  return given ?? new Array<number>(count).fill(0)
}

const directions = (facts: NodeFacts, name: string, count: number): boolean[] =>
  list(facts, name, count).map(direction =>
    direction === 0 || direction === 1
      ? direction === 1
      : fail('unknown-attribute-value', `attribute "${name}" holds ${direction}; expected 0 or 1`)
  )
