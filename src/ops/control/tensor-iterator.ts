import { fail } from '../../errors.ts'
import { inferLoop } from '../../kernels/control/loop-facts.ts'
import { type LoopPorts, tripOfSlices } from '../../kernels/control/loop-ports.ts'
import { runLoop } from '../../kernels/control/loop.ts'
import { bodyOf, irInputs, irOutputs, portMapOf } from '../../op-kit/bodies.ts'
import { type Body, defineOp, params } from '../../op-kit/define.ts'
import { body, derive, type NodeFacts } from '../../op-kit/sources.ts'
import { type Dim, unknownDim } from '../../shapes/dim.ts'
import { isTensor } from '../../tensor/tensor.ts'

interface Params {
  body: Body
  ports: LoopPorts
  /** Number of iterations where no input is sliced. */
  trip: number | undefined
}

/**
 * Runs a body on each part of its sliced inputs: OpenVINO TensorIterator-1. The number of parts is the size of the axis
 * divided by `part_size`; without sliced inputs the first concatenated output determines the number of iterations.
 */
export const tensorIterator = defineOp({
  name: 'TensorIterator',
  operands: { operands: 'any-variadic' },
  params: params<Params>(),
  openvino: [{ since: 1, bind: { body: body('body'), ports: derive(portsOf), trip: derive(fixedTrip) } }],
  dynamic: true,

  shape({ operands }, p) {
    const trip =
      tripFor(
        p,
        operands.map(operand => (operand.kind === 'tensor' ? operand.shape : undefined))
      ) ?? unknownDim()
    return inferLoop(p.ports, p.body, operands, { trip, condition: true })
  },

  *run({ operands }, p, call) {
    const trip = tripFor(
      p,
      operands.map(operand => (isTensor(operand) ? operand.dims : undefined))
    )
    yield* runLoop(p.ports, p.body, operands, { trip: trip as number, condition: true }, call)
  }
})

const tripFor = (
  { ports, trip }: Pick<Params, 'ports' | 'trip'>,
  shapes: readonly (readonly Dim[] | undefined)[]
): Dim | undefined => trip ?? tripOfSlices(ports, shapes)

function portsOf({ node, outputCount }: NodeFacts): LoopPorts {
  const map = portMapOf(node)
  return { inputs: irInputs(map, bodyOf(node, 'body')), outputs: irOutputs(map, outputCount) }
}

function fixedTrip({ node }: NodeFacts): number | undefined {
  const { entries } = portMapOf(node)
  if (entries.some(({ side, axis }) => side === 'input' && axis !== undefined)) return undefined
  const joined = entries.find(({ side, axis }) => side === 'output' && axis !== undefined)
  if (!joined)
    fail('invalid-graph', 'no input is sliced and no output put together: nothing says how many iterations there are')
  const { start = 0, end = -1, partSize = 1 } = joined
  return Math.floor(Math.abs(end - start) / partSize)
}
