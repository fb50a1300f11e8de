/** `[name, type variable, index of its type set, 0 single | 1 optional | 2 variadic]` */
export type OnnxPort = readonly [string, string, number, 0 | 1 | 2]
/** `[name, type, required, default?]` */
export type OnnxAttribute = readonly [string, string, 0 | 1, unknown?]
/**
 * `[since, inputs, outputs, [min inputs, max inputs, min outputs, max outputs] (-1: open), attributes,
 * deprecated]`
 */
export type OnnxVersion = readonly [
  number,
  readonly OnnxPort[],
  readonly OnnxPort[],
  readonly [number, number, number, number],
  readonly OnnxAttribute[],
  0 | 1
]

/** Tables as text, whose lines all end: to parse them as a whole takes milliseconds at every start. */
export interface OnnxTables {
  /** A type set a line: names separated by blanks (`float32 seq(int64)`). */
  readonly sets: string
  /** An operator a line: `domain::Type`, a blank, and its {@link OnnxVersion}s as JSON, in ascending order. */
  readonly operators: string
}

export interface OnnxSchemas extends OnnxTables {
  /** Newest opset that the table knows. */
  readonly opset: number
}

/**
 * `[name, type, required, documented default, what OpenVINO takes where it is absent, absence is an error]`. OpenVINO's
 * value wins over the documented default; `required` is what the specification says, and only `check` notes it.
 */
export type OpenvinoAttribute = readonly [string, string, 0 | 1, string | null, string | null, 0 | 1]
/** `[type in a file, version, opsets that hold it, attributes]` */
export type OpenvinoSchemas = readonly (readonly [string, number, readonly number[], readonly OpenvinoAttribute[]])[]
