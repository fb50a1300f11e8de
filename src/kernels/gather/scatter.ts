import { fail } from '../../errors.ts'
import { isPartial, type Movable } from '../../shapes/fact.ts'
import { DTYPES, is64BitInteger, isInteger } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { type Codes, isCodedFloat, narrow } from '../../tensor/floats.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { type BigInts, readNumbers } from '../core/numbers.ts'
import { inSteps, WORK_PER_YIELD } from '../core/steps.ts'
import { copyUnits, unitsOf } from '../core/units.ts'
import type { Positions } from './indices.ts'

/** What becomes of an element and its update; `none`: the update replaces it, of several the last. */
export type Reduction = 'none' | 'add' | 'sub' | 'mul' | 'min' | 'max' | 'mean'

/** How the output is seen: `[outer, size, inner]`, and the updates: `[outer, count, inner]`. */
export interface ScatterLayout {
  readonly outer: number
  readonly size: number
  readonly inner: number
  readonly count: number
}

/**
 * Fills `out` with `data`, then brings update `i` of each outer step to `positions[i]`, in order.
 * @param useInitial false: the elements of `data` that are updated do not take part in the reduction
 */
export function* scatter(
  data: Movable,
  positions: Positions,
  updates: Movable,
  out: Movable,
  layout: ScatterLayout,
  reduction: Reduction = 'none',
  useInitial = true
): Generator<void> {
  const { array: from } = unitsOf(data)
  const to = unitsOf(out).array
  yield* inSteps(from.length, (start, end) => copyUnits(from, start, to, start, end - start), 1 / 4)
  yield
  if (updates.data.length === 0) return
  if (reduction === 'none') yield* replace(updates, positions, out, layout)
  else if (isPartial(updates) || isPartial(out)) fail('internal', 'symbols are moved, not computed with')
  else yield* reduce(updates, positions, out, layout, reduction, useInitial)
}

function* replace(updates: Movable, positions: Positions, out: Movable, layout: ScatterLayout): Generator<void> {
  const { array: from, per } = unitsOf(updates)
  const to = unitsOf(out).array
  const block = layout.inner * per
  yield* eachUpdate(positions, layout, (target, source) => copyUnits(from, source * block, to, target * block, block))
}

/** Calls `visit` with the blocks of output and updates that belong together. */
function* eachUpdate(
  positions: Positions,
  layout: ScatterLayout,
  visit: (target: number, source: number) => void
): Generator<void> {
  const { outer, size, inner, count } = layout
  let work = 0
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < count; i++) {
      visit(o * size + positions[i], o * count + i)
      work += inner
      if (work < WORK_PER_YIELD) continue
      work = 0
      yield
    }
  }
}

function* reduce(
  updates: Tensor,
  positions: Positions,
  out: Tensor,
  layout: ScatterLayout,
  reduction: Reduction,
  useInitial: boolean
): Generator<void> {
  const block = layout.inner * DTYPES[out.type].slots
  const { sums, values, row } = yield* accumulators(updates, out, reduction)
  const hits =
    useInitial && reduction !== 'mean'
      ? undefined
      : new Uint32Array(layout.outer * layout.size).fill(useInitial ? 1 : 0)
  yield* eachUpdate(positions, layout, (target, source) => {
    if (hits === undefined || hits[target] > 0) row(sums, target * block, values, source * block, block)
    else for (let i = 0; i < block; i++) sums[target * block + i] = values[source * block + i]
    if (hits !== undefined) hits[target]++
  })
  if (reduction === 'mean' && hits !== undefined) divide(sums, hits, block, isInteger(out.type))
  const { type } = out
  if (isCodedFloat(type)) {
    const codes = out.data as Codes
    yield* inSteps(
      codes.length,
      (from, to) => narrow(type, (sums as Float32Array).subarray(from, to), codes.subarray(from, to)),
      2
    )
  } else if (sums !== out.data) (out.data as Numbers).set(sums)
}

type Row = (sums: Numbers, o: number, values: Numbers, u: number, n: number) => void
type BigRow = (sums: BigInts, o: number, values: BigInts, u: number, n: number) => void

/** Where the results are gathered, the updates in the same form, and the loop that brings them together. */
interface Accumulators {
  readonly sums: Numbers
  readonly values: Numbers
  readonly row: Row
}

