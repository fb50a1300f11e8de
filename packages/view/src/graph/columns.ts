/**
 * A model's nodes as columns: what the worker that reads a model hands to the page. A list of objects would take a
 * second to copy for 100,000 nodes; columns take milliseconds.
 */

/** What a record of the columns stands for. */
export const KIND = { node: 0, input: 1, output: 2, constant: 3 } as const

/** A graph of the model: the main graph, a body of a node, or a function where it is called. */
export interface GraphRecord {
  /** Path as findings at its nodes have it (`12:then_branch`, `3:MyFunction`); empty for the main graph. */
  readonly path: string
  /** Path that its values are checked under: values of a called function are those of the graph of the call. */
  readonly valuePath: string
  readonly label: string
  /** The record of the node whose body this is, or -1. */
  readonly owner: number
  /** Its records are `first … first + count - 1`. */
  readonly first: number
  readonly count: number
}

/** Many texts as one: a list of 100,000 texts takes each thread that gets it a tenth of a second, one text nothing. */
export interface TextColumn {
  readonly text: string
  /** Where each begins, and at last where the last one ends. */
  readonly starts: Uint32Array
}

/** Texts as a column. */
export function textColumn(texts: readonly string[]): TextColumn {
  const starts = new Uint32Array(texts.length + 1)
  for (let i = 0; i < texts.length; i++) starts[i + 1] = starts[i] + texts[i].length
  return { text: texts.join(''), starts }
}

/** A text of a column. */
const textAt = ({ text, starts }: TextColumn, index: number): string => text.slice(starts[index], starts[index + 1])

export interface Columns {
  readonly graphs: readonly GraphRecord[]
  readonly names: TextColumn
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
  /** For each value the record that makes it (-1: a constant, or nothing). */
  readonly maker: Int32Array
  /** The constants that a record reads, as text: `768×768`. */
  readonly weights: ReadonlyMap<number, readonly string[]>
}

/** The number of records. */
export const countOf = ({ type }: Columns): number => type.length

/** The name of a record. */
export const nameOf = ({ names }: Columns, record: number): string => textAt(names, record)

/** The first record of a name; -1 where there is none. */
export function recordNamed(columns: Columns, name: string): number {
  const { text, starts } = columns.names
  for (let at = name === '' ? -1 : text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const record = lastAtMost(starts, at)
    if (starts[record] === at && starts[record + 1] === at + name.length) return record
  }
  return -1
}

/** The index of the last of ascending numbers that is at most `limit`. */
function lastAtMost(numbers: Uint32Array, limit: number): number {
  let [low, high] = [0, numbers.length]
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (numbers[middle] <= limit) low = middle
    else high = middle
  }
  return low
}

/** The first node of an operator; -1 where there is none. */
export const firstOfType = ({ types, type, kind }: Columns, name: string): number =>
  type.findIndex((id, record) => kind[record] === KIND.node && types[id] === name)

/** The operator of a record. */
export const typeOf = ({ types, type }: Columns, record: number): string => types[type[record]] ?? ''
