import { bind } from '../../bind/bind.ts'
import { registryWith } from '../../built-in.ts'
import type { Model } from '../../graph/graph.ts'
import {
  checkPropagateOptions,
  type PropagateOptions as OptionsOfPropagate,
  propagate as propagateModel,
  type Propagation
} from '../../infer/propagate.ts'
import { withoutOps } from '../../suggest.ts'
import type { OwnOps } from './own-ops.ts'

/** What is known before facts are worked out. */
export type PropagateOptions = OptionsOfPropagate & OwnOps

/**
 * Works out a fact for every value of a model: type, symbolic shape and, where it can be known, the value itself.
 * @throws NodewiseError `limit-exceeded` when function calls expand beyond the limits; what is wrong with nodes is in
 *   `failures`
 */
export const propagate = (model: Model, options: PropagateOptions = {}): Propagation => {
  const [ops, rest] = withoutOps(options)
  checkPropagateOptions(rest)
  return propagateModel(bind(model, registryWith(ops)), rest)
}
