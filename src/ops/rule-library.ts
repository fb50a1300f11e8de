import type { Op } from '../op-kit/define.ts'
import { libraryOf } from '../op-kit/library.ts'
import * as rules from './rules.ts'

// The bundles for Node have another module in place of this one; see library.ts.

/** The same without the kernels that decide no shapes, for what never runs a model. */
export const ruleLibrary = /* @__PURE__ */ libraryOf(Object.values<Op | readonly Op[]>(rules).flat())
