import type { Model, Propagation } from 'nodewise'

/** Why requests of a model may not be joined along their first dim; undefined where that is proven. */
export function whyNotBatched(model: Model, _found: Propagation): string | undefined {
  return model.graph.inputs.length === 0 ? 'it has no inputs' : 'not proven'
}
