import { choose } from '../../kernels/elementwise/choose.ts'
import { alignedShape, autoBroadcast, type Broadcast, broadcastResult } from '../../op-kit/broadcast.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { is } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { broadcastShapes, type Dim } from '../../shapes/dim.ts'
import { notElem } from '../../shapes/elem.ts'
import { type Elem, tensorFact } from '../../shapes/fact.ts'
import { fresh, type Int, isSym, maxOf, minOf, sameInt } from '../../shapes/sym.ts'
import { type Tensor, withDims } from '../../tensor/tensor.ts'

interface Params {
  broadcast: Broadcast
}

/**
 * Takes each element from the second operand where the condition holds, else from the third: ONNX Where-9, -16;
 * OpenVINO Select-1. All three are broadcast to each other, as OpenVINO does (by the text of the specification the
 * condition is only broadcast to the other two).
 */
export const where = defineOp({
  name: 'Where',
  operands: { condition: 'tensor', whenTrue: 'tensor', whenFalse: 'tensor' },
  params: params<Params>(),
  onnx: [{ since: 9, bind: { broadcast: is({ mode: 'numpy' }) } }],
  openvino: [{ type: 'Select', since: 1, types: { condition: ['bool'] }, bind: { broadcast: autoBroadcast } }],

  shape({ condition, whenTrue, whenFalse }, { broadcast }) {
    const type = commonType({ then: whenTrue, else: whenFalse })
    return [tensorFact(type, resultShape(condition.shape, whenTrue.shape, whenFalse.shape, broadcast))]
  },

  run({ condition, whenTrue, whenFalse }, { broadcast }, call) {
    const out = call.rawOutput()
    if (broadcast.mode !== 'aligned') return choose(condition, whenTrue, whenFalse, out)
    const aligned = (tensor: Tensor): Tensor =>
      withDims(tensor, alignedShape(out.dims.length, tensor.dims, broadcast.axis))
    return choose(aligned(condition), whenTrue, aligned(whenFalse), out)
  },

  elem: ([condition, whenTrue, whenFalse]) => {
    if (!isSym(condition)) return condition ? whenTrue : whenFalse
    if (whenTrue === true && whenFalse === false) return condition
    if (whenTrue === false && whenFalse === true) return notElem([condition])
    return eitherOf(whenTrue, whenFalse)
  }
})

function resultShape(
  condition: readonly Dim[] | undefined,
  whenTrue: readonly Dim[] | undefined,
  whenFalse: readonly Dim[] | undefined,
  broadcast: Broadcast
): readonly Dim[] | undefined {
  if (broadcast.mode === 'numpy') return broadcastShapes([condition, whenTrue, whenFalse])
  return broadcastResult(broadcastResult(whenTrue, whenFalse, broadcast), condition, broadcast)
}

/** An element that is one of two: the element itself where they are equal, for integers a symbol within both bounds. */
function eitherOf(a: Elem, b: Elem): Elem | undefined {
  if (a === b) return a
  if (!isInteger(a) || !isInteger(b)) return undefined
  return sameInt(a, b) ? a : fresh(Math.min(minOf(a), minOf(b)), Math.max(maxOf(a), maxOf(b)))
}

const isInteger = (element: Elem): element is Int => typeof element === 'bigint' || isSym(element)
