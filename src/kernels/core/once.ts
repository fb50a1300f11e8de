/**
 * A function that works out its result once for each object, and gives it again as long as the object is there.
 * @param make what else it is given has to be the same for the same object
 */
export function oncePer<K extends object, A extends readonly unknown[], R>(
  make: (key: K, ...rest: A) => R
): (key: K, ...rest: A) => R {
  const known = new WeakMap<K, { readonly result: R }>()
  return (key, ...rest) => {
    let entry = known.get(key)
    if (entry === undefined) known.set(key, (entry = { result: make(key, ...rest) }))
    return entry.result
  }
}
