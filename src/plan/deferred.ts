import type { Constant } from '../graph/graph.ts'
import { SMALL } from '../runtime/weights.ts'
import { elementCount, memoryBytes, type Tensor } from '../tensor/tensor.ts'
import type { Step } from './plan.ts'

/**
 * Steps that only convert a large constant, element by element, for others that look rows up in it (as OpenVINO writes
 * weights in half
 * precision): they need not run, since the rows that are looked up can be converted instead.
 * @param constants what may be read from the file, by slot
 * @param kept slots that somebody reads besides the steps
 * @returns by the slot of their result
 */
export function deferredSteps(
  steps: readonly Step[],
  constants: readonly (Constant | Tensor | undefined)[],
  kept: ReadonlySet<number>
): Map<number, Step> {
  const deferred = new Map<number, Step>()
  for (const step of steps) {
    const { op, operands } = step.call
    const isElementwise =
      op.elem !== undefined && operands.length === 1 && operands[0].kind === 'tensor' && step.inputs.length === 1
    if (
      isElementwise &&
      !kept.has(step.inputs[0]) &&
      !kept.has(step.outputs[0]) &&
      isLargeInFile(constants[step.inputs[0]])
    )
      deferred.set(step.outputs[0], step)
  }
  for (const step of deferred.size > 0 ? steps : []) {
    step.inputs.forEach((slot, i) => {
      if (i !== step.table) deferred.delete(slot)
    })
    for (const body of step.bodies.values()) for (const { from } of body.captures) deferred.delete(from)
  }
  return deferred
}

const isLargeInFile = (constant: Constant | Tensor | undefined): boolean =>
  constant !== undefined &&
  'read' in constant &&
  memoryBytes(constant.type, elementCount(constant.dims)) >= SMALL &&
  constant.raw !== undefined
