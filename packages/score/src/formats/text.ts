import { NodewiseError } from 'nodewise'
import { type ColumnType, type Field, jsonCell } from '../table.ts'

/** What the texts of a column hold: whole numbers, numbers, true and false, or text. Empty texts are no cells. */
export function typeOfTexts(texts: Iterable<string>): ColumnType {
  let isWhole = true
  let isNumber = true
  let isBool = true
  let count = 0
  for (const text of texts) {
    if (text === '') continue
    count++
    isWhole &&= WHOLE.test(text)
    isNumber &&= text.trim() !== '' && !Number.isNaN(numberOf(text))
    isBool &&= BOOL.test(text)
  }
  if (count === 0) return { kind: 'string' }
  if (isBool) return { kind: 'bool' }
  if (isWhole) return { kind: 'number', type: 'int64' }
  return isNumber ? { kind: 'number', type: 'float64' } : { kind: 'string' }
}

// A number with a leading zero is a code, such as that of a town.
const WHOLE = /^-?(?:0|[1-9]\d{0,17})$/
const BOOL = /^(?:true|false)$/i
const numberOf = (text: string): number => (/^[-+]?(?:\d|\.\d)/.test(text.trim()) ? Number(text) : NaN)

/**
 * The cell that a text says.
 * @throws NodewiseError `invalid-file` where the text is not what the column held in its first rows
 */
export function cellOfText(text: string, { name, type }: Field): unknown {
  if (type.kind === 'string') return text
  if (text === '') return null
  if (type.kind === 'bool' && BOOL.test(text)) return text.toLowerCase() === 'true'
  if (type.kind === 'number' && type.type === 'int64' && WHOLE.test(text)) return BigInt(text)
  if (type.kind === 'number' && type.type === 'float64' && !Number.isNaN(numberOf(text))) return numberOf(text)
  return otherType(name, type, text)
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
