import { DTYPES, is64BitInteger } from '../tensor/dtype.ts'
import { elementAt, exactIndex, halvesOf, largestMagnitude, type Numbers, toNumbers } from '../tensor/elements.ts'
import { type Key, keyText, kindText, mapType, valuesOf } from '../tensor/map.ts'
import {
  areSameDims,
  elementCount,
  isTensor,
  type MapValue,
  positionOf,
  type Tensor,
  type Value
} from '../tensor/tensor.ts'
import { formatElement } from './print.ts'

/** Numbers count as equal where they differ by at most `atol + rtol * |expected|`. */
export interface Tolerance {
  readonly rtol: number
  readonly atol: number
  /**
   * Where it is more than `atol`, as much times the largest finite magnitude among the expected elements takes its
   * place: what a sum of many products is off by grows with its terms, not with its result, which may be next to zero.
   */
  readonly atolScale?: number
}

/** The absolute tolerance of elements that are held against these. */
const absolute = ({ atol, atolScale = 0 }: Tolerance, expected: Numbers): number =>
  atolScale === 0 ? atol : Math.max(atol, atolScale * largestMagnitude(expected))

/**
 * Describes how `actual` differs from `expected`: in type, in dims, or in elements beyond the tolerance, of which the
 * worst is named. Undefined where it does not differ. NaN equals NaN, and an infinity equals itself. 64-bit integers
 * are compared exactly and may differ by `atol` only. Complex numbers are compared by real and by imaginary part.
 * Strings and bools must be equal. Maps must have the same keys, in any order.
 */
export function compareValues(actual: Value, expected: Value, tolerance: Tolerance): string | undefined {
  if (isTensor(actual) && isTensor(expected)) return compareTensors(actual, expected, tolerance)
  if (actual.type === 'sequence' && expected.type === 'sequence')
    return compareLists(actual.values, expected.values, tolerance)
  if (actual.type === 'optional' && expected.type === 'optional') {
    if (actual.value === undefined) return expected.value === undefined ? undefined : 'absent, expected a value'
    return expected.value === undefined
      ? 'a value, expected it to be absent'
      : compareValues(actual.value, expected.value, tolerance)
  }
  if (actual.type === 'map' && expected.type === 'map') return compareMaps(actual, expected, tolerance)
  return `${kindText(actual)}, expected ${kindText(expected)}`
}

function compareLists(actual: readonly Value[], expected: readonly Value[], tolerance: Tolerance): string | undefined {
  if (actual.length !== expected.length) return `a sequence of ${actual.length} values, expected ${expected.length}`
  for (const [i, value] of actual.entries()) {
    const difference = compareValues(value, expected[i], tolerance)
    if (difference !== undefined) return `value ${i} of the sequence: ${difference}`
  }
  return undefined
}

/** Describes how the types or the keys of two maps differ; undefined where they do not. Values are not compared. */
export function compareKeys(actual: MapValue, expected: MapValue): string | undefined {
  const [type, expectedType] = [actual, expected].map(({ keyType, valueType }) => mapType(keyType, valueType))
  if (type !== expectedType) return `type ${type}, expected ${expectedType}`
  const missing = keysOf(expected).filter(key => !hasKey(actual, key))
  const added = keysOf(actual).filter(key => !hasKey(expected, key))
  const named = (keys: readonly Key[]): string =>
    `${keys.slice(0, SHOWN_KEYS).map(keyText).join(', ')}${keys.length > SHOWN_KEYS ? ', …' : ''}`
  if (missing.length > 0) return `${missing.length} of ${expected.entries.size} keys missing: ${named(missing)}`
  if (added.length === 0) return undefined
  return `${added.length === 1 ? '1 key that is' : `${added.length} keys that are`} not expected: ${named(added)}`
}

/** Keys that a message names. */
const SHOWN_KEYS = 4

const keysOf = ({ entries }: MapValue): Key[] => [...(entries.keys() as Iterable<Key>)]
const hasKey = ({ entries }: MapValue, key: Key): boolean => (entries as ReadonlyMap<Key, unknown>).has(key)

function compareMaps(actual: MapValue, expected: MapValue, tolerance: Tolerance): string | undefined {
  const keys = keysOf(expected)
  return (
    compareKeys(actual, expected) ??
    compareElements(
      valuesOf(actual, keys),
      valuesOf(expected, keys),
      tolerance,
      'values',
      i => `key ${keyText(keys[i])}`
    )
  )
}

/** Describes how type or dims differ; undefined where they do not. Elements are not compared. */
export function compareTypes(actual: Tensor, expected: Tensor): string | undefined {
  if (actual.type !== expected.type) return `type ${actual.type}, expected ${expected.type}`
  if (areSameDims(actual.dims, expected.dims)) return undefined
  return `dims [${actual.dims.join(', ')}], expected [${expected.dims.join(', ')}]`
}

function compareTensors(actual: Tensor, expected: Tensor, tolerance: Tolerance): string | undefined {
  const placeOf = (i: number): string => `[${positionOf(i, actual.dims).join(', ')}]`
  return compareTypes(actual, expected) ?? compareElements(actual, expected, tolerance, 'elements', placeOf)
}

/**
 * @param what the elements are called
 * @param placeOf where an element is, for the message
 */
function compareElements(
  actual: Tensor,
  expected: Tensor,
  tolerance: Tolerance,
  what: string,
  placeOf: (i: number) => string
): string | undefined {
  const excess = excessOf(actual, expected, tolerance)
  const count = elementCount(actual.dims)
  let wrong = 0
  let worst = -1
  let maxExcess = 0
  for (let i = 0; i < count; i++) {
    const over = excess(i)
    if (over <= 0) continue
    wrong++
    if (over > maxExcess) [maxExcess, worst] = [over, i]
  }
  if (wrong === 0) return undefined
  const found = `${formatElement(elementAt(actual, worst))}, expected ${formatElement(elementAt(expected, worst))}`
  return `${wrong} of ${count} ${what} differ, the worst at ${placeOf(worst)}: ${found}`
}

/** By how much element `i` exceeds the tolerance: 0 where it does not, Infinity where a difference has no size. */
function excessOf(actual: Tensor, expected: Tensor, tolerance: Tolerance): (i: number) => number {
  const { type } = actual
  const { rtol } = tolerance
  const { kind } = DTYPES[type]
  if (kind === 'string' || kind === 'bool') return i => (actual.data[i] === expected.data[i] ? 0 : Infinity)
  if (is64BitInteger(type)) return wideExcess(actual, expected, Math.floor(tolerance.atol))
  const [a, e] =
    kind === 'complex' ? [actual.data as Numbers, expected.data as Numbers] : [toNumbers(actual), toNumbers(expected)]
  const atol = absolute(tolerance, e)
  const one = (i: number): number => {
    if (a[i] === e[i] || (a[i] !== a[i] && e[i] !== e[i])) return 0
    if (!Number.isFinite(a[i]) || !Number.isFinite(e[i])) return Infinity
    return Math.max(0, Math.abs(a[i] - e[i]) - (atol + rtol * Math.abs(e[i])))
  }
  return kind === 'complex' ? i => Math.max(one(2 * i), one(2 * i + 1)) : one
}

function wideExcess(actual: Tensor, expected: Tensor, allowed: number): (i: number) => number {
  const [a, e] = [halvesOf(actual), halvesOf(expected)]
  return i => {
    if (a[2 * i] === e[2 * i] && a[2 * i + 1] === e[2 * i + 1]) return 0
    const difference = exactIndex(actual, i) - exactIndex(expected, i)
    return Math.max(0, Number(difference < 0n ? -difference : difference) - allowed)
  }
}
