import type { DeclaredDim, Model } from '../graph/graph.ts'
import { badUsage } from './failure.ts'
import { inputNames } from './inputs.ts'
import { openDims, splitNamed } from './options.ts'

/** The dims that `--input-shape` gives, by the names of inputs. */
export function inputShapes(model: Model, texts: readonly string[]): Map<string, readonly DeclaredDim[]> {
  const shapes = new Map<string, readonly DeclaredDim[]>()
  for (const text of texts) {
    const { name, value } = splitNamed('--input-shape', text, inputNames(model))
    if (shapes.has(name)) badUsage(`--input-shape gives "${name}" twice`)
    shapes.set(name, openDims(`--input-shape ${name}`, value))
  }
  return shapes
}
