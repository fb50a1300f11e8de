import { copyOfArray } from './arrays.ts'
import type { DType, NumericArray as Numbers, Storage } from './dtype.ts'
import { product, stridesOf, Tensor, type Value } from './tensor.ts'

/**
 * Memory in which a tensor grows along one axis: `outer` times room for `capacity` rows of `inner` elements. Rows are
 * only ever added, so every tensor that lies in it stays what it was, however many grow from it.
 */
export interface Room {
  readonly array: Numbers
  readonly axis: number
  readonly outer: number
  readonly inner: number
  readonly capacity: number
  /** Rows that are taken: one that is given these may take those behind them. */
  used: number
}

/** A tensor that another one begins. */
export interface Grown {
  readonly tensor: Tensor
  readonly room: Room
  /** Whether the rows of the other are there already. */
  readonly isBegun: boolean
}

/** Where a tensor lies, and what has been made of it. */
interface Placement {
  readonly room: Room
  /** Whether somebody outside of a run has the tensor. */
  isLent: boolean
  /** The elements in row-major order, once they have been asked for. */
  dense: Numbers | undefined
  /** Whether somebody outside may have written into {@link dense}, which is what counts from then on. */
  isHandedOut: boolean
}

const PLACEMENT = Symbol('placement')

const placementOf = (tensor: Tensor): Placement | undefined =>
  (tensor as { readonly [PLACEMENT]?: Placement })[PLACEMENT]

/** The memory in which a tensor may grow; undefined of an ordinary tensor. */
export function roomOf(tensor: Tensor): Room | undefined {
  const placement = placementOf(tensor)
  return placement?.isHandedOut === false ? placement.room : undefined
}

/** What a tensor's memory is known by: its elements, or the room in which it lies. Makes nothing. */
export const storageOf = (tensor: Tensor): Storage => placementOf(tensor)?.room.array ?? tensor.data

/** Whether a tensor lies in a {@link Room}, also where its elements have been handed out since. */
export const liesInRoom = (tensor: Tensor): boolean => placementOf(tensor) !== undefined

/** Notes that somebody outside of a run gets a tensor, and may write into its elements. */
export function lendOut(value: Value): void {
  const placement = 'dims' in value ? placementOf(value) : undefined
  if (placement) placement.isLent = true
}

/** Steps from element to element along each axis of a tensor of these dims in a room. */
export const stridesIn = ({ axis, inner, capacity }: Room, dims: readonly number[]): number[] =>
  stridesOf(dims.with(axis, capacity)).with(axis, inner)

/**
 * A tensor in a room. Its elements are put in row-major order when `data` is asked for; where one piece holds all of
 * them they are read where they lie.
 * @param dims with at most as many rows as are {@link Room.used}
 */
export function tensorIn(room: Room, type: DType, dims: readonly number[]): Tensor {
  const placement: Placement = { room, isLent: false, dense: undefined, isHandedOut: false }
  const dense = (): Numbers => {
    placement.dense ??= denseIn(room, dims[room.axis])
    if (placement.isLent && room.outer > 1) placement.isHandedOut = true
    return placement.dense
  }
  return Object.create(Tensor.prototype, {
    type: { value: type, enumerable: true },
    dims: { value: dims, enumerable: true },
    size: { value: product(dims) },
    data: { get: dense, enumerable: true },
    [PLACEMENT]: { value: placement }
  }) as Tensor
}

function denseIn({ array, outer, inner, capacity }: Room, rows: number): Numbers {
  const count = rows * inner
  if (outer === 1) return array.subarray(0, count)
  const make = array.constructor as new (length: number) => Uint8Array
  const result = new make(outer * count)
  for (let i = 0; i < outer; i++) {
    const start = i * capacity * inner
    result.set(array.subarray(start, start + count) as Uint8Array, i * count)
  }
  return result
}

/** A tensor of its own with the same elements. */
export function copyOf(tensor: Tensor): Tensor {
  const room = roomOf(tensor)
  if (room && room.outer > 1) return new Tensor(tensor.type, denseIn(room, tensor.dims[room.axis]), tensor.dims)
  const { data } = tensor
  return new Tensor(tensor.type, Array.isArray(data) ? data.slice() : copyOfArray(data), tensor.dims)
}
