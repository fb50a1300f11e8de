import { type Grown, roomOf, tensorIn } from '../tensor/room.ts'
import { product, type Tensor } from '../tensor/tensor.ts'
import type { Budget } from './memory.ts'
import type { Delivery } from './outputs.ts'

/**
 * Memory for the elements of `from` and more behind them: where they lie, unless other rows have been put behind them,
 * which somebody may still read; else memory with room.
 * @param rows of the result along the axis
 * @param mayExtend whether memory belongs to the run or its session
 */
export function grow(
  from: Tensor,
  axis: number,
  rows: number,
  budget: Budget,
  mayExtend: (storage: unknown) => boolean
): Grown | undefined {
  const dims = from.dims.with(axis, rows)
  const own = roomOf(from)
  const isBegun = own?.axis === axis && own.used === from.dims[axis] && rows <= own.capacity && mayExtend(own.array)
  const room = isBegun ? own : budget.room(from.type, dims, axis)
  if (room === undefined) return undefined
  room.used = rows
  return { tensor: tensorIn(room, from.type, dims), room, isBegun }
}

/** Whether an output of the main graph may lie in a room: only as a view, and where the caller gives no tensor. */
export const mayLieInRoom = ({ asViews, writable }: Delivery, at: number): boolean =>
  at < 0 || (asViews && !writable[at])

/**
 * Whether rows along an axis lie in several parts. Then elements that are asked for are a copy, apart from the room:
 * who reads a value of a body may keep them for longer than the body's operator holds the room.
 */
export const hasParts = ({ dims }: Tensor, axis: number): boolean => product(dims, 0, axis) > 1
