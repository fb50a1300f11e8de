import { fail } from '../errors.ts'
import type { Attribute, Constant, DeclaredType } from '../graph/graph.ts'
import { type DType, dtypeFromName, dtypeFromOnnx } from '../tensor/dtype.ts'
import { safeNumber } from '../tensor/elements.ts'
import { elementCount, memoryBytes, type Tensor } from '../tensor/tensor.ts'
import type {
  AttributeSource,
  BodySource,
  ConstantSource,
  DeriveSource,
  InputSource,
  NodeFacts,
  Written
} from './source-types.ts'

export type { Source } from './define.ts'
export type * from './source-types.ts'

/** A parameter that is the same for every node of the operator version. */
export const is = <const T>(value: T): ConstantSource<T> => ({ kind: 'constant', value })

/**
 * A parameter worked out from the node as a whole.
 * @param write the attributes of which `read` makes a value, where there are such
 */
export const derive = <T>(
  read: (node: NodeFacts) => T,
  write?: (value: T) => Readonly<Record<string, Written>> | undefined
): DeriveSource<T> => ({ kind: 'derive', read, ...(write && { write }) })

/** A subgraph attribute. */
export const body = (attribute: string): BodySource => ({ kind: 'body', attribute })

/** A subgraph attribute that may be left out. */
export const optionalBody = (attribute: string): BodySource => ({ kind: 'body', attribute, optional: true })

const source = <T>(
  name: string,
  fallback: T | undefined,
  read: (attribute: Attribute) => T,
  inverse: NoInfer<Pick<AttributeSource<T>, 'write' | 'choices'>> = {}
): AttributeSource<T> => ({
  kind: 'attribute',
  name,
  read,
  ...inverse,
  ...(fallback !== undefined && { fallback: { value: fallback } })
})

/** Sources whose values are what a file holds. */
const AS_IT_IS = { write: <T extends Written>(value: T): Written => value }

const INT64_MAX = 2n ** 63n - 1n

/** IR numbers are text: digits with an optional sign, blanks around. Unsigned attributes spell 2^64-1 for -1. */
function parseInteger(text: string, name: string): bigint {
  const trimmed = text.trim()
  if (!/^[+-]?\d+$/.test(trimmed))
    fail('unknown-attribute-value', `attribute "${name}" is "${text}"; an integer is expected`)
  const value = BigInt(trimmed)
  if (value > 2n ** 64n - 1n || value < -(2n ** 63n))
    fail('unknown-attribute-value', `attribute "${name}" is ${trimmed}, which no 64-bit integer holds`)
  return value > INT64_MAX ? value - 2n ** 64n : value
}

function parseFloatText(text: string, name: string): number {
  const trimmed = text.trim().toLowerCase()
  const special: Record<string, number> = { inf: Infinity, '+inf': Infinity, '-inf': -Infinity, nan: NaN, '-nan': NaN }
  if (Object.hasOwn(special, trimmed)) return special[trimmed]
  const value = Number(trimmed)
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/.test(trimmed) || !Number.isFinite(value)) {
    fail('unknown-attribute-value', `attribute "${name}" is "${text}"; a number is expected`)
  }
  return value
}

/** A list in IR: commas between the items; an empty text is an empty list, one comma at the end is tolerated. */
function splitList(text: string): string[] {
  const items = text.split(',')
  if (items[items.length - 1].trim() === '') items.pop()
  return items
}

const wrongKind = (name: string, attribute: Attribute, expected: string): never =>
  fail('unknown-attribute-value', `attribute "${name}" holds ${attribute.kind}; ${expected} is expected`)

const bigint = (attribute: Attribute, name: string): bigint =>
  attribute.kind === 'int'
    ? attribute.value
    : attribute.kind === 'text'
      ? parseInteger(attribute.value, name)
      : wrongKind(name, attribute, 'an integer')

/** An integer; values beyond 2^53 are cut to the largest safe integer. */
export const int = (name: string, fallback?: number): AttributeSource<number> =>
  source(name, fallback, attribute => safeNumber(bigint(attribute, name)), AS_IT_IS)

/** An integer that must stay exact (seeds, fill values). */
export const exactInt = (name: string, fallback?: bigint): AttributeSource<bigint> =>
  source(name, fallback, attribute => bigint(attribute, name), AS_IT_IS)

