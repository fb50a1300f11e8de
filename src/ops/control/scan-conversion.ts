import { fail } from '../../errors.ts'
import type { LoopInput, LoopPorts } from '../../kernels/control/loop-ports.ts'
import { squeezed, unsqueezed } from '../../op-kit/conversion-kit.ts'
import { portEntry } from '../../op-kit/conversion-loops.ts'
import { dimsOf, type Made, rankOf, type SourceCall, typeOf, type Writer } from '../../op-kit/conversion.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { carriedFact } from './loop-conversions.ts'

/** Where a TensorIterator begins, ends and steps along an axis, one element at a time. */
const steps = (axis: number, backward: boolean): Parameters<typeof portEntry>[3] => ({
  axis,
  start: backward ? -1 : 0,
  end: backward ? 0 : -1,
  stride: backward ? -1 : 1,
  partSize: 1
})

/**
 * Scan as TensorIterator, whose parts keep the axis along which the data are cut: the body takes it away, and puts it
 * back before results are put side by side.
 */
export function scanToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  if (call.param<boolean>('batched')) fail('unsupported-op', 'OpenVINO scans no batches of sequences')
  const { inputs: ports, outputs } = call.param<LoopPorts>('ports')
  const operands = call.all('operands')
  const inBody = call.body('body')
  const axes = ports.map(input => (input.kind === 'sliced' ? axisOf(input, operands) : undefined))
  const outputAxes = new Map<number, number>()
  const body = w.body('body', {
    inputs: inner =>
      ports.map((input, i) => {
        if (input.kind === 'carried') return inner.input(carriedFact(operands[input.operand], inBody, inBody.inputs[i]))
        if (input.kind !== 'sliced') return fail('unsupported-op', `an input that is ${input.kind}`)
        const whole = operands[input.operand]
        const dims = dimsOf(whole).map((dim, axis) => (axis === axes[i] ? 1 : dim))
        return squeezed(inner, inner.input(tensorFact(typeOf(whole), dims)), [axes[i]!])
      }),
    outputs: (results, inner) =>
      outputs.map((output, i) => {
        const result = results[output.from]
        if (output.kind !== 'concatenated') return result
        const axis = normalizeAxis(output.axis, rankOf(result) + 1)
        outputAxes.set(i, axis)
        return unsqueezed(inner, result, [axis])
      })
  })
  const inputs = ports.map(input => operands[(input as Extract<LoopInput, { operand: number }>).operand])
  const entries = [
    ...ports.map((input, i) =>
      portEntry('input', i, i, input.kind === 'sliced' ? steps(axes[i]!, input.slice.backward) : {})
    ),
    ...body.imports.map(({ outer, parameter }) => portEntry('input', inputs.push(outer) - 1, parameter)),
    ...outputs.map((output, i) =>
      portEntry('output', i, i, output.kind === 'concatenated' ? steps(outputAxes.get(i)!, output.reversed) : {})
    )
  ]
  const backEdges = ports.flatMap((input, i) =>
    input.kind === 'carried' ? [{ fromResult: input.from, toParameter: i }] : []
  )
  const how = { outputs: outputs.length, portMaps: new Map([['body', entries]]), backEdges }
  return w.nodes('TensorIterator', inputs, { body }, how)
}

const axisOf = (input: Extract<LoopInput, { kind: 'sliced' }>, operands: readonly Made[]): number =>
  normalizeAxis(input.slice.axis, rankOf(operands[input.operand]))
