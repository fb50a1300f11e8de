/**
 * Where in a file or graph an error or a finding is. A field is set only where it applies. `line` and `column` are
 * computed from `offset` when a place is printed (`openvino/position.ts`).
 */
export interface Place {
  /** Name of the file as the caller gave it. */
  file?: string
  /** XML: line of the `<` of the element, from 1. ONNX as text: line of the node, or of the value's declaration. */
  line?: number
  /** Column of the same, from 1, in UTF-16 units. */
  column?: number
  /** XML: byte offset of that `<`. */
  offset?: number
  /** Name of the graph. */
  graph?: string
  /** Path to a body: node index and attribute of each level, as in `12:then_branch/3:body`. Absent: the main graph. */
  graphPath?: string
  /** Name of the node or layer. */
  node?: string
  /** Index of the node in its ONNX graph. */
  nodeIndex?: number
  /** Operator type as the file writes it. */
  type?: string
  /** Operator version for people: `opset8`, `ai.onnx 13`. */
  version?: string
  /** Layer id of an IR file. */
  layer?: string
  /** Port id of an IR file. */
  port?: string
  /** Name of the value. */
  value?: string
}

/** Codes of failures. They are part of the API and do not change: scripts may match on them. */
export type ErrorCode =
  | 'invalid-file'
  | 'unsupported-version'
  | 'unsupported-op'
  | 'missing-file'
  | 'outside-folder'
  | 'limit-exceeded'
  | 'invalid-graph'
  | 'missing-input'
  | 'unexpected-input'
  | 'type-mismatch'
  | 'shape-mismatch'
  | 'rank-mismatch'
  | 'dims-mismatch'
  | 'type-not-allowed'
  | 'index-type-not-allowed'
  | 'axis-out-of-range'
  | 'batch-dims-out-of-range'
  | 'batch-dims-mismatch'
  | 'index-out-of-range'
  | 'rank-zero-data'
  | 'missing-attribute'
  | 'unknown-attribute-value'
  | 'wrong-input-count'
  | 'wrong-output-count'
  | 'value-out-of-range'
  | 'bad-usage'
  | 'write-failed'
  | 'network-failed'
  | 'aborted'
  | 'internal'

/** What an error tells beside its message, by code. Those of other codes tell nothing that a program could rely on. */
export interface ErrorDetails {
  readonly 'index-out-of-range': {
    /** The index as text, since it may exceed 2^53. */
    readonly index: string
    /** Where the index is in the tensor of indices. */
    readonly position: readonly number[]
    readonly axis: number
    /** Elements along the axis. */
    readonly size: number
  }
  readonly 'axis-out-of-range': { readonly axis?: number; readonly rank?: number }
  readonly 'limit-exceeded': {
    /** Name of the limit in `LoadOptions.limits`, where it can be set there. */
    readonly limit?: string
    readonly most?: number
  }
}

type DetailsOf<C extends ErrorCode> = (C extends keyof ErrorDetails ? ErrorDetails[C] : unknown) &
  Readonly<Record<string, unknown>>

class FailureOf<C extends ErrorCode> extends Error {
  static {
    // Consoles print both.
    Object.defineProperty(this, 'name', { value: 'NodewiseError' })
    Object.defineProperty(this.prototype, 'name', { value: 'NodewiseError', configurable: true, writable: true })
  }

  /** Errors of another copy of this package count, too: a file of operators may bring a copy of its own. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'NodewiseError' && 'reason' in value && 'place' in value
  }

  readonly code: C
  /** What was expected and what was found, without the place. */
  readonly reason: string
  readonly place: Place
  readonly details: DetailsOf<C>

  constructor(
    code: C,
    reason: string,
    place: Place = {},
    details: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions
  ) {
    super(withPlace(reason, place), options)
    this.code = code
    this.reason = reason
    this.place = place
    this.details = details as DetailsOf<C>
  }

  /** This error with a more complete place: fields of `place` that its own place lacks are added. */
  at(place: Place): NodewiseError {
    return this.movedTo({ ...place, ...this.place })
  }

  /** This error with another place; its stack stays. */
  movedTo(place: Place): NodewiseError {
    const cause = this.cause === undefined ? undefined : { cause: this.cause }
    const moved = new NodewiseError(this.code, this.reason, place, this.details, cause)
    const frames = this.stack?.search(/\n {4}at /) ?? -1
    if (frames >= 0) moved.stack = `${moved.name}: ${moved.message}${this.stack?.slice(frames)}`
    return moved
  }
}

/**
 * The error that this package throws. `message` says where, what was expected and what was found; `reason` is the same
 * without the place. `code` tells which details there are.
 */
export type NodewiseError = { [C in ErrorCode]: FailureOf<C> }[ErrorCode]

/** What work gives; its errors have a more complete place, as {@link NodewiseError.at} makes it. */
export function placing<T>(place: Place, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof NodewiseError ? error.at(place) : error
  }
}

/** Makes errors, and tells them from others: `error instanceof NodewiseError`. */
export interface NodewiseErrorConstructor {
  /** An error whose reason says what is wrong, and whose place says where. */
  new (
    code: ErrorCode,
    reason: string,
    place?: Place,
    details?: Readonly<Record<string, unknown>>,
    options?: ErrorOptions
  ): NodewiseError
  readonly prototype: NodewiseError
}

export const NodewiseError = FailureOf as NodewiseErrorConstructor

/**
 * `model.xml:1043:7: Gather "emb" (opset8)`, `model.onnx: node 17 Gather "emb" (ai.onnx 13)`; empty where nothing is
 * known.
 */
export function placeText(place: Place): string {
  const { file, line, column } = place
  const position = line === undefined ? '' : `:${line}${column === undefined ? '' : `:${column}`}`
  return [file === undefined ? '' : file + position, subjectOf(place)].filter(part => part !== '').join(': ')
}

function subjectOf({ line, graphPath, node, nodeIndex, type, version, value }: Place): string {
  const words: string[] = []
  // A line says more than an index, and files with lines have no other way to count their layers.
  if (nodeIndex !== undefined && line === undefined) words.push(`node ${graphPath ? `${graphPath}/` : ''}${nodeIndex}`)
  if (type !== undefined) words.push(type)
  if (node !== undefined && node !== '') words.push(`"${node}"`)
  if (words.length === 0) return value === undefined ? '' : `value "${value}"`
  if (version !== undefined && version !== '') words.push(`(${version})`)
  return words.join(' ')
}

function withPlace(reason: string, place: Place): string {
  const where = placeText(place)
  return where === '' ? reason : `${where}: ${withoutFile(reason, place)}`
}

/** A reason about a file that begins with the file's name need not say it again. */
function withoutFile(reason: string, { file }: Place): string {
  if (file === undefined) return reason
  const base = file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1)
  const name = [file, base].find(candidate => reason.startsWith(`${candidate} `))
  return name === undefined ? reason : reason.slice(name.length + 1)
}

/** What was wrong in an error of any kind, without a place. */
export const reasonOf = (error: unknown): string =>
  error instanceof NodewiseError ? error.reason : error instanceof Error ? error.message : String(error)

/** Throws a `NodewiseError` without a place; a caller that knows the place adds it by {@link NodewiseError.at}. */
export function fail(code: ErrorCode, message: string, details?: Readonly<Record<string, unknown>>): never {
  throw new NodewiseError(code, message, {}, details)
}
