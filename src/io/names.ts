/** File systems allow names of 255 bytes; this leaves room for a number and an extension. */
const MAX_NAME_LENGTH = 120
const RESERVED_ON_WINDOWS = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/**
 * A safe file name for each name, in the same order. It has only letters, digits, `.`, `_` and `-`, is not hidden, not
 * reserved on Windows, and does not lead out of its folder. No two are the same on a file system that ignores case.
 * Names that are safe already are not changed.
 */
export function safeFileNames(names: readonly string[]): string[] {
  const safe = names.map(safeFileName)
  const result = new Array<string | undefined>(names.length)
  const taken = new Set<string>()
  names.forEach((name, i) => {
    const key = name.toLowerCase()
    if (name !== safe[i] || taken.has(key)) return
    taken.add(key)
    result[i] = name
  })
  const numbers = new Map<string, number>()
  return safe.map((wanted, i) => result[i] ?? numbered(wanted, taken, numbers))
}

/** The wanted name, with the first number that makes it a new one where it is taken. */
function numbered(wanted: string, taken: Set<string>, numbers: Map<string, number>): string {
  const key = wanted.toLowerCase()
  let name = wanted
  let number = numbers.get(key) ?? 2
  for (; taken.has(name.toLowerCase()); number++) name = `${wanted}_${number}`
  numbers.set(key, number)
  taken.add(name.toLowerCase())
  return name
}

function safeFileName(name: string): string {
  const cleaned = name
    .replace(/[^A-Za-z0-9._-]+/g, '_')
    .slice(0, MAX_NAME_LENGTH)
    .replace(/^[.-]+/, '_')
    .replace(/\.+$/, '')
  if (cleaned === '') return '_'
  return RESERVED_ON_WINDOWS.test(cleaned) ? `_${cleaned}` : cleaned
}
