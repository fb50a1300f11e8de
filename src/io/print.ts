import { DTYPES } from '../tensor/dtype.ts'
import { type Element, elementAt } from '../tensor/elements.ts'
import { elementCount, isTensor, stridesOf, type Tensor, type Value } from '../tensor/tensor.ts'
import { alignRight, formatFloats } from './print-numbers.ts'

/** As NumPy: longer tensors are shortened to this many items at each end of each dimension. */
const MAX_LENGTH = 1000
const EDGE = 3
/** With many small dimensions the ends alone can be too many; then the tensor is printed as a flat one. */
const MAX_SHOWN = 10_000
const LINE = 75
const MAX_STRING = 200

/**
 * A value as text for a terminal: `name: float32 [2, 3]`, then the elements as NumPy prints them, strings quoted,
 * nothing that a
 * terminal would obey. No line break at the end.
 */
export function formatValue(name: string, value: Value): string {
  const label = printable(name)
  if (isTensor(value)) return formatTensor(label, value)
  if (value.type === 'optional') return value.value === undefined ? `${label}: absent` : formatValue(name, value.value)
  const shown = edges(value.values.length, value.values.length > 2 * EDGE)
  const items = shown.map(i => (i === undefined ? '...' : formatValue(`${name}[${i}]`, value.values[i])))
  return [`${label}: sequence of ${value.values.length}`, ...items].join('\n')
}

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
  const places = shownPlaces(dims, strides, shorten)
  const texts = formatElements(tensor, places)
  const textAt = new Map(places.map((place, i) => [place, texts[i]]))
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

/** Indices to show of a dimension, undefined for the gap. */
const edges = (size: number, shorten: boolean): (number | undefined)[] =>
  shorten ? [0, 1, 2, undefined, size - 3, size - 2, size - 1] : Array.from({ length: size }, (_, i) => i)

function shownPlaces(dims: readonly number[], strides: readonly number[], shorten: (dim: number) => boolean): number[] {
  return dims.reduce<number[]>(
    (places, dim, axis) => {
      const shown = edges(dim, shorten(dim)).filter(i => i !== undefined)
      return places.flatMap(place => shown.map(i => place + i * strides[axis]))
    },
    [0]
  )
}

function formatElements(tensor: Tensor, places: readonly number[]): string[] {
  const elements = places.map(place => elementAt(tensor, place))
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

/** Items in lines of at most 75 columns, as NumPy breaks them. */
function wrapped(items: readonly string[], margin: string): string {
  const lines: string[] = []
  let line = ''
  for (const item of items) {
    if (line !== '' && margin.length + line.length + 1 + item.length > LINE) {
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

/** Controls, line separators, invisible characters, those that change the direction of writing, and halves of pairs. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** The text with characters that a terminal might obey, or that hide others, as `\uXXXX`. */
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
