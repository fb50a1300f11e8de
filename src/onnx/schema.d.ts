// Types of the generated schema.js, with the fields that the loader uses. A singular field that a file does not set is
// not an own property of the message object; it reads as the default of its type (null for messages).

/** A 64-bit integer in two halves. */
export interface Int64 {
  readonly low: number
  readonly high: number
}

export interface StringStringEntryProto {
  readonly key: string
  readonly value: string
}

export interface OperatorSetIdProto {
  readonly domain: string
  readonly version: Int64
}

export interface ModelProto {
  readonly ir_version: Int64
  readonly producer_name: string
  readonly producer_version: string
  readonly domain: string
  readonly model_version: Int64
  /** Empty where they are not read, see `LoadOptions.docs`. */
  readonly doc_string: string
  readonly graph: GraphProto | null
  readonly opset_import: readonly OperatorSetIdProto[]
  readonly metadata_props: readonly StringStringEntryProto[]
  readonly functions: readonly FunctionProto[]
}

export interface GraphProto {
  readonly node: readonly NodeProto[]
  readonly name: string
  readonly doc_string: string
  readonly initializer: readonly TensorProto[]
  readonly input: readonly ValueInfoProto[]
  readonly output: readonly ValueInfoProto[]
  readonly value_info: readonly ValueInfoProto[]
  readonly sparse_initializer: readonly SparseTensorProto[]
}

export interface FunctionProto {
  readonly name: string
  readonly input: readonly string[]
  readonly output: readonly string[]
  readonly attribute: readonly string[]
  readonly attribute_proto: readonly AttributeProto[]
  readonly node: readonly NodeProto[]
  readonly opset_import: readonly OperatorSetIdProto[]
  readonly domain: string
  readonly overload: string
  readonly value_info: readonly ValueInfoProto[]
}

export interface NodeProto {
  /** Mutable, because the node keeps this list and replaces strings in it. */
  readonly input: string[]
  readonly output: readonly string[]
  readonly name: string
  readonly op_type: string
  readonly doc_string: string
  readonly attribute: readonly AttributeProto[]
  readonly domain: string
  readonly overload: string
}

export interface AttributeProto {
  readonly name: string
  readonly type: number
  readonly ref_attr_name: string
  readonly f: number
  readonly i: Int64
  readonly s: Uint8Array
  readonly t: TensorProto | null
  readonly g: GraphProto | null
  readonly tp: TypeProto | null
  readonly sparse_tensor: SparseTensorProto | null
  readonly floats: readonly number[]
  readonly ints: readonly Int64[]
  readonly strings: readonly Uint8Array[]
  readonly tensors: readonly TensorProto[]
  readonly graphs: readonly GraphProto[]
  readonly type_protos: readonly TypeProto[]
  readonly sparse_tensors: readonly SparseTensorProto[]
  /** Not in the file: indices of the payloads with entries of long lists, see skim.ts. */
  readonly payload: readonly number[]
}

export interface ValueInfoProto {
  readonly name: string
  readonly type: TypeProto | null
}

export interface TypeProto {
  readonly tensor_type: { readonly elem_type: number; readonly shape: TensorShapeProto | null } | null
  readonly sequence_type: { readonly elem_type: TypeProto | null } | null
  readonly map_type: MapTypeProto | null
  readonly optional_type: { readonly elem_type: TypeProto | null } | null
  readonly sparse_tensor_type: { readonly elem_type: number; readonly shape: TensorShapeProto | null } | null
  readonly opaque_type: { readonly domain: string; readonly name: string } | null
}

export interface MapTypeProto {
  readonly key_type: number
  readonly value_type: TypeProto | null
}

export interface TensorShapeProto {
  readonly dim: readonly DimensionProto[]
}

export interface DimensionProto {
  readonly dim_value: Int64
  readonly dim_param: string
}

export interface TensorProto {
  readonly dims: readonly Int64[]
  readonly data_type: number
  readonly segment: object | null
  readonly name: string
  readonly external_data: readonly StringStringEntryProto[]
  readonly data_location: number
  /** Not in the file: indices of the tensor's payloads, see skim.ts. */
  readonly payload: readonly number[]
}

export interface SparseTensorProto {
  readonly values: TensorProto | null
  readonly indices: TensorProto | null
  readonly dims: readonly Int64[]
}

export interface SequenceProto {
  readonly name: string
  readonly elem_type: number
  readonly tensor_values: readonly TensorProto[]
  readonly sparse_tensor_values: readonly SparseTensorProto[]
  readonly sequence_values: readonly SequenceProto[]
  readonly map_values: readonly MapProto[]
  readonly optional_values: readonly OptionalProto[]
}

export interface MapProto {
  readonly key_type: number
  readonly keys: readonly Int64[]
  readonly string_keys: readonly Uint8Array[]
  readonly values: SequenceProto | null
}

export interface OptionalProto {
  readonly name: string
  readonly elem_type: number
  readonly tensor_value: TensorProto | null
  readonly sparse_tensor_value: SparseTensorProto | null
  readonly sequence_value: SequenceProto | null
  readonly map_value: MapProto | null
  readonly optional_value: OptionalProto | null
}

interface Decoder<T> {
  /**
   * @param depth number from which the decoder counts the nesting of messages
   * @throws Error, RangeError where the bytes are no such message
   */
  decode(bytes: Uint8Array, length?: undefined, end?: undefined, depth?: number): T
}

/** The messages that a file may be. */
export interface RootMessages {
  ModelProto: ModelProto
  TensorProto: TensorProto
  SequenceProto: SequenceProto
  OptionalProto: OptionalProto
  MapProto: MapProto
}

export const onnx: { readonly [K in keyof RootMessages]: Decoder<RootMessages[K]> } & {
  /** Numbers of element types by name, and names by number. */
  readonly AttributeProto: { readonly AttributeType: Readonly<Record<string, number> & Record<number, string>> }
}

/** A field on the wire. */
export interface WireField {
  readonly name: string
  /** Wire type: 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes. */
  readonly wire: 0 | 1 | 2 | 5
  /** Whether it is a repeated number, which may also be packed (wire type 2). */
  readonly list?: true
  /** Name of the message in the field; absent for other fields. */
  readonly message?: string
}

/** Fields by message (`TypeProto.Tensor`) and number. */
export const FIELDS: Readonly<Record<string, Readonly<Record<number, WireField>>>>
