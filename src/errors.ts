/**
 * Where in a file or graph an error or a finding is. A field is set only where it applies. `line` and `column` are
 * computed from `offset` when a place is printed (`openvino/position.ts`).
 */
export interface Place {
  /** Name of the file as the caller gave it. */
  file?: string
  /** XML: line of the `<` of the element, from 1. */
  line?: number
  /** XML: column of that `<`, from 1, in UTF-16 units. */
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
  | 'aborted'
  | 'internal'

/** The error that this package throws. `message` says what was expected and what was found, without the place. */
export class NodewiseError extends Error {
  override readonly name = 'NodewiseError'
  readonly code: ErrorCode
  readonly place: Place
  readonly details: Readonly<Record<string, unknown>>

  /** Makes an error whose message says what is wrong, and whose place says where. */
  constructor(code: ErrorCode, message: string, place: Place = {}, details: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.code = code
    this.place = place
    this.details = details
  }

  /** This error with a more complete place: fields of `place` that its own place lacks are added. */
  at(place: Place): NodewiseError {
    const located = new NodewiseError(this.code, this.message, { ...place, ...this.place }, this.details)
    if (this.stack !== undefined) located.stack = this.stack
    return located
  }
}

/** Throws a `NodewiseError` without a place; a caller that knows the place adds it by {@link NodewiseError.at}. */
export function fail(code: ErrorCode, message: string, details?: Readonly<Record<string, unknown>>): never {
  throw new NodewiseError(code, message, {}, details)
}
