import { fail } from '../errors.ts'
import {
  addDims,
  type Dim,
  maxDim,
  maxDims,
  mayMatch,
  minDim,
  mulDims,
  printDim,
  productOf,
  unknownDim
} from '../shapes/dim.ts'
import type { TensorFact } from '../shapes/fact.ts'
import type { DType } from '../tensor/dtype.ts'
import { checkAttentionBias, pastRows } from './multi-head.ts'
import { checkSingle, meetShape, sizeOfHeads } from './ranks.ts'

/** Operands of attention whose query heads share keys and values in groups. */
export interface GroupedOperands<T> {
  readonly query: T
  readonly key: T | undefined
  readonly value: T | undefined
  readonly pastKey: T | undefined
  readonly pastValue: T | undefined
  readonly lengths: T
  readonly cos: T | undefined
  readonly sin: T | undefined
  readonly positions: T | undefined
  readonly bias: T | undefined
  readonly sinks: T | undefined
  readonly keyScale: T | undefined
  readonly valueScale: T | undefined
  readonly queryNorm: T | undefined
  readonly keyNorm: T | undefined
  readonly blockRows: T | undefined
  readonly blockColumns: T | undefined
}

/** Parameters that shapes depend on. */
export interface GroupedParams {
  /** Heads of the queries, and of keys and values. */
  readonly heads: number
  readonly shared: number
  readonly causal: boolean
  readonly window: number
  readonly rotates: boolean
  /** Bits of the codes of a quantized cache; 0: none. */
  readonly bits: number
  readonly keyScales: Scales
  readonly valueScales: Scales
  /** The past has a fixed number of rows and holds the last positions only. */
  readonly slides: boolean
  /** Queries and keys of a block of a block mask; 0: none. */
  readonly block: number
}

/** Whether a quantized cache has one scale, or one for each head and column. */
export type Scales = 'none' | 'tensor' | 'channel'

/** Sizes of grouped attention. */
export interface GroupedSizes {
  readonly batch: Dim
  readonly fresh: Dim
  /** Columns of a head. */
  readonly size: Dim
  /** Rows of the past, and of the present. */
  readonly past: Dim
  readonly present: Dim
}

/**
 * Sizes of a call whose query has a known rank.
 * @param total the largest number of keys of an entry of the batch
 * @throws NodewiseError where operands or parameters do not fit
 */
export function groupedSizes(x: GroupedOperands<TensorFact>, p: GroupedParams, total: Dim): GroupedSizes {
  checkParams(x, p)
  const packed = x.key === undefined
  const [batch, fresh, columns] = meetShape('query', x.query, [unknownDim(), unknownDim(), unknownDim()])
  const size = sizeOfHeads('query', columns, packed ? p.heads + 2 * p.shared : p.heads)
  const own = [batch, fresh, mulDims(size, p.shared)]
  meetShape('key', x.key, own)
  meetShape('value', x.value, own)
  const width = p.bits === 4 ? halfOf(size) : size
  const past = pastRows(x.pastKey, x.pastValue, [batch, p.shared, width, width])
  checkTotal(total, past, fresh, p)
  meetShape('the lengths of keys', x.lengths, x.lengths.shape?.length === 2 ? [batch, 1] : [batch])
  checkTables(x, p, size)
  if (x.positions) meetShape('position_ids', x.positions, [batch, fresh])
  const scores = { batch, heads: p.heads, queries: fresh, keys: total, fresh }
  checkAttentionBias(x.bias, scores)
  meetShape('head_sink', x.sinks, [p.heads])
  meetShape('q_norm_weight', x.queryNorm, [size])
  meetShape('k_norm_weight', x.keyNorm, [size])
  checkScales('k_scale', x.keyScale, p.keyScales, [1, p.shared, 1, size])
  checkScales('v_scale', x.valueScale, p.valueScales, [1, p.shared, 1, size])
  if (x.blockRows && x.blockColumns) {
    const [layouts] = meetShape('block_row_indices', x.blockRows, [unknownDim(1), unknownDim(1)])
    meetShape('block_col_indices', x.blockColumns, [layouts, unknownDim()])
  }
  return { batch, fresh, size, past, present: p.slides ? past : maxDims(total, past) }
}

