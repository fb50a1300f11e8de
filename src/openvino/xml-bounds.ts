import type { Limits } from '../graph/limits.ts'

/** Maxima of nesting depth and number of elements, and what throws where one is exceeded. */
export interface Bounds {
  readonly depth: number
  readonly elements: number
  readonly tooMuch: (limit: keyof Limits, what: string, offset: number) => never
}

/** Refuses an element at an offset of the file, within `depth` others and after `elements` others, beyond a maximum. */
export function keepWithin(bounds: Bounds, depth: number, elements: number, offset: number): void {
  if (depth >= bounds.depth) bounds.tooMuch('xmlDepth', `elements are nested deeper than ${bounds.depth}`, offset)
  if (elements >= bounds.elements)
    bounds.tooMuch('structureBytes', `the file has more than ${bounds.elements} elements`, offset)
}
