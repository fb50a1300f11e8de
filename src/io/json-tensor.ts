import { fail } from '../errors.ts'
import { requireOptions } from '../suggest.ts'
import { type DType, dtypeFromName, DTYPES, is64BitInteger } from '../tensor/dtype.ts'
import { type Element, elementsOf } from '../tensor/elements.ts'
import { encodeFloat, isCodedFloat } from '../tensor/floats.ts'
import { requireTensor } from '../tensor/given.ts'
import { allocate, elementCount, infoOf, MAX_RANK, Tensor } from '../tensor/tensor.ts'
import { isJsonObject, type Json } from './json-text.ts'

/** What a JSON literal is read as. */
export interface JsonOptions {
  /**
   * Element type. Without it: bool for booleans, string for strings, int64 for integers, float32 for other numbers and
   * for empty arrays.
   */
  readonly type?: DType | undefined
  /** Dims of the tensor, with as many elements as the literal; without them the dims follow from the nesting. */
  readonly dims?: readonly number[]
}

/**
 * A tensor from a JSON literal: nested arrays, whose lengths are the dims, or `{"type", "dims", "data"}` with flat
 * data. NaN and infinities are the strings "NaN", "Infinity" and "-Infinity", a complex element is [re, im], a bool is
 * true or false.
 * @throws NodewiseError `shape-mismatch` where the arrays are ragged or the dims wrong, `type-mismatch` for elements of
 *   another type, `value-out-of-range` for integers that the type cannot hold, `bad-usage` for options that are none
 */
export function tensorFromJson(value: Json, options: JsonOptions = {}): Tensor {
  requireOptions(options)
  if (options.type !== undefined) infoOf(options.type)
  if (isJsonObject(value)) return flatTensor(value, options)
  const { elements, dims } = flatten(value, options.type !== undefined && DTYPES[options.type].kind === 'complex')
  return tensorOf(options.type ?? naturalType(elements), elements, options.dims ?? dims)
}

/**
 * The elements in row-major order, as JSON that `stringifyExact` writes.
 * @throws NodewiseError `bad-usage` for what is no tensor
 */
export function dataToJson(tensor: Tensor): Json[] {
  requireTensor(tensor)
  return elementsOf(tensor)
}

function flatTensor(object: { readonly [key: string]: Json }, { type: asked, dims: askedDims }: JsonOptions): Tensor {
  const unknown = Object.keys(object).find(key => !['type', 'dims', 'data', 'name'].includes(key))
  if (unknown !== undefined || !Array.isArray(object.data)) {
    const found = unknown === undefined ? '' : `, not with the key ${JSON.stringify(unknown)}`
    fail('type-mismatch', `a tensor is written as nested arrays or as {"type", "dims", "data"}${found}`)
  }
  const type = object.type === undefined ? asked : typeNamed(object.type)
  if (asked !== undefined && type !== asked)
    fail('type-mismatch', `the literal is of type ${type}, ${asked} was asked for`)
  const data = object.data as readonly Json[]
  const { elements } = flatten(data, type !== undefined && DTYPES[type].kind === 'complex')
  const dims = askedDims ?? (object.dims === undefined ? [elements.length] : dimsOf(object.dims))
  return tensorOf(type ?? naturalType(elements), elements, dims)
}

function typeNamed(name: Json): DType {
  const type = typeof name === 'string' ? dtypeFromName(name) : undefined
  return type ?? fail('type-mismatch', `${JSON.stringify(String(name))} is no element type`)
}

function dimsOf(value: Json): number[] {
  const isSize = (dim: Json): boolean => typeof dim === 'bigint' && dim >= 0n
  return Array.isArray(value) && value.every(isSize)
    ? value.map(Number)
    : fail('shape-mismatch', 'dims are written as an array of sizes')
}

/**
 * Elements in row-major order, and the dims that the nesting gives.
 * @param inPairs whether elements are complex, so that the innermost arrays are elements
 */