function checkParams(x: GroupedOperands<TensorFact>, p: GroupedParams): void {
  const { heads, shared } = p
  if (heads < 1 || shared < 1)
    fail('unknown-attribute-value', `there are ${heads} heads and ${shared} of keys; expected 1 or more`)
  if (heads % shared !== 0) fail('dims-mismatch', `${heads} query heads are no multiple of ${shared} heads of keys`)
  if (!p.causal && p.window > 0) fail('unknown-attribute-value', 'local_window_size needs causal attention')
  if ((x.key === undefined) !== (x.value === undefined)) fail('missing-input', 'key and value must be given together')
  if (p.rotates && !(x.cos && x.sin)) fail('missing-input', 'do_rotary needs cos_cache and sin_cache')
  if (p.slides && !(x.pastKey && p.window > 0))
    fail('missing-input', 'sliding_window_cache needs a past and a positive local_window_size')
}

/** Fresh rows are appended to the past, or the past is a buffer with room for them. */
function checkTotal(total: Dim, past: Dim, fresh: Dim, { slides, window, block }: GroupedParams): void {
  if (slides) {
    if (maxDim(past) < window) fail('dims-mismatch', `the past has ${printDim(past)} rows; the window has ${window}`)
    return
  }
  if (minDim(total) <= maxDim(past) || (block === 0 && mayMatch(total, addDims(past, fresh)))) return
  fail(
    'value-out-of-range',
    `total_sequence_length is ${printDim(total)}; the past has ${printDim(past)} rows, and ${printDim(fresh)} are fresh`
  )
}

function checkTables({ cos, sin }: GroupedOperands<TensorFact>, { rotates }: GroupedParams, size: Dim): void {
  if (!rotates) return
  const [limit, half] = meetShape('cos_cache', cos, [unknownDim(), unknownDim()])
  meetShape('sin_cache', sin, [limit, half])
  if (2 * minDim(half) > maxDim(size))
    fail(
      'dims-mismatch',
      `cos_cache has ${printDim(half)} columns; heads of ${printDim(size)} elements have fewer pairs`
    )
}

function checkScales(name: string, fact: TensorFact | undefined, scales: Scales, channels: readonly Dim[]): void {
  if (scales === 'none') return
  if (fact === undefined) fail('missing-input', `${name} is left out; a quantized cache needs it`)
  if (scales === 'channel') meetShape(name, fact, channels)
  else if (fact.shape && !mayMatch(productOf(fact.shape), 1)) checkSingle(name, fact)
}

function halfOf(size: Dim): Dim {
  if (typeof size !== 'number') return unknownDim()
  if (size % 2 !== 0) fail('dims-mismatch', `rows of ${size} codes of 4 bits do not fill whole bytes`)
  return size / 2
}

const CACHE_TYPES: Readonly<Record<number, readonly DType[]>> = { 4: ['uint8'], 8: ['int8', 'float8e4m3fn'] }

/**
 * The element type of the cache.
 * @throws NodewiseError `type-mismatch`, `unknown-attribute-value`
 */
export function cacheType(query: TensorFact, past: TensorFact | undefined, p: GroupedParams): DType | undefined {
  const quantized = p.keyScales !== 'none' || p.valueScales !== 'none'
  if (quantized !== (p.bits !== 0) || (quantized && (p.keyScales === 'none' || p.valueScales === 'none')))
    fail('unknown-attribute-value', 'kv_cache_bit_width, k_quant_type and v_quant_type do not go together')
  const types = p.bits === 0 ? (query.type ? [query.type] : undefined) : CACHE_TYPES[p.bits]
  if (types === undefined && p.bits !== 0)
    fail('unknown-attribute-value', `kv_cache_bit_width is ${p.bits}; expected 4 or 8`)
  if (types && past?.type && !types.includes(past.type))
    fail('type-mismatch', `the past has type ${past.type}; expected ${types.join(' or ')}`)
  return past?.type ?? types?.[0]
}
