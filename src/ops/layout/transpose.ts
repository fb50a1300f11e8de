import { fail } from '../../errors.ts'
import { copyStrided } from '../../kernels/core/copy-strided.ts'
import { shareAs, staysInOrder } from '../../kernels/core/share.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { inputInts, ints, is, optional } from '../../op-kit/sources.ts'
import { type Dim, hullDims } from '../../shapes/dim.ts'
import { type Movable, tensorFact } from '../../shapes/fact.ts'
import { type DataDependentList, knownList, lengthOf, unknownDims } from '../../shapes/lists.ts'
import { dtypesOf } from '../../tensor/dtype.ts'
import { stridesOf } from '../../tensor/tensor.ts'

interface Params {
  /** Axis i of the output is axis `order[i]` of the data. */
  order: DataDependent<readonly number[] | undefined>
  /** Whether an empty list reverses the axes, as a missing list does. */
  emptyReverses: boolean
}

/** Permutes axes. ONNX Transpose-1, -13 (`perm`), OpenVINO Transpose-1 (second input). */
export const transpose = defineOp({
  name: 'Transpose',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [{ since: 1, bind: { order: optional(ints('perm')), emptyReverses: is(false) } }],
  openvino: [
    { since: 1, types: { order: dtypesOf('int', 'uint') }, bind: { order: inputInts(1), emptyReverses: is(true) } }
  ],
  moves: ['data'],

  shape({ data }, p) {
    return [tensorFact(data.type, permuted(data.shape, p.order, p.emptyReverses))]
  },

  run({ data }, p, call) {
    const order = orderOf(p.order, data.dims.length, p.emptyReverses)
    if (!staysInOrder(data.dims, order)) return transposed(data, order, call.rawOutput())
    call.give(
      0,
      shareAs(
        data,
        order.map(axis => data.dims[axis])
      )
    )
  }
})

function transposed(data: Movable, order: readonly number[], out: Movable): Generator<void> {
  const from = stridesOf(data.dims)
  const to = stridesOf(out.dims)
  return copyStrided(
    data,
    out,
    order.map((axis, i) => ({ count: out.dims[i], from: from[axis], to: to[i] }))
  )
}

function permuted(
  dims: readonly Dim[] | undefined,
  list: DataDependentList | undefined,
  emptyReverses: boolean
): Dim[] | undefined {
  if (dims === undefined)
    return list !== undefined && !(emptyReverses && list.length === 0) ? unknownDims(lengthOf(list)) : undefined
  const known = knownList(list)
  if (list === undefined || known !== undefined)
    return orderOf(known, dims.length, emptyReverses).map(axis => dims[axis])
  if (lengthOf(list) !== undefined && lengthOf(list) !== dims.length) {
    fail('dims-mismatch', `the order has ${list.length} axes, the data ${dims.length}`)
  }
  return dims.map(() => dims.reduce((a, b) => hullDims(a, b)))
}

function orderOf(list: readonly number[] | undefined, rank: number, emptyReverses: boolean): readonly number[] {
  if (list === undefined || (emptyReverses && list.length === 0))
    return Array.from({ length: rank }, (_, i) => rank - 1 - i)
  if (list.length !== rank)
    fail('dims-mismatch', `the order [${list.join(', ')}] has ${list.length} axes, the data ${rank}`)
  const wrong = list.find((axis, i) => axis < 0 || axis >= rank || list.indexOf(axis) !== i)
  if (wrong !== undefined)
    fail('value-out-of-range', `the order [${list.join(', ')}] is no permutation of 0..${rank - 1}`)
  return list
}
