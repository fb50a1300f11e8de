import { copyBytes, MIN_COPY } from '../../host.ts'
import type { Movable } from '../../shapes/fact.ts'
import { DTYPES } from '../../tensor/dtype.ts'

/** Storage seen as units of 1, 2 or 4 bytes, or as a plain array, so that kernels that move elements need no types. */
export type UnitArray = TypedUnits | unknown[]
type TypedUnits = Uint8Array | Uint16Array | Int32Array
/** Units, or 64-bit integers as they are. */
export type MovedArray = UnitArray | BigInt64Array

export interface Units {
  readonly array: UnitArray
  /** Units of one element: 2 for 8-byte types, 4 for complex128, else 1. */
  readonly per: number
}

/**
 * The elements of a tensor as units. Elements of 8 bytes become pairs of Int32, since a copy through Float64Array may
 * change the bits of a NaN. Elements of a plain array (strings, partial tensors) are one unit each.
 */
export function unitsOf(tensor: Movable): Units {
  const data: unknown = tensor.data
  if (Array.isArray(data)) return { array: data, per: 1 }
  const view = data as Uint8Array
  // As it is, where it is no array of a class of its own, such as Node's buffers, and of no complex elements.
  const { constructor } = view
  if (constructor === Int32Array || constructor === Uint8Array || constructor === Uint16Array)
    return { array: view, per: 1 }
  const { buffer, byteOffset, byteLength } = view
  const width = view.BYTES_PER_ELEMENT * DTYPES[tensor.type].slots
  if (width === 1) return { array: new Uint8Array(buffer, byteOffset, byteLength), per: 1 }
  if (width === 2) return { array: new Uint16Array(buffer, byteOffset, byteLength / 2), per: 1 }
  return { array: new Int32Array(buffer, byteOffset, byteLength / 4), per: width / 4 }
}

/** Below this many elements a view takes longer to make than it saves. */
const FEW = 64

/**
 * Two tensors of one type as the same units. Short arrays of 64-bit integers are moved as they are: they are most of
 * what computes shapes, and making views of them takes longer than moving them.
 */
export function unitsOfBoth(
  a: Movable,
  b: Movable
): { readonly from: MovedArray; readonly to: MovedArray; readonly per: number } {
  if (a.data instanceof BigInt64Array && b.data instanceof BigInt64Array && a.data.length < FEW && b.data.length < FEW)
    return { from: a.data, to: b.data, per: 1 }
  const { array, per } = unitsOf(a)
  return { from: array, to: unitsOf(b).array, per }
}

/** The units of two arrays, and the number of units of a block. */
export interface BlockUnits {
  readonly from: UnitArray
  readonly to: UnitArray
  readonly block: number
}

/** Two tensors of one type as units of the greatest width that divides blocks of `inner` elements and both offsets. */
export function blockUnitsOf(data: Movable, out: Movable, inner: number): BlockUnits {
  const source: unknown = data.data
  if (Array.isArray(source)) return { from: source, to: out.data as unknown[], block: inner }
  const from = source as Uint8Array
  const to = out.data as Uint8Array
  const bytes = inner * from.BYTES_PER_ELEMENT * DTYPES[data.type].slots
  // The lowest bits of all three: a power of 2 divides them all if it divides this number.
  const alignment = bytes | from.byteOffset | to.byteOffset
  const Units = alignment % 4 === 0 ? Int32Array : alignment % 2 === 0 ? Uint16Array : Uint8Array
  const { BYTES_PER_ELEMENT: unit } = Units
  const view = ({ buffer, byteOffset, byteLength }: Uint8Array): UnitArray =>
    new Units(buffer as ArrayBuffer, byteOffset, byteLength / unit)
  return { from: view(from), to: view(to), block: bytes / unit }
}

/** Runs of up to this many units are copied by a loop, which is faster than a view and a call of `set`. */
export const SHORT = 64

const isShared = ({ buffer }: TypedUnits): boolean => !(buffer instanceof ArrayBuffer)

const bytesAt = ({ buffer, byteOffset, BYTES_PER_ELEMENT: unit }: TypedUnits, at: number, length: number): Uint8Array =>
  new Uint8Array(buffer, byteOffset + at * unit, length * unit)

/** Copies a run: of memory that threads share as bytes, which takes a third of the time, and needs two views. */
function copyRun(from: TypedUnits, at: number, to: TypedUnits, target: number, length: number): void {
  const isLong = length * from.BYTES_PER_ELEMENT >= MIN_COPY
  // Parts of one array may overlap, which copies of bytes do not look at.
  if (isLong && from !== to && (isShared(from) || isShared(to)))
    copyBytes(bytesAt(from, at, length), bytesAt(to, target, length))
  else to.set(from.subarray(at, at + length), target)
}

/** Copies `length` units from position `at` to position `target`. */
export function copyUnits(from: MovedArray, at: number, to: MovedArray, target: number, length: number): void {
  if (Array.isArray(from) || Array.isArray(to) || from instanceof BigInt64Array || to instanceof BigInt64Array) {
    for (let i = 0; i < length; i++) to[target + i] = from[at + i]
  } else if (length > SHORT) {
    copyRun(from, at, to, target, length)
  } else {
    const end = at + length
    for (; at + 4 <= end; at += 4, target += 4) {
      to[target] = from[at]
      to[target + 1] = from[at + 1]
      to[target + 2] = from[at + 2]
      to[target + 3] = from[at + 3]
    }
    for (; at < end; at++, target++) to[target] = from[at]
  }
}

/** Makes every element of `out` a copy of element `at` of `source`. */
export function fillWith(out: Movable, source: Movable, at: number): void {
  const { array: from, per } = unitsOf(source)
  const to = unitsOf(out).array
  if (per === 1) (to as unknown[]).fill(from[at])
  else if (per === 2 && isOfEight(out)) {
    const own = new Int32Array(2)
    own.set((from as Int32Array).subarray(2 * at, 2 * at + 2))
    new BigInt64Array(out.data.buffer as ArrayBuffer, out.data.byteOffset, to.length / 2).fill(
      new BigInt64Array(own.buffer)[0]
    )
  } else for (let i = 0; i < to.length; i++) to[i] = from[at * per + (i % per)]
}

/** Whether elements may be seen as integers of eight bytes, which an array fills much faster than pairs. */
const isOfEight = (tensor: Movable): tensor is Movable & { readonly data: Int32Array } =>
  (tensor.data as Int32Array).byteOffset % 8 === 0
