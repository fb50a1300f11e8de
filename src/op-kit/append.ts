import { copyStrided } from '../kernels/core/copy-strided.ts'
import { oncePer } from '../kernels/core/once.ts'
import { type IndexPolicy, resolveIndices } from '../kernels/gather/indices.ts'
import { normalizeAxis } from '../shapes/dim.ts'
import { type Grown, type Room, roomOf } from '../tensor/room.ts'
import { areSameDims, Tensor } from '../tensor/tensor.ts'
import type { Op } from './define.ts'
import { withOtherKernel } from './derived.ts'

/**
 * Concat as a plan has it where its result is what the next run is given: rows are written behind those of the first
 * operand where these lie, if there is room; else into memory with room for more. What has to be an ordinary tensor is
 * joined as ever.
 * @param concat the operator in its place
 */
export const appendTo = /* @__PURE__ */ oncePer((concat: Op) =>
  withOtherKernel(concat, 'Append', function* (operands, parameters, context) {
    const inputs = operands.inputs as readonly Tensor[]
    const axis = normalizeAxis(parameters.axis as number, inputs[0].dims.length)
    const rows = inputs.reduce((sum, { dims }) => sum + dims[axis], 0)
    const grown = context.extend?.(0, inputs[0], axis, rows)
    if (grown) yield* appendRows(inputs, grown)
    else yield* concat.run(operands, parameters, context) ?? []
  })
)

function* appendRows(inputs: readonly Tensor[], { room, isBegun }: Grown): Generator<void> {
  let at = 0
  for (const [i, input] of inputs.entries()) {
    if (i > 0 || !isBegun) yield* copyRows(input, room, 0, 0, room.outer, at)
    at += input.dims[room.axis]
  }
}

/**
 * Copies rows of a tensor into a room.
 * @param first of the outer parts that are copied, and where the first of them goes
 * @param row where the first row goes
 */
function* copyRows(source: Tensor, room: Room, first: number, to: number, count: number, row: number): Generator<void> {
  const { inner, capacity } = room
  const own = roomOf(source)
  const block = source.dims[room.axis] * inner
  const step = (own?.capacity ?? source.dims[room.axis]) * inner
  yield* copyStrided(
    own ? flat(source, own) : source,
    flat(source, room),
    [
      { count, from: step, to: capacity * inner },
      { count: block, from: 1, to: 1 }
    ],
    first * step,
    (to * capacity + row) * inner
  )
}

/** All of a room. */
const flat = ({ type }: Tensor, { array }: Room): Tensor => new Tensor(type, array)

/** What a call that {@link reorderOf} made has beside the parameters of Gather. */
export interface Reordering {
  /** Axis along which the result grows. */
  readonly grows: number
}

/**
 * Gather along the first axis as a plan has it where it chooses the beams of a cache: nothing is copied where each
 * stays what it was; else the result has room for more.
 * @param gather the operator in its place
 */
export const reorderOf = /* @__PURE__ */ oncePer((gather: Op) =>
  withOtherKernel(gather, 'Reorder', function* (operands, parameters, context) {
    const { data, indices } = operands as Readonly<Record<string, Tensor>>
    const [batch] = data.dims
    const axis = normalizeAxis((parameters as unknown as Reordering).grows, data.dims.length)
    const isServed = axis > 0 && areSameDims(indices.dims, [batch])
    const order = isServed ? resolveIndices(indices, batch, 0, parameters as unknown as IndexPolicy) : undefined
    if (order?.every((from, to) => from === to)) {
      context.give(0, data)
      return
    }
    const isWhole = order?.every(from => from >= 0) === true
    const grown = isWhole ? context.extend?.(0, data, axis, data.dims[axis], true) : undefined
    if (order === undefined || grown === undefined) {
      yield* gather.run(operands, parameters, context) ?? []
      return
    }
    const count = grown.room.outer / batch
    for (const [to, from] of order.entries()) yield* copyRows(data, grown.room, from * count, to * count, count, 0)
  })
)
