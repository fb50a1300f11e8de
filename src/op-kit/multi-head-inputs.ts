import { fail } from '../errors.ts'
import { type Heads, headsInBlocks, headsInRows } from '../kernels/attention/heads.ts'
import { type Dim, printShape, subDims, unknownDim } from '../shapes/dim.ts'
import type { TensorFact } from '../shapes/fact.ts'
import type { Numbers } from '../tensor/elements.ts'
import { meetShape, sizeOfHeads } from './ranks.ts'

/**
 * How queries, keys and values are given: each by itself, `[batch, length, heads * size]`; keys and values as
 * `[batch, heads, length, size]`; keys and values of each head together, `[batch, length, heads, 2, size]`; all three
 * of each head together, `[batch, length, heads, 3, size]`; or all heads of the queries, of the keys and of the values
 * together, `[batch, length, columns]`.
 */
export type InputForm = 'apart' | 'blocks' | 'keys with values' | 'by head' | 'by kind'

/** Sizes of the inputs of multi-head attention. */
export interface InputLayout {
  readonly form: InputForm
  readonly batch: Dim
  readonly queries: Dim
  /** Number of keys. */
  readonly fresh: Dim
  /** Columns of a head of queries and keys. */
  readonly size: Dim
  /** Columns of a head of values. */
  readonly width: Dim
}

type Given = TensorFact | undefined

/**
 * Works out how the inputs are given. Undefined: a rank is not known.
 * @param values columns of all heads of the values, where the form does not say them
 * @throws NodewiseError `unknown-attribute-value` for no heads, `missing-input`, `unexpected-input`, `rank-mismatch`,
 *   `dims-mismatch`, `shape-mismatch`
 */
export function inputLayout(
  query: TensorFact,
  key: Given,
  value: Given,
  heads: number,
  values?: Dim
): InputLayout | undefined {
  const shape = query.shape
  if (shape === undefined) return undefined
  if (shape.length === 5) return allByHead(shape, key, value, heads)
  const [batch, queries, columns] = meetShape('query', query, [unknownDim(), unknownDim(), unknownDim()])
  if (key === undefined) return allByKind(batch, queries, columns, value, heads, values)
  const size = sizeOfHeads('query', columns, heads)
  if (key.shape === undefined) return undefined
  const rank = key.shape.length
  if (rank === 5) {
    if (value) fail('unexpected-input', 'the keys hold the values; value must be left out')
    const fresh = meetShape('key', key, [batch, unknownDim(), heads, 2, size])[1]
    return { form: 'keys with values', batch, queries, fresh, size, width: size }
  }
  if (value === undefined) fail('missing-input', 'value is left out; keys of rank 3 or 4 need it')
  if (rank === 4) {
    const fresh = meetShape('key', key, [batch, heads, unknownDim(), size])[2]
    const width = meetShape('value', value, [batch, heads, fresh, unknownDim()])[3]
    return { form: 'blocks', batch, queries, fresh, size, width }
  }
  const fresh = meetShape('key', key, [batch, unknownDim(), columns])[1]
  const width = sizeOfHeads('value', meetShape('value', value, [batch, fresh, unknownDim()])[2], heads)
  return { form: 'apart', batch, queries, fresh, size, width }
}

function allByHead(shape: readonly Dim[], key: Given, value: Given, heads: number): InputLayout {
  if (key || value) fail('unexpected-input', 'the query holds keys and values; key and value must be left out')
  const [batch, queries, , , size] = meetShape('query', { kind: 'tensor', shape }, [
    unknownDim(),
    unknownDim(),
    heads,
    3,
    unknownDim()
  ])
  return { form: 'by head', batch, queries, fresh: queries, size, width: size }
}

function allByKind(
  batch: Dim,
  queries: Dim,
  columns: Dim,
  value: Given,
  heads: number,
  values: Dim | undefined
): InputLayout {
  if (values === undefined)
    fail('missing-input', `a query of shape ${printShape([batch, queries, columns])} needs keys and values`)
  if (value) fail('unexpected-input', 'the query holds keys and values; value must be left out')
  const width = sizeOfHeads('the values', values, heads)
  const size = sizeOfHeads('queries and keys', subDims(columns, values), 2 * heads)
  return { form: 'by kind', batch, queries, fresh: queries, size, width }
}

/** Heads of queries, keys and values. */
export interface InputHeads {
  readonly q: Heads
  readonly k: Heads
  readonly v: Heads
}

/** The heads of inputs whose layout is known in full. */
export function inputHeads(
  { form, queries, fresh, size, width }: InputLayout,
  heads: number,
  query: Numbers,
  key: Numbers | undefined,
  value: Numbers | undefined
): InputHeads {
  const [s, l, h, w] = [queries, fresh, size, width] as number[]
  if (form === 'by head') {
    const part = (kind: number): Heads => headsInRows(query, heads, s, h, heads * 3 * h, kind * h, 3 * h)
    return { q: part(0), k: part(1), v: part(2) }
  }
  if (form === 'by kind') {
    const columns = heads * (2 * h + w)
    const part = (of: number, first: number): Heads => headsInRows(query, heads, s, of, columns, first)
    return { q: part(h, 0), k: part(h, heads * h), v: part(w, 2 * heads * h) }
  }
  const q = headsInRows(query, heads, s, h)
  if (key === undefined) fail('internal', 'keys are given in this form')
  if (form === 'keys with values') {
    const part = (kind: number): Heads => headsInRows(key, heads, l, h, heads * 2 * h, kind * h, 2 * h)
    return { q, k: part(0), v: part(1) }
  }
  if (value === undefined) fail('internal', 'values are given in this form')
  const part = form === 'blocks' ? headsInBlocks : headsInRows
  return { q, k: part(key, heads, l, h), v: part(value, heads, l, w) }
}
