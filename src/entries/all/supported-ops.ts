import type { OpListing } from '../../bind/registry.ts'
import { registryWith } from '../../built-in.ts'

/** Every operator that is built in, an entry for each change of meaning. */
export const supportedOps = (): OpListing[] => registryWith().list()
