import { fail } from '../../errors.ts'
import { isPartial, type Movable } from '../../shapes/fact.ts'
import { DTYPES, is64BitInteger, isInteger } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { type Codes, isCodedFloat, narrow } from '../../tensor/floats.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { type BigInts, readNumbers } from '../core/numbers.ts'
import { COST, inChunks, Pace } from '../core/pace.ts'
import type { Positions } from '../core/positions.ts'
import { copyUnits, unitsOf } from '../core/units.ts'

/** What becomes of an element and its updates; `none`: the last update replaces it. */
export type Reduction = 'none' | 'add' | 'sub' | 'mul' | 'min' | 'max' | 'mean'

/** How Scatter sees its output: `[outer, size, inner]`, and its updates: `[outer, count, inner]`. */
export interface ScatterLayout {
  readonly outer: number
  readonly size: number
  readonly inner: number
  readonly count: number
}

/**
 * Copies `data` to `out`, unless they are the same, then writes update `i` of each outer slice to `positions[i]`, one
 * after the other.
 * @param useInitial false: elements of `data` that are updated do not take part in the reduction
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
  if (out.data !== data.data) {
    const { array: from } = unitsOf(data)
    const to = unitsOf(out).array
    yield* inChunks(from.length, (start, end) => copyUnits(from, start, to, start, end - start), COST.copy)
  }
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

/** Calls `visit` with the number of each update's block, and that of the output block where it goes. */
function* eachUpdate(
  positions: Positions,
  layout: ScatterLayout,
  visit: (target: number, source: number) => void
): Generator<void> {
  const { outer, size, inner, count } = layout
  const pace = new Pace()
  const cost = inner * COST.element
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < count; i++) {
      visit(o * size + positions[i], o * count + i)
      if (pace.isDue(cost)) yield
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
  const { sums, values, reduceBlock } = yield* accumulators(updates, out, reduction)
  const hits =
    useInitial && reduction !== 'mean'
      ? undefined
      : new Uint32Array(layout.outer * layout.size).fill(useInitial ? 1 : 0)
  if (block === 1 && hits === undefined) yield* reduceElements(positions, layout, sums, values, reduction, reduceBlock)
  else
    yield* eachUpdate(positions, layout, (target, source) => {
      if (hits === undefined || hits[target] > 0) reduceBlock(sums, target * block, values, source * block, block)
      else for (let i = 0; i < block; i++) sums[target * block + i] = values[source * block + i]
      if (hits !== undefined) hits[target]++
    })
  if (reduction === 'mean' && hits !== undefined) divide(sums, hits, block, isInteger(out.type))
  const { type } = out
  if (isCodedFloat(type)) {
    const codes = out.data as Codes
    yield* inChunks(codes.length, (from, to) =>
      narrow(type, (sums as Float32Array).subarray(from, to), codes.subarray(from, to))
    )
  } else if (sums !== out.data) (out.data as Numbers).set(sums)
}

/** Updates of single elements, which have loops of their own: a call for each would take several times as long. */
function* reduceElements(
  positions: Positions,
  { outer, size, count }: ScatterLayout,
  sums: Numbers,
  values: Numbers,
  reduction: Reduction,
  reduceBlock: ReduceBlock
): Generator<void> {
  const isSum = reduction === 'add' && sums instanceof Float32Array && values instanceof Float32Array
  for (let o = 0; o < outer; o++) {
    const at = o * size
    const first = o * count
    yield* inChunks(count, (from, to) => {
      if (isSum) for (let i = from; i < to; i++) sums[at + positions[i]] += values[first + i]
      else for (let i = from; i < to; i++) reduceBlock(sums, at + positions[i], values, first + i, 1)
    })
  }
}

/** Reduces `n` updates from `u` on into the elements from `o` on. */
type ReduceBlock = (sums: Numbers, o: number, values: Numbers, u: number, n: number) => void
type ReduceBigBlock = (sums: BigInts, o: number, values: BigInts, u: number, n: number) => void

/** What a reduction computes with: the output as numbers, the updates as numbers, and the loop over a block. */
interface Accumulators {
  readonly sums: Numbers
  readonly values: Numbers
  readonly reduceBlock: ReduceBlock
}

/** For means the sums are those of doubles, divided at the end. */
function* accumulators(updates: Tensor, out: Tensor, reduction: Reduction): Generator<void, Accumulators> {
  const { kind } = DTYPES[out.type]
  if (is64BitInteger(out.type)) {
    return { sums: out.data, values: updates.data, reduceBlock: loopFor(BIGS, reduction) } as unknown as Accumulators
  }
  const loops = kind === 'bool' ? BOOLS : kind === 'complex' ? COMPLEX : kind === 'float' ? FLOATS : INTEGERS
  const own = kind === 'complex' ? (out.data as Numbers) : yield* readNumbers(out)
  const values = kind === 'complex' ? (updates.data as Numbers) : yield* readNumbers(updates)
  return { sums: reduction === 'mean' ? Float64Array.from(own) : own, values, reduceBlock: loopFor(loops, reduction) }
}

function loopFor<R>(loops: Partial<Record<Reduction, R>>, reduction: Reduction): R {
  return loops[reduction === 'mean' ? 'add' : reduction] ?? fail('internal', `no loop for ${reduction}`)
}

const add: ReduceBlock = (s, o, v, u, n) => {
  for (let i = 0; i < n; i++) s[o + i] += v[u + i]
}
const sub: ReduceBlock = (s, o, v, u, n) => {
  for (let i = 0; i < n; i++) s[o + i] -= v[u + i]
}
const min: ReduceBlock = (s, o, v, u, n) => {
  for (let i = 0; i < n; i++) s[o + i] = Math.min(s[o + i], v[u + i])
}
const max: ReduceBlock = (s, o, v, u, n) => {
  for (let i = 0; i < n; i++) s[o + i] = Math.max(s[o + i], v[u + i])
}

const mul: ReduceBlock = (s, o, v, u, n) => {
  for (let i = 0; i < n; i++) s[o + i] *= v[u + i]
}
const integerMul: ReduceBlock = (s, o, v, u, n) => {
  for (let i = 0; i < n; i++) s[o + i] = Math.imul(s[o + i], v[u + i])
}
const xor: ReduceBlock = (s, o, v, u, n) => {
  for (let i = 0; i < n; i++) s[o + i] ^= v[u + i]
}

const FLOATS: Partial<Record<Reduction, ReduceBlock>> = { add, sub, mul, min, max }
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

const BIGS: Partial<Record<Reduction, ReduceBigBlock>> = {
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

/** Divides sums by their counts; means of integers are rounded towards minus infinity. */
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
