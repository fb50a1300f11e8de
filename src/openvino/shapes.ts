import type { DeclaredDim } from '../graph/graph.ts'
import { trimBlanks, unsigned } from './numbers.ts'

/** A shape that was parsed: `dims` is absent for an unknown rank, `problem` is set where the text is no shape. */
export type ShapeText =
  | { readonly dims?: readonly DeclaredDim[]; readonly problem?: undefined }
  | { readonly problem: string }

/**
 * Parses the shape of a Parameter as OpenVINO does (`partial_shape.cpp`, `dimension.cpp`): `1,?,3..10,..5,2..`, with or
 * without brackets, `...` for an unknown rank, empty for a scalar. Negative dims other than -1, which OpenVINO reads as
 * 0, are refused.
 */
export function parsePartialShape(text: string): ShapeText {
  let inner = trimBlanks(text)
  if (inner.startsWith('[') && inner.endsWith(']')) inner = trimBlanks(inner.slice(1, -1))
  if (inner === '...') return {}
  if (inner === '') return { dims: [] }
  return dimsIn(inner.split(','), field => parseDim(trimBlanks(field)))
}

function dimsIn<T extends DeclaredDim>(
  fields: readonly string[],
  parse: (field: string) => T | undefined
): { dims: T[]; problem?: undefined } | { problem: string } {
  const dims: T[] = []
  for (const field of fields) {
    const dim = parse(field)
    if (dim === undefined) return { problem: `"${field}" is no dimension` }
    dims.push(dim)
  }
  return { dims }
}

function parseDim(text: string): DeclaredDim | undefined {
  if (text === '?' || text === '-1') return null
  const dots = text.indexOf('..')
  if (dots < 0) return unsigned(text)
  const min = bound(text.slice(0, dots), 0)
  const max = bound(text.slice(dots + 2), Infinity)
  if (min === undefined || max === undefined || min > max) return undefined
  if (min === max) return min
  return min === 0 && max === Infinity ? null : { min, max }
}

const bound = (text: string, open: number): number | undefined =>
  text === '' ? open : /^\d+$/.test(text) ? unsigned(text) : undefined

/**
 * Parses the shape of a Const, which has no unknown dims: `3, 4`, empty for a scalar, optionally a comma at the end.
 */
export function parseStaticShape(text: string): { dims: number[]; problem?: undefined } | { problem: string } {
  const fields = text.split(',')
  if (trimBlanks(fields[fields.length - 1]) === '') fields.pop()
  return dimsIn(fields, unsigned)
}

/** Parses the `<dim>` of a port. -1 is an unknown dim and gives null; text that is no dim gives undefined. */
export function parsePortDim(text: string): number | null | undefined {
  const dim = unsigned(text)
  return dim === undefined && trimBlanks(text) === '-1' ? null : dim
}

/**
 * Names in an attribute `names`: separated by commas, with `\,` for a comma within a name. Empty names are left out.
 */
export function splitNames(text: string | undefined): string[] {
  if (text === undefined || text === '') return []
  if (!text.includes(',')) return [text]
  return text
    .split(/(?<!\\),/)
    .filter(name => name !== '')
    .map(name => name.replaceAll('\\,', ','))
}