function flatten(value: Json, inPairs: boolean): { elements: Json[]; dims: number[] } {
  const dims: number[] = []
  const isPair = (item: readonly Json[]): boolean =>
    inPairs && item.length === 2 && item.every(part => !Array.isArray(part))
  const isElement = (item: Json): boolean => !Array.isArray(item) || isPair(item)
  for (let level = value; !isElement(level); level = (level as readonly Json[])[0]) {
    const { length } = level as readonly Json[]
    dims.push(length)
    if (dims.length > MAX_RANK) fail('limit-exceeded', `a literal of rank above ${MAX_RANK}`)
    if (length === 0) break
  }
  const elements: Json[] = []
  const path: number[] = []
  const visit = (item: Json, depth: number): void => {
    if (depth === dims.length) {
      if (!isElement(item)) ragged(path)
      elements.push(item)
      return
    }
    if (isElement(item) || (item as readonly Json[]).length !== dims[depth]) ragged(path)
    ;(item as readonly Json[]).forEach((part, i) => {
      path[depth] = i
      visit(part, depth + 1)
      path.length = depth
    })
  }
  visit(value, 0)
  return { elements, dims }
}

function ragged(path: readonly number[]): never {
  fail(
    'shape-mismatch',
    `the nested arrays are ragged: the one at [${path.join(', ')}] differs in length or depth from those before it`
  )
}

function naturalType(elements: readonly Json[]): DType {
  if (elements.length === 0) return 'float32'
  if (elements.every(element => typeof element === 'boolean')) return 'bool'
  if (elements.every(element => typeof element === 'string')) return 'string'
  return elements.every(element => typeof element === 'bigint') ? 'int64' : 'float32'
}

function tensorOf(type: DType, elements: readonly Json[], dims: readonly number[]): Tensor {
  const count = elementCount(dims)
  if (count !== elements.length)
    fail('shape-mismatch', `dims [${dims.join(', ')}] hold ${count} elements, the literal ${elements.length}`)
  const store = storeOf(type)
  if (DTYPES[type].kind === 'string')
    return new Tensor(
      type,
      elements.map(element => store(element)[0] as string),
      dims
    )
  const tensor = allocate(type, dims)
  const data = tensor.data as { [i: number]: Element }
  let next = 0
  for (const element of elements) for (const part of store(element)) data[next++] = part
  return tensor
}

/** Returns a function from an element of a literal to what the storage of the type holds for it. */
function storeOf(type: DType): (element: Json) => readonly Element[] {
  const { kind } = DTYPES[type]
  const wrong = (element: Json): never => fail('type-mismatch', `${described(element)} is no element of type ${type}`)
  if (kind === 'bool') return element => (typeof element === 'boolean' ? [element ? 1 : 0] : wrong(element))
  if (kind === 'string') return element => (typeof element === 'string' ? [element] : wrong(element))
  if (kind === 'complex')
    return element => (Array.isArray(element) ? element.map(part => floatOf(part) ?? wrong(part)) : wrong(element))
  if (kind === 'float') {
    const code = isCodedFloat(type)
      ? (value: number) => encodeFloat(type, value, { saturate: false })
      : (value: number) => value
    return element => [code(floatOf(element) ?? wrong(element))]
  }
  const [min, max] = rangeOf(type)
  return element => {
    const value = typeof element === 'number' && Number.isInteger(element) ? BigInt(element) : element
    if (typeof value !== 'bigint') return wrong(element)
    if (value < min || value > max) fail('value-out-of-range', `${value} does not fit ${type} (${min} to ${max})`)
    return [is64BitInteger(type) ? value : Number(value)]
  }
}

function rangeOf(type: DType): [bigint, bigint] {
  const bits = BigInt(DTYPES[type].bits)
  return DTYPES[type].kind === 'int' ? [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n] : [0n, 2n ** bits - 1n]
}

function floatOf(element: Json): number | undefined {
  if (typeof element === 'number') return element
  if (typeof element === 'bigint') return Number(element)
  return element === 'NaN' ? NaN : element === 'Infinity' ? Infinity : element === '-Infinity' ? -Infinity : undefined
}

function described(element: Json): string {
  if (Array.isArray(element)) return 'an array'
  if (isJsonObject(element)) return 'an object'
  return typeof element === 'string' ? JSON.stringify(element.slice(0, 40)) : String(element)
}
