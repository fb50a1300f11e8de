import type { ByteSource } from '../files/byte-source.ts'
import { baseOf } from '../graph/derive.ts'
import type { Model } from '../graph/graph.ts'

/** The file that a model was read from. */
export interface Origin {
  /** The model as it was read. */
  readonly model: Model
  readonly source: ByteSource
  /** Opens a file of external data by its location as the model writes it. */
  external(location: string): ByteSource
  /** Whether any tensor of its graphs is external. */
  readonly hasExternal: () => boolean
}

/** By the model as it was read. What the types of a graph leave out is read again from there when it is written. */
const origins = new WeakMap<Model, Origin>()

export function setOrigin(origin: Origin): void {
  origins.set(origin.model, origin)
}

/** The file of a model, also of one that was derived from what was read; undefined for a model that was made. */
export const originOf = (model: Model): Origin | undefined => origins.get(baseOf(model))
