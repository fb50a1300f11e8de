import { fail } from '../errors.ts'
import { type Heads, headsInBlocks, headsInRows } from '../kernels/attention/heads.ts'
import { type Attending, behindPast } from '../kernels/attention/multi-head.ts'
import { rotateHeads } from '../kernels/attention/rotary.ts'
import { doubles, readNumbers, targetOf } from '../kernels/core/numbers.ts'
import { COST, Pace, type Paced } from '../kernels/core/pace.ts'
import { type Dim, floorDivDims, mayMatch, printDim } from '../shapes/dim.ts'
import type { Numbers } from '../tensor/elements.ts'
import type { Tensor } from '../tensor/tensor.ts'
import type { DataDependent, KernelContext, RunParams } from './define.ts'
import { withoutColumn } from './multi-head.ts'

/** Parameters of attention with projections. */
export interface ProjectedParams {
  heads: number
  /** Columns of the projected queries, keys and values; undefined: a third of all each. */
  columns: readonly number[] | undefined
  /** Undefined: 1 / sqrt(depth). */
  scale: number | undefined
  /** What the padding mask adds to the scores of masked keys. */
  filter: number
  causal: boolean
  /** Queries and keys are rotated by their positions. */
  rotates: boolean
  /** Number of elements of each head that are rotated; 0: all. */
  rotated: number
  /** Number of valid rows of the past, where it is a buffer with room for the fresh ones. */
  kept: DataDependent<number | undefined>
}

/** Operands beside the projections' own. */
export interface ProjectedOperands<T> {
  readonly mask: T | undefined
  readonly past: T | undefined
  readonly attentionBias: T | undefined
}

/**
 * Columns of queries (and of keys), and of values.
 * @throws NodewiseError `dims-mismatch`, `unknown-attribute-value`
 */
export function columnsOf({ columns }: Pick<ProjectedParams, 'columns'>, all: Dim): readonly [Dim, Dim] {
  if (columns === undefined) {
    if (typeof all === 'number' && all % 3 !== 0)
      fail('dims-mismatch', `weights have ${all} columns; expected a multiple of 3`)
    return [floorDivDims(all, 3), floorDivDims(all, 3)]
  }
  const [query, key, value] = columns
  if (columns.length !== 3 || query !== key || Math.min(query, value) < 1)
    fail('unknown-attribute-value', `qkv_hidden_sizes is [${columns.join(', ')}]; expected three, the first two equal`)
  if (!mayMatch(all, 2 * query + value))
    fail('dims-mismatch', `weights have ${printDim(all)} columns; qkv_hidden_sizes add up to ${2 * query + value}`)
  return [query, value]
}

/**
 * Attention over projected queries, keys and values; writes the results of `call`.
 * @param projected `[batch, queries, columns]`: queries, keys and values, biases included. Overwritten.
 */
export function* attendProjected(
  projected: Numbers,
  [batches, queries, all]: readonly number[],
  { mask, past, attentionBias }: ProjectedOperands<Tensor>,
  p: RunParams<ProjectedParams>,
  call: KernelContext,
  attending: Attending
): Paced {
  const { heads } = p
  const [columns, valueColumns] = columnsOf(p, all) as readonly [number, number]
  const rows = past?.dims[3] ?? 0
  const kept = (past && p.kept) ?? rows
  const parts = [columns, columns, valueColumns].map((own, i) =>
    headsInRows(projected, heads, queries, own / heads, all, i * columns)
  )
  const pace = new Pace()
  if (p.rotates) yield* rotateByPosition(parts.slice(0, 2), batches, kept, p.rotated, pace)
  const target = targetOf(call.output())
  const present = call.wanted(1) ? targetOf(call.output(1)) : undefined
  const before = past && (yield* readNumbers(past))
  const attended: Heads[] = []
  for (const [i, fresh] of parts.slice(1).entries()) {
    const half = (numbers: Numbers | undefined): Numbers | undefined =>
      numbers?.subarray((i * numbers.length) / 2, ((i + 1) * numbers.length) / 2)
    const earlier = half(before)
    attended.push(
      yield* behindPast(
        {
          heads: fresh,
          past: earlier && headsInBlocks(earlier, heads, rows, fresh.size),
          present: half(present?.numbers),
          rows: past && p.kept !== undefined ? rows : rows + queries
        },
        kept,
        batches,
        pace,
        attending.allocate
      )
    )
  }
  const out = headsInRows(target.numbers, heads, queries, valueColumns / heads)
  const { scale, causal, filter } = p
  const [q, [k, v]] = [parts[0], attended]
  const hiding = withoutColumn(mask, mask?.dims)
  yield* attending.attend({ batches, q, k, v, out, past: kept, scale, causal, mask: hiding, filter, attentionBias })
  yield* target.finish()
  if (present) yield* present.finish()
}

/** Rotates queries and keys in place; the first row of each has position `first`. */
function* rotateByPosition(
  parts: readonly Heads[],
  batches: number,
  first: number,
  rotated: number,
  pace: Pace
): Generator<void> {
  for (const heads of parts) {
    const half = (rotated === 0 ? heads.size : rotated) / 2
    const [cos, sin] = [doubles(heads.length * half), doubles(heads.length * half)]
    for (let row = 0, at = 0; row < heads.length; row++) {
      for (let i = 0; i < half; i++, at++) {
        const angle = (first + row) / 10000 ** (i / half)
        cos[at] = Math.cos(angle)
        sin[at] = Math.sin(angle)
      }
      if (pace.isDue(half * 3 * COST.transcendental)) yield
    }
    yield* rotateHeads(heads, heads, batches, { cos, sin, half, interleaved: false }, (_, row) => row * half, pace)
  }
}
