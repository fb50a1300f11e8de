import { type Grown, roomOf, tensorIn } from '../tensor/room.ts'
import type { Tensor } from '../tensor/tensor.ts'
import type { Budget } from './memory.ts'

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
