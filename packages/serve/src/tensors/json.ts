import { dataToJson, type DType, type Json, stringifyExact, Tensor, tensorFromJson } from 'nodewise'
import { Refusal, refusalOf } from '../refusal.ts'
import { arrayOf, NARROW, type PlainTensor, type Shape } from './datatypes.ts'

/** Marks an integer that a double cannot hold, in a document read by {@link parseBody}. */
const MARK = '\u0000int:'
/** Such an integer; a client's own text may begin with the mark, too. */
const MARKED = /^\0int:-?\d{16,20}$/
const LONG_INTEGER = /\d{16}/
/**
 * What begins or ends a string, what is escaped in one, or an integer of many digits that has no fraction and no
 * exponent. A pattern of whole strings would keep a place to go back to for each escape: its stack is not that large.
 */
const QUOTE_OR_LONG = /"|\\.|(?<![\d.eE+-])-?\d{16,20}(?![\d.eE])/gs

/**
 * Parses a document and keeps integers of 64 bits: those that doubles cannot hold become marked strings, which
 * {@link tensorFromData} reads. `JSON.parse` is ten times as fast as a parser that makes each integer exact.
 * @throws Refusal `bad-request`
 */
export function parseBody(text: string): unknown {
  try {
    if (!LONG_INTEGER.test(text)) return JSON.parse(text) as unknown
    let isString = false
    const kept = text.replace(QUOTE_OR_LONG, found => {
      if (found === '"') isString = !isString
      return isString || found === '"' || found[0] === '\\' ? found : `"\\u0000int:${found}"`
    })
    return JSON.parse(kept) as unknown
  } catch (error) {
    throw new Refusal('bad-request', `the body is no JSON: ${(error as Error).message}`)
  }
}

/** Types whose elements are stored as something else than numbers: as codes of small floats, and as pairs. */
export const isCoded = (type: DType): boolean =>
  type === 'bfloat16' || type === 'nf4' || type.startsWith('complex') || /^float(16|8|4)/.test(type)

/**
 * A tensor from `data` of a request, flat or nested, in row-major order.
 * @throws Refusal `bad-request` where the data are not of the type, or not as many as the shape says
 */
export function tensorFromData(name: string, type: DType, shape: Shape, data: unknown): PlainTensor {
  const wrong = (why: string): never => {
    throw new Refusal('bad-request', `input "${name}": ${why}`)
  }
  if (!Array.isArray(data)) wrong('it has no array "data"')
  const items = flat(data as unknown[], shape.count * (type.startsWith('complex') ? 2 : 1), wrong)
  if (isCoded(type)) return codedTensor(name, type, shape, items)
  if (items.length !== shape.count) wrong(`its shape holds ${shape.count} elements, ${items.length} are there`)
  const { dims } = shape
  const array = arrayOf(type)
  if (array === undefined) {
    if (items.some(item => typeof item !== 'string' || isLong(item))) wrong('an element is no string')
    return { type, dims, data: items as string[] }
  }
  const target = new array(items.length)
  if (type === 'int64' || type === 'uint64') fillWide(target as BigInt64Array, items, wrong)
  else fill(type, target as Float64Array, items, wrong)
  return { type, dims, data: target as PlainTensor['data'] }
}

/** Elements of nested arrays in their order; `most` are expected, and no more are gathered. */
function flat(data: readonly unknown[], most: number, wrong: (why: string) => never): readonly unknown[] {
  if (!data.some(Array.isArray)) return data
  const items: unknown[] = []
  const visit = (list: readonly unknown[], depth: number): void => {
    if (depth > 64) wrong('its data are nested deeper than a tensor can be')
    for (const item of list) {
      if (Array.isArray(item)) visit(item, depth + 1)
      else if (items.push(item) > most) wrong('its data are more than its shape holds')
    }
  }
  visit(data, 0)
  return items
}

const NUMBERS: Readonly<Record<string, number>> = { NaN, Infinity, '-Infinity': -Infinity }

/** What a text stands for where a number is expected; NaN and infinities have no form of their own in JSON. */
const numberOf = (item: unknown): number | undefined =>
  typeof item === 'number'
    ? item
    : typeof item !== 'string'
      ? undefined
      : isLong(item)
        ? Number(item.slice(MARK.length))
        : NUMBERS[item]

function fill(type: DType, target: Float64Array, items: readonly unknown[], wrong: (why: string) => never): void {
  const isFloat = type === 'float32' || type === 'float64'
  const [least, most] = NARROW[type] ?? [-Infinity, Infinity]
  for (let i = 0; i < items.length; i++) {
    const item = items[i]
    const value = type === 'bool' && typeof item === 'boolean' ? Number(item) : isFloat ? numberOf(item) : item
    if (typeof value !== 'number') return wrong(`${shown(item)} at ${i} is no ${type}`)
    target[i] = value
    if (!isFloat && (target[i] !== value || value < least || value > most))
      return wrong(`${shown(item)} at ${i} is no ${type}`)
  }
}

function fillWide(target: BigInt64Array, items: readonly unknown[], wrong: (why: string) => never): void {
  for (let i = 0; i < items.length; i++) {
    const item = items[i]
    const isWhole = typeof item === 'number' ? Number.isSafeInteger(item) : isLong(item)
    if (!isWhole) return wrong(`${shown(item)} at ${i} is no integer of 64 bits`)
    const value = typeof item === 'number' ? BigInt(item) : BigInt((item as string).slice(MARK.length))
    target[i] = value
    if (target[i] !== value) return wrong(`${value} at ${i} does not fit`)
  }
}

/** Whether a value of a document is an integer that a double cannot hold. */
export const isLong = (item: unknown): boolean => typeof item === 'string' && MARKED.test(item)

const shown = (item: unknown): string => (JSON.stringify(item) ?? 'undefined').replace('\\u0000int:', '').slice(0, 40)

function codedTensor(name: string, type: DType, { dims, count }: Shape, items: readonly unknown[]): PlainTensor {
  try {
    const isComplex = type.startsWith('complex')
    const numbers = items.map(item => (isLong(item) ? numberOf(item) : item))
    const pairs = isComplex
      ? Array.from({ length: items.length / 2 }, (_, i) => numbers.slice(2 * i, 2 * i + 2))
      : numbers
    if (items.length !== count * (isComplex ? 2 : 1)) throw new Refusal('bad-request', 'its shape holds another number')
    const { data } = tensorFromJson(pairs as Json, { type, dims })
    return { type, dims, data }
  } catch (error) {
    throw new Refusal('bad-request', `input "${name}": ${refusalOf(error).message}`)
  }
}

/** The elements of a tensor as the text of a JSON array; flat, complex elements as two numbers. */
export function dataText({ type, dims, data }: PlainTensor): string {
  if (Array.isArray(data)) return JSON.stringify(data)
  if (type === 'bool') return `[${Array.from(data as Uint8Array, bit => (bit === 0 ? 'false' : 'true')).join(',')}]`
  if (isCoded(type)) {
    const elements = dataToJson(new Tensor(type, data, dims))
    return stringifyExact(type.startsWith('complex') ? elements.flat() : elements)
  }
  const isFloat = type === 'float32' || type === 'float64'
  const isPlain = !isFloat || (data as Float32Array).every(value => Number.isFinite(value) && !Object.is(value, -0))
  return isPlain ? `[${data.join(',')}]` : stringifyExact(Array.from(data as Float32Array))
}
