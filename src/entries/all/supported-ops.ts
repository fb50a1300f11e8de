import type { OpListing } from '../../bind/registry.ts'
import { rulesWith } from '../../built-in-rules.ts'

/** Every operator that is built in, an entry for each change of meaning. */
export const supportedOps = (): OpListing[] => rulesWith().list()
