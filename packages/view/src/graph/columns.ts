/**
 * A model's nodes as columns: what the worker that reads a model hands to the page. A list of objects would take a
 * second to copy for 100,000 nodes; columns take milliseconds.
 */

/** What a record of the columns stands for. */
export const KIND = { node: 0, input: 1, output: 2, constant: 3 } as const

/** A graph of the model: the main graph, a body of a node, or a function where it is called. */
export interface GraphRecord {
  /** Path as findings have it (`12:then_branch`); empty for the main graph. */
  readonly path: string
  readonly label: string
  /** The record of the node whose body this is, or -1. */
  readonly owner: number
  /** Its records are `first … first + count - 1`. */
  readonly first: number
  readonly count: number
}

export interface Columns {
  readonly graphs: readonly GraphRecord[]
  readonly names: readonly string[]
  /** Operator names; `type` has an index into them for each record. */
  readonly types: readonly string[]
  readonly type: Uint16Array
  readonly kind: Uint8Array
  /** Index of the graph of each record. */
  readonly graph: Uint32Array
  /** Edges: from record to record, with the value that goes along. Constants are at no edge, see `constants`. */
  readonly from: Int32Array
  readonly to: Int32Array
  readonly value: Int32Array
  /** Names of values, and for each the record that makes it (-1: a constant, or nothing). */
  readonly values: readonly string[]
  readonly maker: Int32Array
  /** The constants that a record reads, as text: `768×768`. */
  readonly weights: ReadonlyMap<number, readonly string[]>
}

/** The number of records. */
export const countOf = ({ names }: Columns): number => names.length

/** The operator of a record. */
export const typeOf = ({ types, type }: Columns, record: number): string => types[type[record]] ?? ''