/** Means are exact sums until the end. */
function* accumulators(updates: Tensor, out: Tensor, reduction: Reduction): Generator<void, Accumulators> {
  const { kind } = DTYPES[out.type]
  if (is64BitInteger(out.type)) {
    return { sums: out.data, values: updates.data, row: rowFor(BIGS, reduction) } as unknown as Accumulators
  }
  const rows = kind === 'bool' ? BOOLS : kind === 'complex' ? COMPLEX : kind === 'float' ? FLOATS : INTEGERS
  const own = kind === 'complex' ? (out.data as Numbers) : yield* readNumbers(out)
  const values = kind === 'complex' ? (updates.data as Numbers) : yield* readNumbers(updates)
  return { sums: reduction === 'mean' ? Float64Array.from(own) : own, values, row: rowFor(rows, reduction) }
}

function rowFor<R>(rows: Partial<Record<Reduction, R>>, reduction: Reduction): R {
  return rows[reduction === 'mean' ? 'add' : reduction] ?? fail('internal', `no loop for ${reduction}`)
}

const add: Row = (s, o, v, u, n) => {
  for (let i = 0; i < n; i++) s[o + i] += v[u + i]
}
const sub: Row = (s, o, v, u, n) => {
  for (let i = 0; i < n; i++) s[o + i] -= v[u + i]
}
const min: Row = (s, o, v, u, n) => {
  for (let i = 0; i < n; i++) s[o + i] = Math.min(s[o + i], v[u + i])
}
const max: Row = (s, o, v, u, n) => {
  for (let i = 0; i < n; i++) s[o + i] = Math.max(s[o + i], v[u + i])
}

const mul: Row = (s, o, v, u, n) => {
  for (let i = 0; i < n; i++) s[o + i] *= v[u + i]
}
const integerMul: Row = (s, o, v, u, n) => {
  for (let i = 0; i < n; i++) s[o + i] = Math.imul(s[o + i], v[u + i])
}
const xor: Row = (s, o, v, u, n) => {
  for (let i = 0; i < n; i++) s[o + i] ^= v[u + i]
}

const FLOATS: Partial<Record<Reduction, Row>> = { add, sub, mul, min, max }
const INTEGERS: typeof FLOATS = { add, sub, mul: integerMul, min, max }
const BOOLS: typeof FLOATS = { add: max, sub: xor, mul: min, min, max }

const COMPLEX: typeof FLOATS = {
  add,
  sub,
  mul: (s, o, v, u, n) => {
    for (let i = 0; i < n; i += 2) {
      const [re, im] = [s[o + i], s[o + i + 1]]
      s[o + i] = re * v[u + i] - im * v[u + i + 1]
      s[o + i + 1] = re * v[u + i + 1] + im * v[u + i]
    }
  }
}

const BIGS: Partial<Record<Reduction, BigRow>> = {
  add: (s, o, v, u, n) => {
    for (let i = 0; i < n; i++) s[o + i] += v[u + i]
  },
  sub: (s, o, v, u, n) => {
    for (let i = 0; i < n; i++) s[o + i] -= v[u + i]
  },
  mul: (s, o, v, u, n) => {
    for (let i = 0; i < n; i++) s[o + i] *= v[u + i]
  },
  min: (s, o, v, u, n) => {
    for (let i = 0; i < n; i++) if (v[u + i] < s[o + i]) s[o + i] = v[u + i]
  },
  max: (s, o, v, u, n) => {
    for (let i = 0; i < n; i++) if (v[u + i] > s[o + i]) s[o + i] = v[u + i]
  }
}

/** Makes sums means; those of integers are rounded towards minus infinity. */
function divide(sums: Numbers | BigInts, hits: Uint32Array, block: number, whole: boolean): void {
  for (let b = 0; b < hits.length; b++) {
    if (hits[b] < 2) continue
    for (let at = b * block; at < (b + 1) * block; at++) {
      if (sums instanceof BigInt64Array || sums instanceof BigUint64Array) {
        const count = BigInt(hits[b])
        const rest = sums[at] % count
        sums[at] = sums[at] / count - (rest < 0n ? 1n : 0n)
      } else sums[at] = whole ? Math.floor(sums[at] / hits[b]) : sums[at] / hits[b]
    }
  }
}
