/**
 * Where something is. Every field is there only when it applies; `line` and `column` are computed
 * from `offset` when a place is printed (see `openvino/position.ts`).
 */
export interface Place {
  /** Name of the file as the caller gave it. */
  file?: string
  /** 1-based line of the `<` of an XML element. */
  line?: number
  /** 1-based column of the same `<`, in UTF-16 units. */
  column?: number
  /** Byte offset of the same `<`. */
  offset?: number
  /** The graph's own name. */
  graph?: string
  /** The way into a body: `12:then_branch/3:body` (node index and attribute). */
  graphPath?: string
  /** Name of the node or layer. */
  node?: string
  /** Index of the node in its ONNX graph. */
  nodeIndex?: number
  /** Operator type as the file writes it. */
  type?: string
  /** Operator version as a person would cite it: `opset8`, `ai.onnx 13`. */
  version?: string
  /** Layer id of an IR file. */
  layer?: string
  /** Port id of an IR file. */
  port?: string
  /** Name of the value. */
  value?: string
}

/** Stable names of failures; scripts may match on them. */
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

/** Every failure of this package. `message` says what was expected and found, without the place. */
export class NodewiseError extends Error {
  override readonly name = 'NodewiseError'
  readonly code: ErrorCode
  readonly place: Place
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, place: Place = {}, details: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.code = code
    this.place = place
    this.details = details
  }

  /** The same failure with the fields of `place` that it did not have yet: each level adds what it knows. */
  at(place: Place): NodewiseError {
    const located = new NodewiseError(this.code, this.message, { ...place, ...this.place }, this.details)
    if (this.stack !== undefined) located.stack = this.stack
    return located
  }
}

/** Throws a failure without a place; the driver of the phase adds the place. */
export function fail(code: ErrorCode, message: string, details?: Readonly<Record<string, unknown>>): never {
  throw new NodewiseError(code, message, {}, details)
}
