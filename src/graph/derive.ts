/** What each derived part of a model was derived from, in the end: the part as its file has it. */
const bases = new WeakMap<object, object>()

/**
 * A part of a model (a model, graph, node, attribute, port, value, constant or function) with other properties. It
 * stays the part of the file that it was: a writer of its dialect keeps what the file says of it beside the types of
 * `graph.ts`, such as doc strings, metadata and fields that are not known.
 */
export function derive<T extends object>(part: T, changes: Partial<T>): T {
  const derived = Object.create(Object.getPrototypeOf(part) as object) as T
  // Getters of the part itself, such as that of its place, are kept as getters.
  Object.defineProperties(derived, Object.getOwnPropertyDescriptors(part))
  for (const [key, value] of Object.entries(changes))
    Object.defineProperty(derived, key, { value, enumerable: true, writable: true, configurable: true })
  bases.set(derived, baseOf(part))
  return derived
}

/** The part as its file has it; the part itself where it was not derived. */
export const baseOf = <T extends object>(part: T): T => (bases.get(part) as T | undefined) ?? part
