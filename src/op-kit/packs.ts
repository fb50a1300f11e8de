import type { Pack } from './define.ts'

/** Names of packs: those of one name make the same of the same constants and parameters. */
const names = new WeakMap<Pack, string>()
let count = 0

/**
 * Gives a pack a name where each selection makes a function of its own: a session then packs once for all dims.
 * @param name says all that the pack depends on but constants and parameters
 */
export function namedPack(name: string, pack: Pack): Pack {
  names.set(pack, name)
  return pack
}

const ofParameters = new WeakSet<Pack>()

/** A pack of what a call's parameters hold, as decision trees: it asks for no constant. Its name is as above. */
export function packOfParameters(name: string, pack: Pack): Pack {
  ofParameters.add(pack)
  return namedPack(name, pack)
}

/** Whether a pack packs parameters, so also those of calls without constants. */
export const isOfParameters = (pack: Pack): boolean => ofParameters.has(pack)

/** A pack that a function makes of another one; those that are made of the same one by one name are the same. */
export const derivedPack = (name: string, from: Pack, make: (from: Pack) => Pack): Pack =>
  namedPack(`${name} of ${nameOf(from)}`, make(from))

/** Whether two packs make the same of the same constants and parameters. */
export const isSamePack = (a: Pack, b: Pack): boolean => a === b || nameOf(a) === nameOf(b)

/** One without a name is the same as itself only. */
function nameOf(pack: Pack): string {
  const name = names.get(pack) ?? `#${count++}`
  names.set(pack, name)
  return name
}
