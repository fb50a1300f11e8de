import type { Node } from '../graph/graph.ts'
import { convert } from '../tensor/convert.ts'
import { DTYPES } from '../tensor/dtype.ts'
import { type Numbers, toDoubles } from '../tensor/elements.ts'
import { type Tensor, withDims } from '../tensor/tensor.ts'
import { type Closeness, type Distance, measure } from './measure.ts'

/** A value in the type and dims of its counterpart; undefined where it cannot stand for it. */
export function inPlaceOf(own: Tensor, given: Tensor): Tensor | undefined {
  if (own.size !== given.size) return undefined
  const [from, to] = [DTYPES[given.type].kind, DTYPES[own.type].kind]
  const isWhole = (kind: string): boolean => kind === 'int' || kind === 'uint' || kind === 'bool'
  if (own.type !== given.type && !(from === to || (isWhole(from) && isWhole(to)))) return undefined
  return withDims(convert(given, own.type), own.dims)
}

/**
 * How far two values of nodes are apart; equal where they differ by ties of quantizers only.
 * @param nodes those that made the values, as far as they are known
 */
export function distanceBetween(nodes: readonly Node[], a: Tensor, b: Tensor, closeness: Closeness): Distance {
  const distance = measure(a, b, closeness)
  if (distance.equal || closeness.sqnr !== undefined || !areTies(nodes, a, b, distance)) return distance
  return { ...distance, equal: true, ties: distance.differing }
}

/** Operators whose results lie on a grid. */
const QUANTIZERS: ReadonlySet<string> = new Set(['QuantizeLinear', 'DequantizeLinear', 'FakeQuantize'])
/** Part of the elements that may be ties; one always may. */
const MAX_TIES = 0.005
/** Part of a step by which two grids may differ. */
const SLACK = 0.01

/**
 * Whether two values that quantizers made differ only as rounding does: the inputs agree within rounding, so an element
 * that lies half-way between two steps may go up in one runtime and down in the other. Few do, and each by one step; an
 * offset or another scale moves many.
 */
function areTies(nodes: readonly Node[], a: Tensor, b: Tensor, { differing, elements }: Distance): boolean {
  if (!nodes.every(({ type }) => QUANTIZERS.has(type)) || differing > Math.max(1, MAX_TIES * elements)) return false
  const [x, y] = [toDoubles(a), toDoubles(b)]
  const step = isWhole(b) ? 1 : stepOf(y)
  // Elements that are all the same do not tell how far apart two steps are.
  if (step === Infinity) return false
  for (let i = 0; i < x.length; i++) {
    if (Object.is(x[i], y[i])) continue
    const apart = Math.abs(x[i] - y[i])
    if (!(apart <= SLACK * step || Math.abs(apart - step) <= SLACK * step)) return false
  }
  return true
}

const isWhole = ({ type }: Tensor): boolean => DTYPES[type].kind === 'int' || DTYPES[type].kind === 'uint'

/** The least distance of two elements that are not the same but for rounding; Infinity where there are no two. */
function stepOf(numbers: Numbers): number {
  const sorted = Float64Array.from(new Set(numbers)).filter(Number.isFinite).sort()
  const least = 1e-5 * Math.max(Math.abs(sorted[0]), Math.abs(sorted[sorted.length - 1]))
  let step = Infinity
  for (let i = 1; i < sorted.length; i++) {
    const gap = sorted[i] - sorted[i - 1]
    if (gap > least && gap < step) step = gap
  }
  return step
}
