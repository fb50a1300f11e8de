import { type DType, DTYPES } from '../../tensor/dtype.ts'

/** The names that the text format has for element types where they are not those of Nodewise. */
const OTHER_NAMES: Partial<Record<DType, string>> = { float32: 'float', float64: 'double' }

const BY_NAME: ReadonlyMap<string, DType> = new Map(
  Object.entries(DTYPES).flatMap(([type, { onnx }]) =>
    onnx === undefined ? [] : [[OTHER_NAMES[type as DType] ?? type, type as DType] as const]
  )
)

/** The element type of a name in the text format (`float`, `int64`). */
export const typeOfName = (name: string): DType | undefined => BY_NAME.get(name)

export const nameOfType = (type: DType): string => OTHER_NAMES[type] ?? type

/** The name that the printer of ONNX gives to a tensor without an element type. */
export const NO_TYPE = 'undefined'

/** Types that begin with a word and a parenthesis. */
export const TYPE_WORDS: ReadonlySet<string> = new Set(['seq', 'map', 'optional', 'sparse_tensor', 'opaque'])

/** Whether a word is a type, or begins one. */
export const isType = (word: string): boolean => typeOfName(word) !== undefined || TYPE_WORDS.has(word)

/** `AttributeProto.AttributeType` by the names of the text format. */
export const ATTRIBUTE_TYPES = [
  'undefined',
  'float',
  'int',
  'string',
  'tensor',
  'graph',
  'floats',
  'ints',
  'strings',
  'tensors',
  'graphs',
  'sparse_tensor',
  'sparse_tensors',
  'type_proto',
  'type_protos'
] as const
