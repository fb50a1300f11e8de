import { NodewiseError } from 'nodewise'
import { type ColumnType, type Field, jsonCell } from '../table.ts'
import { NUMBER } from './text-numbers.ts'

/** What the texts of a column hold: whole numbers, numbers, true and false, or text. Empty texts are no cells. */
export function typeOfTexts(texts: Iterable<string>): ColumnType {
  let isWhole = true
  let isDigits = true
  let isNumber = true
  let isBool = true
  let count = 0
  for (const text of texts) {
    if (text === '') continue
    count++
    isWhole &&= wholeOf(text) !== undefined
    isDigits &&= DIGITS.test(text)
    isNumber &&= !CODE.test(text.trim()) && !Number.isNaN(numberOf(text))
    isBool &&= BOOL.test(text)
  }
  if (count === 0) return { kind: 'string' }
  if (isBool) return { kind: 'bool' }
  if (isWhole) return { kind: 'number', type: 'int64' }
  // Whole numbers beyond 64 bits are text, since floats would have other digits.
  return isNumber && !isDigits ? { kind: 'number', type: 'float64' } : { kind: 'string' }
}

const DIGITS = /^-?(?:0|[1-9]\d*)$/
/** Digits with a leading zero are a code, such as that of a town, and no number. */
const CODE = /^[-+]?0\d+$/
const BOOL = /^(?:true|false)$/i
const numberOf = (text: string): number => (NUMBER.test(text.trim()) ? Number(text) : NaN)

/** The whole number of 64 bits that a text says. */
function wholeOf(text: string): bigint | undefined {
  if (text.length > 20 || !DIGITS.test(text)) return undefined
  const whole = BigInt(text)
  return BigInt.asIntN(64, whole) === whole ? whole : undefined
}

/**
 * The cell that a text says.
 * @throws NodewiseError `invalid-file` where the text is not what the column held in its first rows
 */
export function cellOfText(text: string, { name, type }: Field): unknown {
  if (type.kind === 'string') return text
  if (text === '') return null
  if (type.kind === 'bool' && BOOL.test(text)) return text.toLowerCase() === 'true'
  const number = type.kind === 'number' ? (type.type === 'int64' ? wholeOf(text) : numberOf(text)) : undefined
  return number === undefined || Number.isNaN(number) ? otherType(name, type, text) : number
}

/** A cell is not of the type that the first rows of its column have. */
export function otherType(name: string, type: ColumnType, cell: unknown): never {
  const what = type.kind === 'number' ? (type.type === 'int64' ? 'whole numbers' : 'numbers') : KINDS[type.kind]
  throw new NodewiseError(
    'invalid-file',
    `column "${name}": ${jsonCell(cell).slice(0, 100)} where the first rows have ${what}; ` +
      'a table that stays in its format takes the column as it is'
  )
}

const KINDS = {
  bool: 'true and false',
  string: 'texts',
  binary: 'bytes',
  date: 'dates',
  timestamp: 'times',
  json: 'objects',
  list: 'lists'
} as const
