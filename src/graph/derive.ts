/** What each derived part of a model was derived from, in the end: the part as its file has it. */
const bases = new WeakMap<object, object>()

/**
 * A part of a model (a model, graph, node, attribute, port, value, constant or function) with other properties. It
 * stays the part of the file that it was: a writer of its dialect keeps what the file says of it beside the types of
 * `graph.ts`, such as doc strings, metadata and fields that are not known.
 */
export function derive<T extends object>(part: T, changes: Partial<T>): T {
  const derived = Object.create(Object.getPrototypeOf(part) as object) as T
  for (const key of Reflect.ownKeys(part) as (keyof T)[]) {
    const property = Object.getOwnPropertyDescriptor(part, key)!
    if (Object.hasOwn(changes, key)) put(derived, key, changes[key])
    else if (property.writable && property.enumerable) put(derived, key, property.value as T[typeof key])
    // Getters of the part itself, such as that of its place, are kept as getters.
    else Object.defineProperty(derived, key, property)
  }
  for (const key of Object.keys(changes) as (keyof T)[]) if (!Object.hasOwn(part, key)) put(derived, key, changes[key])
  bases.set(derived, baseOf(part))
  return derived
}

/** Gives an object a property of its own. To assign takes a third of the time of defining, but would call a setter. */
function put<T extends object, K extends keyof T>(object: T, key: K, value: T[K]): void {
  if (key in object) Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true })
  else object[key] = value
}

/** The part as its file has it; the part itself where it was not derived. */
export const baseOf = <T extends object>(part: T): T => (bases.get(part) as T | undefined) ?? part
