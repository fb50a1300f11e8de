import { NodewiseError } from '../../errors.ts'
import type { Json } from '../../io/json-text.ts'
import { printable } from '../../io/print.ts'
import { DTYPES } from '../../tensor/dtype.ts'
import { toDoubles } from '../../tensor/elements.ts'
import { isTensor, type Value } from '../../tensor/tensor.ts'
import { readTextFile } from '../text-file.ts'

/** One of the best classes of a row. */
export interface Ranked {
  /** Index of the class; of a map its key. */
  readonly index: number | string
  readonly label?: string
  readonly score: number
}

/**
 * Names of classes in order: lines of text, a JSON list, or a JSON object by index, whose items may be lists that end
 * in the name (as Keras has those of ImageNet), or of indices by name.
 * @throws NodewiseError `missing-file`, `invalid-file`
 */
export function readLabels(path: string): string[] {
  const text = readTextFile(path)
  if (!/^\s*[[{]/.test(text)) return text.replace(/\r?\n$/, '').split(/\r?\n/)
  try {
    const json = JSON.parse(text) as object
    const items: unknown[] = Array.isArray(json) ? json : Object.assign([], byIndex(json))
    if (items.length === 0) throw new Error('it names no class: a list is needed, or an object by index')
    return Array.from(items, item => String(Array.isArray(item) ? item[item.length - 1] : (item ?? '')))
  } catch (error) {
    throw new NodewiseError('invalid-file', (error as Error).message, { file: path })
  }
}

/** An object by index: one of indices by name, such as `label2id` of Transformers, is turned round. */
function byIndex(json: object): object {
  const entries = Object.entries(json)
  const isByName = entries.every(([, item]) => Number.isInteger(item) && (item as number) >= 0)
  return isByName ? Object.fromEntries(entries.map(([name, index]) => [index as number, name])) : json
}

/**
 * The best classes of each row of scores, best first; equal scores by their order. Undefined for what holds no scores:
 * anything but numbers with a fraction along a last dim of more than one, and maps to such.
 */
export function topOf(value: Value, count: number, labels?: readonly string[]): Ranked[][] | undefined {
  if (value.type === 'optional') return value.value && topOf(value.value, count, labels)
  if (value.type === 'sequence') {
    const rows = value.values.map(item => topOf(item, count, labels))
    return rows.length > 0 && rows.every(row => row !== undefined) ? rows.flat() : undefined
  }
  if (value.type === 'map') {
    const entries = [...value.entries] as [string | bigint, unknown][]
    if (DTYPES[value.valueType].kind !== 'float') return undefined
    return [
      best(
        entries.map(([key, score]) => ({ index: String(key), score: Number(score) })),
        count
      )
    ]
  }
  const classes = value.dims[value.dims.length - 1] ?? 0
  if (!isTensor(value) || DTYPES[value.type].kind !== 'float' || classes < 2) return undefined
  const scores = toDoubles(value)
  return Array.from({ length: scores.length / classes }, (_, row) =>
    best(
      Array.from({ length: classes }, (_, index) => ({
        index,
        ...(labels?.[index] !== undefined && { label: labels[index] }),
        score: scores[row * classes + index]
      })),
      count
    )
  )
}

/** NaN counts as the least. */
const best = (ranked: Ranked[], count: number): Ranked[] =>
  ranked.sort((a, b) => (b.score !== b.score ? -1 : a.score !== a.score ? 1 : b.score - a.score)).slice(0, count)

/** `probability: the best 2 of each row`, then a line a class, rows apart. */
export function topText(name: string, rows: readonly (readonly Ranked[])[]): string {
  const blocks = rows.map((row, i) => [
    ...(rows.length > 1 ? [`row ${i}`] : []),
    ...row.map(({ index, label, score }) => {
      const words = label === undefined ? String(index) : `${index}  ${label}`
      return `  ${score.toPrecision(5).padStart(11)}  ${printable(words)}`
    })
  ])
  return [`${printable(name)}: the best ${rows[0]?.length ?? 0}`, ...blocks.flat()].join('\n')
}

export const topJson = (rows: readonly (readonly Ranked[])[]): Json => rows.map(row => row.map(one => ({ ...one })))
