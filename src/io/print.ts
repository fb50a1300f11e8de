import { DTYPES } from '../tensor/dtype.ts'
import { type Element, elementAt, elementsOf } from '../tensor/elements.ts'
import { type Key, mapType, valuesOf } from '../tensor/map.ts'
import { elementCount, isTensor, type MapValue, stridesOf, type Tensor, type Value } from '../tensor/tensor.ts'
import { alignRight, formatFloats } from './print-numbers.ts'

/** Of tensors with more elements, only some are printed, as in NumPy. */
const MAX_LENGTH = 1000
/** Number of items that are printed at each end of each dimension of such a tensor. */
const EDGE = 3
/** Tensors of many small dimensions, of which more elements would still be printed, are printed as one flat list. */
const MAX_SHOWN = 10_000
/** Columns of a line. */
const MAX_LINE = 75
/** Longer strings are cut. */
const MAX_STRING = 200

/**
 * A value as text for a terminal: `name: float32 [2, 3]`, then the elements as NumPy prints them. Strings are quoted,
 * and characters that a terminal would act upon are escaped. There is no line break at the end.
 */
export function formatValue(name: string, value: Value): string {
  const label = printable(name)
  if (isTensor(value)) return formatTensor(label, value)
  if (value.type === 'map') return formatMap(label, value)
  if (value.type === 'optional') return value.value === undefined ? `${label}: absent` : formatValue(name, value.value)
  const shown = edges(value.values.length, value.values.length > 2 * EDGE)
  const items = shown.map(i => (i === undefined ? '...' : formatValue(`${name}[${i}]`, value.values[i])))
  return [`${label}: sequence of ${value.values.length}`, ...items].join('\n')
}

function formatMap(label: string, map: MapValue): string {
  const { size } = map.entries
  const head = `${label}: ${mapType(map.keyType, map.valueType)} of ${size}`
  if (size === 0) return head
  const keys = [...(map.entries.keys() as Iterable<Key>)]
  const shown = edges(size, size > MAX_LENGTH)
  const texts = formatElements(
    valuesOf(
      map,
      shown.flatMap(i => (i === undefined ? [] : [keys[i]]))
    )
  )
  let next = 0
  const items = shown.map(i => (i === undefined ? '...' : `${keyOf(keys[i])}: ${texts[next++].trim()}`))
  return `${head}\n{${wrapped(
    items.map((item, i) => (i < items.length - 1 ? `${item},` : item)),
    ' '
  )}}`
}

const keyOf = (key: Key): string => (typeof key === 'string' ? quoted(key) : String(key))

function formatTensor(label: string, tensor: Tensor): string {
  const head = `${label}: ${tensor.type} [${tensor.dims.join(', ')}]`
  const count = elementCount(tensor.dims)
  if (count === 0) return `${head} (no elements)`
  const shorten = (dim: number): boolean => count > MAX_LENGTH && dim > 2 * EDGE
  const shown = tensor.dims.reduce((product, dim) => product * (shorten(dim) ? 2 * EDGE : dim), 1)
  return shown > MAX_SHOWN
    ? `${head} (shown flat)\n${formatRows(tensor, [count], shorten)}`
    : `${head}\n${formatRows(tensor, tensor.dims, shorten)}`
}

function formatRows(tensor: Tensor, dims: readonly number[], shorten: (dim: number) => boolean): string {
  const strides = stridesOf(dims)
  const positions = shownPositions(dims, strides, shorten)
  const texts = formatElements(tensor, positions)
  const textAt = new Map(positions.map((position, i) => [position, texts[i]]))
  const last = dims.length - 1
  const rows = (axis: number, start: number): string => {
    if (axis > last) return textAt.get(start) ?? ''
    const items = edges(dims[axis], shorten(dims[axis])).map(i =>
      i === undefined ? '...' : rows(axis + 1, start + i * strides[axis])
    )
    const margin = ' '.repeat(axis + 1)
    return axis === last ? `[${wrapped(items, margin)}]` : `[${items.join('\n'.repeat(last - axis) + margin)}]`
  }
  return rows(0, 0)
}

/** Indices of a dimension that are printed, with undefined for a gap. */
const edges = (size: number, shorten: boolean): (number | undefined)[] =>
  shorten ? [0, 1, 2, undefined, size - 3, size - 2, size - 1] : Array.from({ length: size }, (_, i) => i)

/** Row-major positions of the elements that are printed. */
function shownPositions(
  dims: readonly number[],
  strides: readonly number[],
  shorten: (dim: number) => boolean
): number[] {
  return dims.reduce<number[]>(
    (positions, dim, axis) => {
      const shown = edges(dim, shorten(dim)).filter(i => i !== undefined)
      return positions.flatMap(position => shown.map(i => position + i * strides[axis]))
    },
    [0]
  )
}

function formatElements(tensor: Tensor, positions?: readonly number[]): string[] {
  const elements = positions?.map(position => elementAt(tensor, position)) ?? elementsOf(tensor)
  const { kind } = DTYPES[tensor.type]
  if (kind === 'float') return formatFloats(elements as number[], tensor.type)
  if (kind === 'complex') return formatComplex(elements as [number, number][], tensor)
  return alignRight(elements.map(element => (typeof element === 'string' ? quoted(element) : String(element))))
}

function formatComplex(elements: readonly (readonly [number, number])[], { type }: Tensor): string[] {
  const real = formatFloats(
    elements.map(element => element[0]),
    type
  )
  const imaginary = formatFloats(
    elements.map(element => Math.abs(element[1])),
    type
  )
  const signs = elements.map(element => (element[1] < 0 || Object.is(element[1], -0) ? '-' : '+'))
  return alignRight(real.map((text, i) => `${text.trimEnd()}${signs[i]}${imaginary[i].trim()}j`))
}

/** Joins items to lines of at most {@link MAX_LINE} columns, as NumPy does. */
function wrapped(items: readonly string[], margin: string): string {
  const lines: string[] = []
  let line = ''
  for (const item of items) {
    if (line !== '' && margin.length + line.length + 1 + item.length > MAX_LINE) {
      lines.push(line.trimEnd())
      line = item
    } else line = line === '' ? item : `${line} ${item}`
  }
  return [...lines, line].join(`\n${margin}`)
}

const quoted = (text: string): string => {
  const cut = text.length > MAX_STRING ? `${text.slice(0, MAX_STRING)}…` : text
  return printable(JSON.stringify(cut))
}

/** Controls, line separators, invisible characters, marks of writing direction, and lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** The text with `\uXXXX` for characters that a terminal might act upon or that are invisible. */
export const printable = (text: string): string =>
  text.replace(UNPRINTABLE, character => {
    const point = (character.codePointAt(0) ?? 0).toString(16)
    return point.length > 4 ? `\\u{${point}}` : `\\u${point.padStart(4, '0')}`
  })

/** One element as it appears in messages: `0.5`, `9007199254740993`, `"text"`, `1+2j`. */
export function formatElement(element: Element): string {
  if (typeof element === 'string') return quoted(element)
  if (typeof element !== 'object') return Object.is(element, -0) ? '-0' : String(element)
  return `${element[0]}${element[1] < 0 || Object.is(element[1], -0) ? '-' : '+'}${Math.abs(element[1])}j`
}
