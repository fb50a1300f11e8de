import { fail } from '../errors.ts'
import {
  addDims,
  type Dim,
  maxDim,
  mayMatch,
  meetDims,
  minDim,
  mulDims,
  printDim,
  printShape,
  unknownDim
} from '../shapes/dim.ts'
import type { TensorFact } from '../shapes/fact.ts'
import { MAX_FLOAT32 } from '../tensor/dtype.ts'
import { checkRank, meetShape } from './ranks.ts'

/** Largest finite numbers, negated, of the types of com.microsoft's attention. */
export const LOWEST: Readonly<Record<string, number>> = {
  float16: -65504,
  bfloat16: -3.3895313892515355e38,
  float32: -MAX_FLOAT32
}

/** Sizes of multi-head attention; known ones are numbers. */
export interface MultiHeadSizes {
  readonly batch: Dim
  readonly heads: Dim
  readonly queries: Dim
  /** Keys that the call attends to: those of the past and the fresh ones. */
  readonly keys: Dim
  /** Fresh keys. */
  readonly fresh: Dim
}

/**
 * Checks a mask that is added to the scores, `[batch or 1, heads or 1, queries, keys]`.
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch`
 */
export function checkAttentionBias(bias: TensorFact | undefined, sizes: MultiHeadSizes): void {
  checkRank('attention_bias', bias, 4)
  const shape = bias?.shape
  if (shape === undefined) return
  const { batch, heads, queries, keys } = sizes
  const expected = [batch, heads, queries, keys]
  const fits = shape.every((dim, i) => mayMatch(dim, expected[i]) || (i < 2 && mayMatch(dim, 1)))
  if (!fits)
    fail(
      'dims-mismatch',
      `attention_bias has shape ${printShape(shape)}; expected ${printShape(expected)}, or 1 in the first two dims`
    )
}

/**
 * Checks a padding mask of com.microsoft (`paddingReader` says what the forms mean).
 * @param projected the forms that only Attention knows are allowed: ends with starts, one column (see
 *   {@link withoutColumn}), and a square of rank 4
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch`
 */
export function checkPadding(
  name: string,
  mask: TensorFact | undefined,
  sizes: MultiHeadSizes,
  projected: boolean
): void {
  checkRank(name, mask, 1, 2, 3, ...(projected ? [4] : []))
  const shape = mask?.shape
  if (shape === undefined) return
  const { batch, heads, queries, keys, fresh } = sizes
  const columns = shape[shape.length - 1]
  const lengths = [batch, addDims(mulDims(batch, 3), 2), ...(projected ? [mulDims(batch, 2)] : [])]
  const covers = mayMatch(columns, keys) || mayMatch(columns, fresh)
  const fits = [
    () => false,
    () => lengths.some(length => mayMatch(columns, length)),
    () => (mayMatch(shape[0], batch) && covers) || (projected && isColumn(shape, batch)),
    () => mayMatch(shape[0], batch) && mayMatch(shape[1], queries) && covers,
    () =>
      projected &&
      mayMatch(shape[0], batch) &&
      mayMatch(shape[1], 1) &&
      mayMatch(shape[2], columns) &&
      reaches(columns, keys)
  ]
  if (!fits[shape.length]())
    fail(
      'dims-mismatch',
      `${name} has shape ${printShape(shape)}; the scores have ${printShape([batch, heads, queries, keys])}`
    )
}

const isColumn = ([rows, columns]: readonly Dim[], batch: Dim): boolean =>
  mayMatch(columns, 1) && (mayMatch(rows, 1) || mayMatch(rows, batch))

/**
 * The mask of Attention, or none where it is of one column, `[batch or 1, 1]`: it is broadcast, adds the same to all
 * scores of a query, and so leaves their softmax as it is. Exporters write it where nothing is masked, and ONNX Runtime
 * takes it for no mask.
 */
export const withoutColumn = <T>(mask: T | undefined, dims: readonly Dim[] | undefined): T | undefined =>
  dims?.length === 2 && dims[1] === 1 ? undefined : mask

const reaches = (dim: Dim, size: Dim): boolean => typeof dim !== 'number' || typeof size !== 'number' || dim >= size

/**
 * The number of rows of past keys and values, 0 where there are none.
 * @throws NodewiseError `missing-input` where one is given without the other, `rank-mismatch`, `dims-mismatch`
 */
export function pastRows(
  key: TensorFact | undefined,
  value: TensorFact | undefined,
  [batch, heads, size, width]: readonly Dim[]
): Dim {
  if ((key === undefined) !== (value === undefined))
    fail('missing-input', 'past_key and past_value must be given together')
  if (key === undefined || value === undefined) return 0
  const rows = meetShape('past_key', key, [batch, heads, unknownDim(), size])[2]
  const others = meetShape('past_value', value, [batch, heads, rows, width])[2]
  return meetDims(rows, others) ?? rows
}

/**
 * Checks the number of valid rows of a buffer of past keys or values, and gives it back.
 * @throws NodewiseError `value-out-of-range` where the fresh ones do not fit behind them
 */
export function checkKept(kept: Dim, fresh: Dim, rows: Dim): Dim {
  if (maxDim(kept) < 0) fail('value-out-of-range', `past_sequence_length is ${printDim(kept)}; it is not negative`)
  if (minDim(kept) + minDim(fresh) <= maxDim(rows)) return kept
  const rest = `and ${printDim(fresh)} fresh ones exceed the ${printDim(rows)} of the buffer`
  return fail('value-out-of-range', `${printDim(kept)} rows of the past ${rest}`)
}