/** A list of integers that must stay exact. */
export const exactInts = (name: string, fallback?: readonly bigint[]): AttributeSource<readonly bigint[]> =>
  source(
    name,
    fallback,
    attribute => (attribute.kind === 'ints' ? attribute.value : wrongKind(name, attribute, 'a list of integers')),
    AS_IT_IS
  )

/** A list of integers; a single integer counts as a list of one. */
export const ints = (name: string, fallback?: readonly number[]): AttributeSource<readonly number[]> =>
  source(
    name,
    fallback,
    attribute => {
      if (attribute.kind === 'ints') return attribute.numbers ?? attribute.value.map(safeNumber)
      if (attribute.kind === 'text') return splitList(attribute.value).map(item => safeNumber(parseInteger(item, name)))
      return wrongKind(name, attribute, 'a list of integers')
    },
    AS_IT_IS
  )

/** A number. */
export const float = (name: string, fallback?: number): AttributeSource<number> =>
  source(
    name,
    fallback,
    attribute => {
      if (attribute.kind === 'float') return attribute.value
      if (attribute.kind === 'text') return parseFloatText(attribute.value, name)
      return wrongKind(name, attribute, 'a number')
    },
    AS_IT_IS
  )

/** A list of numbers. */
export const floats = (name: string, fallback?: readonly number[]): AttributeSource<readonly number[]> =>
  source(
    name,
    fallback,
    attribute => {
      if (attribute.kind === 'floats') return attribute.value
      if (attribute.kind === 'text') return splitList(attribute.value).map(item => parseFloatText(item, name))
      return wrongKind(name, attribute, 'a list of numbers')
    },
    AS_IT_IS
  )

/** A string. */
export const text = (name: string, fallback?: string): AttributeSource<string> =>
  source(
    name,
    fallback,
    attribute =>
      attribute.kind === 'string' || attribute.kind === 'text'
        ? attribute.value
        : wrongKind(name, attribute, 'a string'),
    AS_IT_IS
  )

/** A list of strings. */
export const texts = (name: string, fallback?: readonly string[]): AttributeSource<readonly string[]> =>
  source(
    name,
    fallback,
    attribute => {
      if (attribute.kind === 'strings') return attribute.value
      if (attribute.kind === 'text')
        return splitList(attribute.value)
          .map(item => item.trim())
          .filter(item => item !== '')
      return wrongKind(name, attribute, 'a list of strings')
    },
    AS_IT_IS
  )

/** ONNX: an int, 0 or not. IR: true, false, 1 or 0 in any case. */
export const flag = (name: string, fallback?: boolean): AttributeSource<boolean> =>
  source(
    name,
    fallback,
    attribute => {
      if (attribute.kind === 'int') return attribute.value !== 0n
      if (attribute.kind !== 'text') return wrongKind(name, attribute, 'a boolean')
      const word = attribute.value.trim().toLowerCase()
      if (word === 'true' || word === '1') return true
      if (word === 'false' || word === '0') return false
      return fail('unknown-attribute-value', `attribute "${name}" is "${attribute.value}"; true or false is expected`)
    },
    { ...AS_IT_IS, choices: [false, true] }
  )

/** One of the words of `choices`, compared without case, turned into what it maps to. */
export const choice = <const V>(
  name: string,
  choices: Readonly<Record<string, V>>,
  fallback?: NoInfer<V>
): AttributeSource<V> =>
  source<V>(
    name,
    fallback,
    attribute => {
      if (attribute.kind !== 'string' && attribute.kind !== 'text') return wrongKind(name, attribute, 'a string')
      const word = attribute.value.trim().toLowerCase()
      for (const [key, value] of Object.entries(choices)) if (key.toLowerCase() === word) return value
      return fail(
        'unknown-attribute-value',
        `attribute "${name}" is "${attribute.value}"; expected one of ${Object.keys(choices).join(', ')}`
      )
    },
    { choices: Object.keys(choices) }
  )

