import { formatElement } from '../../io/print.ts'
import { shortNumber } from '../../report/words.ts'
import { DTYPES } from '../../tensor/dtype.ts'
import { elementAt, toDoubles } from '../../tensor/elements.ts'
import { mapType } from '../../tensor/map.ts'
import { statisticsOf } from '../../tensor/statistics.ts'
import { elementCount, type Tensor, type Value } from '../../tensor/tensor.ts'

/** What a trace says of a value: numbers as least, greatest and mean; the first elements of everything else. */
export interface Summary {
  readonly type: string
  readonly dims?: readonly number[]
  readonly min?: number
  readonly max?: number
  readonly mean?: number
  /** Elements that are NaN; they do not count in the others. */
  readonly nans?: number
  readonly first?: readonly string[]
  /** Of a sequence or a map. */
  readonly length?: number
}

const FIRST = 4

export function summarize(value: Value): Summary {
  if (value.type === 'sequence') return { type: 'sequence', length: value.values.length }
  if (value.type === 'optional') return value.value === undefined ? { type: 'absent' } : summarize(value.value)
  if (value.type === 'map') return { type: mapType(value.keyType, value.valueType), length: value.entries.size }
  const { kind } = DTYPES[value.type]
  const about = { type: value.type, dims: value.dims }
  if (kind === 'string' || kind === 'complex' || elementCount(value.dims) <= FIRST)
    return { ...about, first: firstElements(value) }
  return { ...about, ...statistics(value) }
}

const firstElements = (tensor: Tensor): string[] =>
  Array.from({ length: Math.min(FIRST, elementCount(tensor.dims)) }, (_, i) => formatElement(elementAt(tensor, i)))

function statistics(tensor: Tensor): Pick<Summary, 'min' | 'max' | 'mean' | 'nans'> {
  const { nans, ...rest } = statisticsOf(toDoubles(tensor))
  return { ...rest, ...(nans > 0 && { nans }) }
}

/** The elements in a few words. */
export function summaryText({ min, max, mean, nans, first, dims }: Summary): string {
  const words: string[] = []
  if (first !== undefined) {
    const more = dims !== undefined && elementCount(dims) > first.length ? ', …' : ''
    words.push(`[${first.join(', ')}${more}]`)
  }
  if (min !== undefined && max !== undefined && mean !== undefined)
    words.push(`min ${shortNumber(min)} max ${shortNumber(max)} mean ${shortNumber(mean)}`)
  if (nans !== undefined) words.push(`${nans} NaN`)
  return words.join(' ')
}
