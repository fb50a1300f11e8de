import { fail } from '../errors.ts'
import type { Dialect, Model } from '../graph/graph.ts'

/** How a model is converted. */
export interface ConversionOptions {
  /** The dialect of the result; default: that of the model. */
  readonly dialect?: Dialect
}

/** What a conversion did to a node. */
export interface Change {
  /** The node's name; where it has none, its index and type. */
  readonly node: string
  readonly how: string
}

/** The model that a conversion made, and what it changed. */
export interface Conversion {
  readonly model: Model
  readonly changed: readonly Change[]
}

/**
 * Makes a model of a model; neither files nor weights are touched. Without options it is the model itself.
 * @throws NodewiseError `unsupported-op` for what the other dialect cannot say
 */
export function convertModel(model: Model, { dialect = model.dialect }: ConversionOptions = {}): Conversion {
  if (dialect !== model.dialect) fail('unsupported-op', `a model of ${model.dialect} is not converted to ${dialect}`)
  return { model, changed: [] }
}
