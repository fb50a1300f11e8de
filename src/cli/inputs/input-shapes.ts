import type { DeclaredDim, Model } from '../../graph/graph.ts'
import { callerType, type GivenShapes } from './inputs.ts'
import { givenShapes } from './shapes.ts'

/** The dims that `--input-shape` gives, by the names of inputs; `seq=128` gives a dim to all inputs that name it. */
export const inputShapes = (model: Model, texts: readonly string[]): Map<string, readonly DeclaredDim[]> =>
  settledShapes(model, givenShapes(model, '--input-shape', texts))

/** Dims of inputs with the sizes of named dims put in, those of inputs included that only name such dims. */
function settledShapes(model: Model, given: GivenShapes): Map<string, readonly DeclaredDim[]> {
  const shapes = new Map<string, readonly DeclaredDim[]>()
  for (const port of model.graph.inputs) {
    const declared = callerType(model, 'input', port)
    const dims = given.inputs.get(port.name) ?? (declared?.kind === 'tensor' ? declared.dims : undefined)
    const isSized = dims?.some(dim => typeof dim === 'string' && given.dims.has(dim)) ?? false
    if (dims === undefined || !(isSized || given.inputs.has(port.name))) continue
    shapes.set(
      port.name,
      dims.map(dim => (typeof dim === 'string' ? (given.dims.get(dim) ?? dim) : dim))
    )
  }
  return shapes
}
