import { rulesWith } from '../../built-in-rules.ts'
import { type Edited, fixDeclarations } from '../../convert/edits/edit.ts'
import type { Model } from '../../graph/graph.ts'
import { withoutOps } from '../../suggest.ts'
import type { OwnOps } from './own-ops.ts'

/**
 * A model in which every declaration that cannot be true is replaced by what is inferred, as `nodewise check --fix`
 * writes it.
 */
export const fix = (model: Model, options: OwnOps = {}): Edited =>
  fixDeclarations(model, rulesWith(withoutOps(options)[0]))
