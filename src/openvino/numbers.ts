/**
 * Parses an id, offset or size: decimal digits with blanks around them.
 * @returns undefined for other text and for numbers beyond 2^53
 */
export function unsigned(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const digits = trimBlanks(text)
  if (digits === '') return undefined
  let value = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(i) - 48
    if (digit < 0 || digit > 9) return undefined
    value = value * 10 + digit
    if (value > Number.MAX_SAFE_INTEGER) return undefined
  }
  return value
}

/** Parses a number like {@link unsigned}, with an optional minus sign. */
export function integer(text: string | undefined): number | undefined {
  const trimmed = trimBlanks(text ?? '')
  if (!trimmed.startsWith('-')) return unsigned(trimmed)
  const value = /^-\d/.test(trimmed) ? unsigned(trimmed.slice(1)) : undefined
  return value === undefined ? undefined : 0 - value
}

/** The text without blanks at both ends: spaces, tabs, line ends, and the other controls from 9 to 13. */
export function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return start === 0 && end === text.length ? text : text.slice(start, end)
}

const isBlank = (code: number): boolean => code === 32 || (code >= 9 && code <= 13)
