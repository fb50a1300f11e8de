import { fail } from '../errors.ts'
import { isOneWith } from './substitute.ts'
import {
  add,
  bounded,
  broadcastOf,
  ceilDiv,
  eitherOf,
  floorDiv,
  fresh,
  hasFresh,
  type Int,
  isSym,
  maximum,
  mayBeEqual,
  minimum,
  mul,
  named,
  printInt,
  sameInt,
  sub,
  type Sym
} from './sym.ts'

/** A size: a number, or a symbol that is at least 0. Where a parameter is meant, a symbol may be negative. */
export type Dim = number | Sym

export const toInt = (dim: Dim): Int => (typeof dim === 'number' ? BigInt(dim) : dim)
/** A number that no double holds is the largest that one does: still a number, and refused wherever one counts. */
export const toDim = (value: Int): Dim => (typeof value === 'bigint' ? held(Number(value)) : value)

const held = (size: number): number => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, size))

/** A dim about which nothing is known, or only its bounds. */
export const unknownDim = (min = 0, max = Infinity): Dim => (min === max ? min : fresh(min, max))
export const namedDim = (name: string, min = 0, max = Infinity): Dim => (min === max ? min : named(name, min, max))

export const minDim = (dim: Dim): number => (typeof dim === 'number' ? dim : dim.min)
export const maxDim = (dim: Dim): number => (typeof dim === 'number' ? dim : dim.max)

const lift =
  (exact: (a: number, b: number) => number, symbolic: (a: Int, b: Int) => Int) =>
  (a: Dim, b: Dim): Dim => {
    if (typeof a === 'number' && typeof b === 'number') {
      const result = exact(a, b)
      if (Number.isSafeInteger(result)) return result
    }
    return toDim(symbolic(toInt(a), toInt(b)))
  }

export const addDims = lift((a, b) => a + b, add)
export const subDims = lift((a, b) => a - b, sub)
export const mulDims = lift((a, b) => a * b, mul)
export const floorDivDims = lift((a, b) => Math.floor(a / b), floorDiv)
export const ceilDivDims = lift((a, b) => Math.ceil(a / b), ceilDiv)
export const minDims = lift(Math.min, minimum)
export const maxDims = lift(Math.max, maximum)

/** The product of all dims: the element count of a shape. */
export const productOf = (dims: readonly Dim[]): Dim => (dims.some(dim => dim === 0) ? 0 : dims.reduce(mulDims, 1))

/** A computed size as a dim: never negative. */
export const asDim = (dim: Dim): Dim =>
  typeof dim === 'number' ? Math.max(0, dim) : toDim(bounded(dim, 0, Infinity) ?? 0n)

export const sameDim = (a: Dim, b: Dim): boolean => a === b || (isSym(a) && isSym(b) && sameInt(a, b))

/** Whether both can be the same size; false is a proof that they cannot. */
export const mayMatch = (a: Dim, b: Dim): boolean =>
  typeof a === 'number' && typeof b === 'number' ? a === b : mayBeEqual(toInt(a), toInt(b))

/**
 * What both say together: a number before an expression, a named expression before an unknown. Undefined: they
 * contradict.
 */
export function meetDims(a: Dim, b: Dim): Dim | undefined {
  if (!mayMatch(a, b)) return undefined
  if (typeof a === 'number') return a
  if (typeof b === 'number') return b
  const [kept, other] = hasFresh(a) && !hasFresh(b) ? [b, a] : [a, b]
  const narrowed = bounded(kept, other.min, other.max)
  return narrowed === undefined ? undefined : toDim(narrowed)
}

/** The smallest set that holds both. */
export function hullDims(a: Dim, b: Dim): Dim {
  if (!sameDim(a, b)) return unknownDim(Math.min(minDim(a), minDim(b)), Math.max(maxDim(a), maxDim(b)))
  return isSym(a) && isSym(b) ? eitherOf(a, b) : a
}

export const printDim = (dim: Dim): string => (typeof dim === 'number' ? `${dim}` : printInt(dim))

/** `[2, batch, 1..10]`; `[...]` for an unknown rank. */
export const printShape = (shape: readonly Dim[] | undefined): string =>
  shape === undefined ? '[...]' : `[${shape.map(printDim).join(', ')}]`

/** Whether all dims are numbers. */
export function isConcrete(shape: readonly Dim[]): shape is readonly number[] {
  for (const dim of shape) if (typeof dim !== 'number') return false
  return true
}

/**
 * An axis counted from 0.
 * @throws NodewiseError `axis-out-of-range` unless it is in `[-rank, rank-1]`
 */
export function normalizeAxis(axis: number, rank: number, what = 'axis'): number {
  if (!Number.isInteger(axis) || axis < -rank || axis >= rank) {
    const expected = rank === 0 ? 'a scalar has no axis' : `expected ${-rank}..${rank - 1}`
    fail('axis-out-of-range', `${what} ${axis} is out of range for rank ${rank}; ${expected}`, { axis, rank })
  }
  return axis < 0 ? axis + rank : axis
}

/**
 * Axes counted from 0, each once.
 * @throws NodewiseError `axis-out-of-range`; `value-out-of-range` when one occurs twice
 */
export function normalizeAxes(axes: readonly number[], rank: number): number[] {
  const normalized = axes.map(axis => normalizeAxis(axis, rank))
  if (normalized.length > 1 && new Set(normalized).size !== normalized.length)
    fail('value-out-of-range', `axes [${axes.join(', ')}] name an axis twice`)
  return normalized
}

/**
 * The shape that NumPy's rules give: right-aligned, dims of 1 are broadcast. Undefined when a rank is unknown.
 * @throws NodewiseError `shape-mismatch` when no values of the unknowns make the shapes fit
 */
export function broadcastShapes(shapes: readonly (readonly Dim[] | undefined)[]): Dim[] | undefined {
  if (shapes.some(shape => shape === undefined)) return undefined
  const known = shapes as readonly (readonly Dim[])[]
  const rank = Math.max(0, ...known.map(shape => shape.length))
  const result: Dim[] = []
  for (let i = 0; i < rank; i++) {
    let dim: Dim = 1
    for (const shape of known) {
      const at = i - (rank - shape.length)
      if (at < 0) continue
      const merged = broadcastDim(dim, shape[at])
      if (merged === undefined)
        fail(
          'shape-mismatch',
          `shapes ${known.map(printShape).join(' and ')} do not broadcast: ` +
            `${printDim(dim)} against ${printDim(shape[at])} at dim ${i}`
        )
      dim = merged
    }
    result.push(dim)
  }
  return result
}

/** One dim of a broadcast; undefined when it cannot fit. */
export function broadcastDim(a: Dim, b: Dim): Dim | undefined {
  if (a === 1 || sameDim(a, b)) return b
  if (b === 1) return a
  if (!mayMatch(a, 1)) return mayMatch(b, 1) ? a : meetDims(a, b)
  if (!mayMatch(b, 1) || typeof a === 'number' || typeof b === 'number') return b
  // It is `b` where they are equal and where `a` is 1; so it always is if `a` is 1 wherever `b` is. Where it is either,
  // the simpler one.
  const [simple, other] = a.key.length <= b.key.length ? [a, b] : [b, a]
  return isOneWith(other, simple) ? simple : isOneWith(simple, other) ? other : toDim(broadcastOf(a, b))
}
