import { bind } from '../../bind/bind.ts'
import { namedRegistry } from '../../bind/registry.ts'
import type { Model } from '../../graph/graph.ts'
import {
  checkPropagateOptions,
  type PropagateOptions as OptionsOfPropagate,
  propagate as propagateModel,
  type Propagation
} from '../../infer/propagate.ts'
import { withoutOps } from '../../suggest.ts'
import type { NamedOps } from './named-ops.ts'

/** What is known before facts are worked out. */
export type PropagateOptions = OptionsOfPropagate & NamedOps

/**
 * Works out facts as `propagate` of `nodewise` does. Values of nodes without a named operator have their declared
 * types.
 * @throws NodewiseError `limit-exceeded` when function calls expand beyond the limits
 */
export const propagate = (model: Model, options: PropagateOptions): Propagation => {
  const [ops, rest] = withoutOps(options)
  checkPropagateOptions(rest)
  return propagateModel(bind(model, namedRegistry(ops)), rest)
}
