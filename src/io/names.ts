/** Leaves room for a number and an extension within the 255 bytes that file systems allow. */
const MAX_NAME = 120
const RESERVED_ON_WINDOWS = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/**
 * One file name a name, in the same order: letters, digits, `.`, `_` and `-` only, never hidden, reserved or a way out
 * of the
 * folder, and different from each other on file systems that ignore case. Names that are safe stay as they are.
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

/** The name, with the first number that makes it new where it is taken. */
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
    .slice(0, MAX_NAME)
    .replace(/^[.-]+/, '_')
    .replace(/\.+$/, '')
  if (cleaned === '') return '_'
  return RESERVED_ON_WINDOWS.test(cleaned) ? `_${cleaned}` : cleaned
}
