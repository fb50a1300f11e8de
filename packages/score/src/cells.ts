import { type DType, NodewiseError } from 'nodewise'
import { badUsage } from './mapping.ts'
import { jsonCell } from './table.ts'

/** The least and greatest element of types of whole numbers. */
const RANGES: Partial<Record<DType, readonly [bigint, bigint]>> = Object.fromEntries(
  [2, 4, 8, 16, 32, 64].flatMap(bits => [
    [`int${bits}`, [-(1n << BigInt(bits - 1)), (1n << BigInt(bits - 1)) - 1n]],
    [`uint${bits}`, [0n, (1n << BigInt(bits)) - 1n]]
  ])
)

/**
 * A cell as an element of a tensor: a bigint of whole numbers, a number, a boolean or a string. Texts say numbers too.
 * @throws NodewiseError `type-mismatch` for what cannot be such an element, null included
 */
export function elementOf(cell: unknown, type: DType, name: string): unknown {
  const no = (why: string): never => {
    throw new NodewiseError('type-mismatch', `input "${name}" is ${type}; ${jsonCell(cell).slice(0, 100)} ${why}`)
  }
  if (cell === null || cell === undefined) return no('is no value')
  if (type === 'string') return typeof cell === 'object' ? no('is no text') : String(cell)
  if (type === 'bool') return boolOf(cell) ?? no('is neither true nor false')
  const range = RANGES[type]
  if (!range) return numberOf(cell) ?? no('is no number')
  const whole = wholeOf(cell) ?? no('is no whole number')
  return whole >= range[0] && whole <= range[1] ? whole : no(`is not in ${range[0]} … ${range[1]}`)
}

function boolOf(cell: unknown): boolean | undefined {
  if (typeof cell === 'boolean') return cell
  const text = String(cell).toLowerCase()
  return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : undefined
}

function numberOf(cell: unknown): number | undefined {
  if (typeof cell === 'number') return cell
  if (typeof cell === 'bigint' || typeof cell === 'boolean') return Number(cell)
  if (typeof cell !== 'string' || cell.trim() === '') return undefined
  if (/^nan$/i.test(cell.trim())) return NaN
  // As pandas and the C library write it.
  const [, sign] = /^([-+]?)inf(?:inity)?$/i.exec(cell.trim()) ?? []
  if (sign !== undefined) return sign === '-' ? -Infinity : Infinity
  const number = Number(cell)
  return Number.isNaN(number) ? undefined : number
}

function wholeOf(cell: unknown): bigint | undefined {
  if (typeof cell === 'bigint') return cell
  if (typeof cell === 'string' && /^\s*-?\d+\s*$/.test(cell)) return BigInt(cell)
  const number = numberOf(cell)
  return number !== undefined && Number.isInteger(number) ? BigInt(number) : undefined
}

/** Whether elements of a type are whole numbers, which are bigints here. */
export const isWhole = (type: DType): boolean => RANGES[type] !== undefined

/** What stands where a row has no element and none is asked for. */
export const zeroOf = (type: DType): unknown =>
  type === 'string' ? '' : type === 'bool' ? false : isWhole(type) ? 0n : 0

/**
 * What fills rows that are shorter than others.
 * @throws NodewiseError `bad-usage` where it is no element of the type
 */
export function padOf(pad: number | string, type: DType, name: string): unknown {
  if (type === 'bool') return false
  try {
    return elementOf(pad, type, name)
  } catch (error) {
    return badUsage(`--pad ${pad}: ${(error as NodewiseError).reason}`)
  }
}
