/** `nodewise/graph`: reads models and holds their graphs and tensors. It has no operators. */
export { NodewiseError } from '../errors.ts'
export type { ErrorCode, Place } from '../errors.ts'
export type {
  Attribute,
  Constant,
  DeclaredDim,
  DeclaredType,
  Dialect,
  Finding,
  Graph,
  GraphPort,
  InputMean,
  GraphValue,
  Model,
  ModelFunction,
  Node,
  ValueId
} from '../graph/graph.ts'
export type { Limits } from '../graph/limits.ts'
export { load } from '../load.ts'
export type { ByteReader, FileHandle } from '../files/own-bytes.ts'
export type { FileContent, LoadOptions, ModelSource, NetworkOptions, ReadProgress } from '../load.ts'
export { castTensor } from '../tensor/cast.ts'
export type { DType } from '../tensor/dtype.ts'
export { hasFormOfTensor as isTensor } from '../tensor/given.ts'
export { Tensor } from '../tensor/tensor.ts'
export type { KeyType, MapValue, Optional, Sequence, Value } from '../tensor/tensor.ts'
export { dataToJson, tensorFromJson } from '../io/json-tensor.ts'
export type { JsonOptions } from '../io/json-tensor.ts'
export { parseJsonExact, stringifyExact } from '../io/json-text.ts'
export type { Json } from '../io/json-text.ts'
