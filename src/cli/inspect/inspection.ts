/** An input or output as the file declares it. */
export interface DescribedPort {
  readonly name: string
  /** `f32`, `seq(float32)`; null when the file does not say. */
  readonly type: string | null
  /** A number, a name, an interval or `?` a dim; null when the rank is unknown. */
  readonly dims: readonly (number | string)[] | null
}

/** What is in a file, without running it. */
export interface Inspection {
  readonly file: string
  readonly format: 'onnx' | 'openvino'
  readonly irVersion: number
  readonly opsets: Readonly<Record<string, number>>
  readonly producer: string
  /** ONNX: of the model itself, where the file gives them. */
  readonly modelVersion?: number
  readonly domain?: string
  readonly doc?: string
  readonly graph: string
  readonly inputs: readonly DescribedPort[]
  readonly outputs: readonly DescribedPort[]
  /** ONNX: inputs that an initializer gives a value, which a run may replace. */
  readonly overridable: readonly DescribedPort[]
  /** Nodes and layers that the file lists, in bodies and functions too. */
  readonly nodes: number
  /** How many by operator; `domain::Op` outside ai.onnx. */
  readonly ops: Readonly<Record<string, number>>
  /** Which of the operators cannot be run here. */
  readonly unsupported: readonly string[]
  readonly functions: readonly string[]
  readonly bodies: number
  readonly parameters: number
  readonly weightBytes: number
  /** Of the file itself, where it is one. */
  readonly fileBytes?: number
  readonly metadata: Readonly<Record<string, string>>
  readonly notes: readonly string[]
}