/** An element type: a `TensorProto.DataType` number or an OpenVINO name. */
export const type = (name: string, fallback?: DType): AttributeSource<DType> =>
  source(
    name,
    fallback,
    attribute => {
      const found =
        attribute.kind === 'int'
          ? dtypeFromOnnx(Number(attribute.value))
          : attribute.kind === 'text'
            ? dtypeFromName(attribute.value.trim().toLowerCase())
            : undefined
      const shown = attribute.kind === 'int' || attribute.kind === 'text' ? attribute.value : attribute.kind
      return found ?? fail('unknown-attribute-value', `attribute "${name}" is ${shown}, which is no element type`)
    },
    { write: dtype => ({ dtype }) }
  )

/** A tensor, read when first needed. */
export const tensor = (name: string): AttributeSource<Tensor> =>
  source(name, undefined, attribute =>
    attribute.kind === 'tensor' ? readWhole(name, attribute.value) : wrongKind(name, attribute, 'a tensor')
  )

/** Parameters are not budgeted, so expansion of a sparse one is capped at 16 MiB and 16 times its bytes in the file. */
const MAX_ZEROS = 2 ** 24

function readWhole(name: string, constant: Constant): Tensor {
  const bytes = memoryBytes(constant.type, elementCount(constant.dims))
  if (bytes > MAX_ZEROS + 16 * constant.byteLength)
    fail('limit-exceeded', `attribute "${name}" takes ${bytes} bytes with its zeros`)
  return constant.read()
}

/** A constant that stays where it lies. */
export const constant = (name: string): AttributeSource<Constant> =>
  source<Constant>(
    name,
    undefined,
    attribute => (attribute.kind === 'tensor' ? attribute.value : wrongKind(name, attribute, 'a tensor')),
    AS_IT_IS
  )

/** A type of ONNX's TypeProto. */
export const declaredType = (name: string): AttributeSource<DeclaredType> =>
  source(name, undefined, attribute =>
    attribute.kind === 'type' ? attribute.value : wrongKind(name, attribute, 'a type')
  )

/** The same attribute, undefined when it is absent and no table gives a default. */
export const optional = <T>(of: AttributeSource<T>): AttributeSource<T | undefined> => ({
  ...of,
  ...(of.write && { write: value => (value === undefined ? undefined : of.write?.(value)) }),
  fallback: { value: undefined }
})

/**
 * The same attribute, its value changed by `change`.
 * @param back the inverse of `change`; not needed where the attribute has few values
 */
export const mapped = <T, U>(
  of: AttributeSource<T>,
  change: (value: T) => U,
  back?: (value: U) => T | undefined
): AttributeSource<U> => {
  const { name, fallback, choices } = of
  return {
    kind: 'attribute',
    name,
    read: attribute => change(of.read(attribute)),
    ...(choices && { choices }),
    ...(back &&
      of.write && {
        write: value => {
          const plain = back(value)
          return plain === undefined ? undefined : of.write?.(plain)
        }
      }),
    ...(fallback && { fallback: { value: change(fallback.value) } })
  }
}

const input =
  <T>(form: InputSource<T>['form']) =>
  (index: number, ...fallback: [] | [T]): InputSource<T> => ({
    kind: 'input',
    form,
    index,
    ...(fallback.length === 1 && { fallback: { value: fallback[0] } })
  })

/**
 * A scalar integer from an input (a tensor of one element). Pass a fallback (`undefined` too) when it may be left out.
 */
export const inputInt = input<number>('int')
/** A list of integers from an input of rank 1 (or 0). */
export const inputInts = input<readonly number[]>('ints')
/** The same for lists that may be written as a matrix of one row, too. */
export const inputRow = (index: number): InputSource<readonly number[]> => ({ ...inputInts(index), asRow: true })
/** A number from an input of one element. */
export const inputFloat = input<number>('float')
/** A list of numbers from an input of rank 1 (or 0). */
export const inputFloats = input<readonly number[]>('floats')
/** A boolean from an input of one element. */
export const inputFlag = input<boolean>('flag')
/** A string from an input of one element. */
export const inputText = input<string>('text')
/** The same for inputs that may be left out: undefined then. */
export const optionalInput = <T>(of: InputSource<T>): InputSource<T | undefined> => ({
  ...of,
  fallback: { value: undefined }
})
/** The same for a single number that files hold as a list of one. */
export const listed = <T>(of: InputSource<T>): InputSource<T> => ({ ...of, isListed: true })
