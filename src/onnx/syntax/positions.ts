import type { Place } from '../../errors.ts'

/** Line and column, both from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** Where the nodes of a model in the text format stand, and the values that it declares, by the path of their graph. */
export class Positions {
  readonly #nodes = new Map<string, Position[]>()
  readonly #values = new Map<string, Map<string, Position>>()

  /** Notes the next node of a graph. */
  addNode(path: string, position: Position): void {
    const known = this.#nodes.get(path)
    if (known) known.push(position)
    else this.#nodes.set(path, [position])
  }

  /** Notes a declaration of a value; the first one counts: that of an input or an output. */
  addValue(path: string, name: string, position: Position): void {
    const known = this.#values.get(path)
    if (!known) this.#values.set(path, new Map([[name, position]]))
    else if (!known.has(name)) known.set(name, position)
  }

  /** A place with its line, where it is that of a node or of a value that is declared. */
  locate(place: Place): Place {
    if (place.line !== undefined) return place
    const { graphPath = '', nodeIndex, value = '' } = place
    const position =
      nodeIndex === undefined ? this.#values.get(graphPath)?.get(value) : this.#nodes.get(graphPath)?.[nodeIndex]
    return position ? { ...place, ...position } : place
  }
}
