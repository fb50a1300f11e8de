import { libraryOf } from '../op-kit/library.ts'
import { ALL_OPS } from './all.ts'

// The bundles for Node have a module in place of this one that makes an operator when a model first names it; see
// scripts/lazy-ops.mjs.

/** Every operator that is built in, by type. */
export const opLibrary = /* @__PURE__ */ libraryOf(ALL_OPS)
