import type { Graph } from '../../graph/graph.ts'
import type { Bin } from './constants.ts'
import type { Ids } from './ids.ts'
import type { Original } from './original.ts'
import type { XmlText } from './xml-text.ts'

/** State of writing a graph. */
export interface GraphWriter {
  readonly out: XmlText
  readonly graph: Graph
  readonly ids: Ids
  readonly bin: Bin
  readonly irVersion: number
  /** The file that the model was read from, where there is one. */
  readonly original: Original | undefined
}
