import type { DeclaredDim } from '../graph/graph.ts'
import { badUsage } from './failure.ts'

/** A whole number of at least `least`. */
export const wholeNumber =
  (option: string, least: number) =>
  (text: string): number => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN
    return Number.isSafeInteger(value) && value >= least
      ? value
      : badUsage(`${option} ${text}: a whole number of at least ${least} is needed`)
  }

/** A time above 0 in seconds, which may have a fraction. */
export const seconds =
  (option: string) =>
  (text: string): number => {
    const value = /^(\d+\.?\d*|\.\d+)$/.test(text) ? Number(text) : NaN
    return value > 0 && value < Infinity ? value : badUsage(`${option} ${text}: a number of seconds above 0 is needed`)
  }

const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, '': 1000, s: 1000, m: 60_000, min: 60_000 }

/** Milliseconds from `5s`, `500ms`, `2m`, or a number of seconds. */
export const duration =
  (option: string) =>
  (text: string): number => {
    const [, digits, unit = ''] = /^(\d+\.?\d*|\.\d+)(ms|s|m|min)?$/.exec(text.trim()) ?? []
    const value = digits === undefined ? NaN : Number(digits) * MILLISECONDS[unit]
    return value > 0 && value < Infinity
      ? value
      : badUsage(`${option} ${text}: a time such as 5s, 500ms or 2m is needed`)
  }

/** A number of at least 0. */
export const tolerance =
  (option: string) =>
  (text: string): number => {
    const value = text.trim() === '' ? NaN : Number(text)
    return value >= 0 ? value : badUsage(`${option} ${text}: a number of at least 0 is needed`)
  }

const UNITS = ['', 'k', 'm', 'g', 't']

/** Bytes: `2GB` is 2·10⁹, `512MiB` 512·2²⁰, `4096` bytes. */
export const byteSize =
  (option: string) =>
  (text: string): number =>
    bytesIn(text) ?? badUsage(`${option} ${text}: ${SIZE_NEEDED}`)

/** {@link byteSize} of an option that gives sizes by name. */
export const namedSize = (option: string, name: string, text: string): number =>
  bytesIn(text) ?? badUsage(`${option} ${name}=${text}: ${SIZE_NEEDED}`)

const SIZE_NEEDED = 'a size such as 2GB, 512MiB or a number of bytes is needed'

function bytesIn(text: string): number | undefined {
  const parts = /^(\d+(?:\.\d+)?)\s*(?:([kmgt])(i)?)?b?$/i.exec(text.trim())
  const bytes = parts
    ? Math.floor(Number(parts[1]) * (parts[3] ? 1024 : 1000) ** UNITS.indexOf((parts[2] ?? '').toLowerCase()))
    : NaN
  return Number.isSafeInteger(bytes) ? bytes : undefined
}

/** Adds what a repeatable option gives. */
export const collect = (text: string, seen: readonly string[] = []): string[] => [...seen, text]

/**
 * `name=value`, where the name may hold `=` itself: the longest of the names that are known, else what stands before
 * the first `=`.
 */
export function splitNamed(option: string, text: string, names: Iterable<string>): { name: string; value: string } {
  let name: string | undefined
  for (const known of names) if (text.startsWith(`${known}=`) && known.length >= (name?.length ?? 0)) name = known
  name ??= text.includes('=') ? text.slice(0, text.indexOf('=')) : badUsage(`${option} ${text}: name=value is needed`)
  return { name, value: text.slice(name.length + 1) }
}

/**
 * Dims of which some may be open: `2x3`, `[2,3]` (`[]` for a scalar), or `[2,batch,1..10,?]` where a dim is a size, a
 * name, an interval or unknown.
 */
export const openDims = (option: string, text: string): DeclaredDim[] =>
  dimTexts(option, text).map(dim => openDim(option, dim))

function dimTexts(option: string, text: string): string[] {
  const trimmed = text.trim()
  if (/^\d+(x\d+)*$/.test(trimmed)) return trimmed.split('x')
  const inBrackets =
    /^\[(.*)\]$/s.exec(trimmed)?.[1].trim() ?? badUsage(`${option}: "${text}" are no dims; write 2x3 or [2,3]`)
  return inBrackets === '' ? [] : inBrackets.split(',').map(dim => dim.trim())
}

function openDim(option: string, text: string): DeclaredDim {
  if (text === '?' || text === '-1') return null
  if (/^\d+$/.test(text)) return safe(option, text)
  const interval = /^(\d*)\.\.(\d*)$/.exec(text)
  if (interval) {
    const min = interval[1] === '' ? 0 : safe(option, interval[1])
    const max = interval[2] === '' ? Infinity : safe(option, interval[2])
    return min <= max ? { min, max } : badUsage(`${option}: the interval "${text}" is empty`)
  }
  return /^[\p{L}_][\p{L}\p{N}_.:/-]*$/u.test(text)
    ? text
    : badUsage(`${option}: "${text}" is no dim; write a size, a name, an interval 1..10 or ?`)
}

const safe = (option: string, text: string): number =>
  Number.isSafeInteger(Number(text)) ? Number(text) : badUsage(`${option}: ${text} is too large a size`)
