import { fail } from '../errors.ts'
import { rawArray, zeroed } from './arrays.ts'
import { type DType, DTYPES, type ElementOf, type Storage, type StorageOf } from './dtype.ts'
import { type Codes, isCodedFloat, widen } from './floats.ts'

/** Maximum rank of a tensor, as in NumPy. A file that asks for more is damaged or hostile. */
export const MAX_RANK = 64

/**
 * Maximum of tensors that one call makes: the parts of a sequence, or the results of the iterations of a loop. Tensor
 * objects and strings are in the JavaScript heap, and the process ends when that overflows.
 */
export const MAX_ITEMS = 2 ** 21
/** Maximum of strings in a tensor. */
const MAX_STRINGS = 2 ** 24
/** Maximum of pairs in the maps that one call makes: one takes 60 to 100 bytes of the JavaScript heap. */
export const MAX_PAIRS = 2 ** 23

/** A plain array of elements, converted to the storage of its type. */
type Elements = readonly (number | bigint | boolean | string)[]
/** Arrays that say what type their elements have. */
type TypedData = Exclude<Storage, string[]> | Uint8ClampedArray | readonly string[] | readonly boolean[]

/** What only {@link soundTensor} gives. */
const SOUND = Symbol('sound')

/** A dense array; `Tensor` below says what the rest of the program sees of it. */
class DenseTensor<T extends DType> {
  static {
    // Consoles print it.
    Object.defineProperty(this, 'name', { value: 'Tensor' })
  }

  /** Element type. */
  readonly type: T
  /** Sizes of the axes, outermost first. */
  readonly dims: readonly number[]
  /** Elements in row-major order; what storage each type has is in `StorageOf`. */
  readonly data: StorageOf[T]

  /** @param sound {@link SOUND} where the others are known to fit each other: they are not looked at then */
  constructor(
    first: T | TypedData,
    second?: StorageOf[T] | Elements | readonly number[],
    third?: readonly number[],
    sound?: typeof SOUND
  ) {
    if (sound === SOUND) {
      this.type = first as T
      this.dims = third!
      this.data = second as StorageOf[T]
      return
    }
    const isTyped = typeof first === 'string'
    const type = isTyped ? first : (typeOfArray(first) as T)
    const data = isTyped ? second : first
    const dims = isTyped ? third : (second as readonly number[] | undefined)
    const info = infoOf(type)
    const storage = storageFrom(type, data)
    const size = storage.length / info.slots
    const shape = dims ?? [size]
    requireDims(shape)
    const expected = elementCount(shape)
    if (size !== expected)
      fail('shape-mismatch', `dims [${shape.join(', ')}] hold ${expected} elements, the data ${size}`)
    this.type = type
    this.dims = shape
    this.data = storage as StorageOf[T]
  }

  /** Number of elements. */
  get size(): number {
    return this.data.length / DTYPES[this.type].slots
  }

  /** Where the elements are: always in memory of the program. */
  get location(): 'cpu' {
    return 'cpu'
  }

  /** The elements, as `data` has them; for programs that also serve tensors which lie elsewhere. */
  async getData(): Promise<StorageOf[T]> {
    return this.data
  }

  /**
   * The same elements under other dims; the array is shared.
   * @throws NodewiseError `shape-mismatch` when the dims hold another number of elements
   */
  reshape(dims: readonly number[]): Tensor<T> {
    return new Tensor(this.type, this.data, dims)
  }

  /** Does nothing: memory is freed when nobody holds the tensor any more. */
  dispose(): void {
    // For programs that are written for tensors in other memory.
  }

  /**
   * The elements as numbers of single precision: smaller floats are widened, integers are rounded, true is 1.
   * @returns `data` itself of a float32 tensor, else a new array
   * @throws NodewiseError `type-mismatch` for strings and complex numbers
   */
  toFloat32(): Float32Array {
    const { type, data } = this as { type: DType; data: Storage }
    const { kind } = DTYPES[type]
    if (kind === 'string' || kind === 'complex') fail('type-mismatch', `${type} elements are no numbers`)
    if (type === 'float32') return data as Float32Array
    if (isCodedFloat(type)) return widen(type, data as Codes)
    return Float32Array.from(data as ArrayLike<number | bigint>, Number)
  }
}

/** A dense array: element type, dims (row-major) and elements. `type` tells which array `data` is. */
export type Tensor<T extends DType = DType> = { [K in T]: DenseTensor<K> }[T]

/** Makes tensors, and tells them from other values: `value instanceof Tensor`. */
export interface TensorConstructor {
  /**
   * @param type element type
   * @param data elements in row-major order: the type's storage (used as it is, not copied), or an array of numbers,
   *   bigints, booleans or strings as fits the type. float16 and bfloat16 take bit patterns
   * @param dims `[data.length]` when left out
   * @throws NodewiseError `shape-mismatch` when data and dims disagree, `type-mismatch` when data do not fit the type
   */
  new <T extends DType>(
    type: T,
    data: StorageOf[T] | (T extends 'uint8' ? Uint8ClampedArray : never) | Elements,
    dims?: readonly number[]
  ): Tensor<T>
  /** The type is that of the array: `float32` of a Float32Array, `string` of texts, `bool` of booleans. */
  new <A extends TypedData>(data: A, dims?: readonly number[]): Tensor<TypeOfArray<A>>
  readonly prototype: Tensor
  [Symbol.hasInstance](value: unknown): value is Tensor
}

/** Tensors as in `onnxruntime-common`. */
export const Tensor = DenseTensor as TensorConstructor

/**
 * A tensor of an array that has been made for its type and dims: nothing is checked, which takes longer than all else.
 */
export const soundTensor = (type: DType, data: Storage, dims: readonly number[]): Tensor =>
  new DenseTensor(type, data, dims, SOUND) as Tensor

const ARRAY_TYPES = {
  Float32Array: 'float32',
  Float64Array: 'float64',
  Int8Array: 'int8',
  Int16Array: 'int16',
  Int32Array: 'int32',
  BigInt64Array: 'int64',
  Uint8Array: 'uint8',
  Uint8ClampedArray: 'uint8',
  Uint16Array: 'uint16',
  Uint32Array: 'uint32',
  BigUint64Array: 'uint64'
} as const satisfies Record<string, DType>

/** The element type that an array without a type has. */
export type TypeOfArray<A> = A extends { readonly [Symbol.toStringTag]: infer Name extends keyof typeof ARRAY_TYPES }
  ? (typeof ARRAY_TYPES)[Name]
  : A extends readonly string[]
    ? 'string'
    : A extends readonly boolean[]
      ? 'bool'
      : never

function typeOfArray(data: unknown): DType {
  const name = ArrayBuffer.isView(data) ? (data as Float32Array)[Symbol.toStringTag] : ''
  if (Object.hasOwn(ARRAY_TYPES, name)) return ARRAY_TYPES[name as keyof typeof ARRAY_TYPES]
  if (Array.isArray(data) && data.length > 0) {
    if (data.every(item => typeof item === 'string')) return 'string'
    if (data.every(item => typeof item === 'boolean')) return 'bool'
  }
  return fail('type-mismatch', 'the element type must be given first: new Tensor("float32", data, dims)')
}

function storageFrom(type: DType, data: unknown): Storage {
  const info = DTYPES[type]
  if (info.array === undefined) {
    if (!Array.isArray(data) || data.some(item => typeof item !== 'string'))
      fail('type-mismatch', 'a string tensor needs an array of strings')
    return data as string[]
  }
  // The first test is the faster one, and does for all but arrays of other realms and of classes of their own.
  if ((data as object | undefined)?.constructor === info.array || data instanceof info.array) return data as Storage
  if (type === 'uint8' && data instanceof Uint8ClampedArray)
    return new Uint8Array(data.buffer, data.byteOffset, data.length)
  if (!Array.isArray(data))
    fail('type-mismatch', `a ${type} tensor needs a ${(info.array as { name?: string }).name ?? 'typed array'}`)
  try {
    const storage = new info.array(data.length)
    fillFrom(storage, data)
    return storage as Storage
  } catch {
    fail('type-mismatch', `the data do not fit a ${type} tensor`)
  }
}

/** Converts each element of a list. `set` takes a tenth of the time of a loop, but no bigints for numbers. */
function fillFrom(storage: Exclude<Storage, string[]>, data: Elements): void {
  if (storage instanceof BigInt64Array || storage instanceof BigUint64Array) {
    for (let i = 0; i < data.length; i++) storage[i] = BigInt(data[i])
    return
  }
  try {
    storage.set(data as readonly number[])
  } catch {
    for (let i = 0; i < data.length; i++) storage[i] = Number(data[i])
  }
}

/** An ordered list of values (ONNX `seq`). */
export interface Sequence<T = Value> {
  readonly type: 'sequence'
  readonly values: readonly T[]
}

/** A value that may be absent (ONNX `optional`). */
export interface Optional {
  readonly type: 'optional'
  readonly value: Value | undefined
}

/** Types that keys of a map may have. */
export type KeyType = 'int64' | 'string'

/** Keys and their values (ONNX `map`), such as a classifier's probability of each class. */
export interface MapValue<K extends KeyType = KeyType, V extends DType = DType> {
  readonly type: 'map'
  readonly keyType: K
  readonly valueType: V
  /** Values as JavaScript has them: those of float16 are numbers, not bit patterns. The order means nothing. */
  readonly entries: ReadonlyMap<ElementOf<K>, ElementOf<V>>
}

/** A value of a graph at run time. */
export type Value = Tensor | Sequence | Optional | MapValue

/** Whether a value is one tensor: no sequence, optional or map. */
export const isTensor = (value: Value): value is Tensor =>
  value.type !== 'sequence' && value.type !== 'optional' && value.type !== 'map'

/**
 * Dims that come from JavaScript may be anything; all that is done with them later trusts that they are a list.
 * @throws NodewiseError `type-mismatch`
 */
export function requireDims(dims: unknown): void {
  if (!Array.isArray(dims) && !ArrayBuffer.isView(dims))
    fail('type-mismatch', `the dims of a tensor are a list of sizes, not ${String(dims)}`)
}

/**
 * Number of elements of `dims`, exact.
 * @throws NodewiseError `limit-exceeded` when it is no safe integer or the rank is above {@link MAX_RANK},
 *   `shape-mismatch` when a dim is negative or no integer
 */
export function elementCount(dims: readonly number[]): number {
  if (dims.length > MAX_RANK) fail('limit-exceeded', `rank ${dims.length} is above the limit of ${MAX_RANK}`)
  let count = 1
  let empty = false
  for (let i = 0; i < dims.length; i++) {
    const dim = dims[i]
    if (!Number.isInteger(dim) || dim < 0) fail('shape-mismatch', `${dim} is no dimension: [${dims.join(', ')}]`)
    if (dim > Number.MAX_SAFE_INTEGER) fail('limit-exceeded', `dim ${dim} is above 2^53: [${dims.join(', ')}]`)
    if (dim === 0) empty = true
    else count *= dim
  }
  if (empty) return 0
  if (!Number.isSafeInteger(count)) fail('limit-exceeded', `dims [${dims.join(', ')}] hold more than 2^53 elements`)
  return count
}

/**
 * Product of the sizes with index `from` to `to - 1`; 1 for none. They are not checked, as {@link elementCount} does.
 */
export function product(sizes: readonly number[], from = 0, to = sizes.length): number {
  let result = 1
  for (let i = from; i < to; i++) result *= sizes[i]
  return result
}

export function areSameDims(a: readonly number[], b: readonly number[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Whether elements are the same, zeros of the same sign. */
export function areSameElements(a: Storage, b: Storage): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false
  return true
}

/** Bytes that `count` elements of `type` take in memory (strings: a pointer each). */
export const memoryBytes = (type: DType, count: number): number => count * DTYPES[type].bytes

/** Bytes that `count` elements of `type` take in a file, sub-byte types packed (strings: 0). */
export const fileBytes = (type: DType, count: number): number => Math.ceil((count * DTYPES[type].bits) / 8)

/** Bytes of the largest typed array. */
const MAX_ARRAY = 2 ** 33

/**
 * A tensor of zeros or empty strings.
 * @throws NodewiseError `limit-exceeded`, before memory is allocated, where it is too large for one array
 */
export const allocate = <T extends DType>(type: T, dims: readonly number[]): Tensor<T> => make(type, dims, true)

/**
 * A tensor whose elements the caller writes, every one, before anybody else gets it: they may be what was in memory.
 * Strings are undefined until then.
 */
export const allocateRaw = <T extends DType>(type: T, dims: readonly number[]): Tensor<T> => make(type, dims, false)

/** @throws NodewiseError `type-mismatch` for a type that does not exist: callers in JavaScript may give any */
export const infoOf = (type: DType): (typeof DTYPES)[DType] =>
  DTYPES[type] ?? fail('type-mismatch', `unknown element type "${String(type)}"`)

function make<T extends DType>(type: T, dims: readonly number[], isFilled: boolean): Tensor<T> {
  const { array, slots } = infoOf(type)
  const count = elementCount(dims)
  const bytes = memoryBytes(type, count)
  if (bytes > MAX_ARRAY)
    fail(
      'limit-exceeded',
      `a ${type} tensor of dims [${dims.join(', ')}] takes ${bytes} bytes, more than one array can hold`
    )
  if (array === undefined && count > MAX_STRINGS)
    fail('limit-exceeded', `a tensor of dims [${dims.join(', ')}] has more than ${MAX_STRINGS} strings`)
  try {
    const size = count * slots
    const data = array === undefined ? new Array<string>(size) : (isFilled ? zeroed : rawArray)(array, size)
    if (array === undefined && isFilled) data.fill('' as never)
    return soundTensor(type, data, dims) as Tensor<T>
  } catch (error) {
    if (error instanceof RangeError)
      fail('limit-exceeded', `no memory for a ${type} tensor of dims [${dims.join(', ')}] (${bytes} bytes)`)
    throw error
  }
}

/** A tensor with the same array and other dims of as many elements. */
export const withDims = ({ type, data }: Tensor, dims: readonly number[]): Tensor =>
  // Texts, each of which would be looked at, are what they were.
  type === 'string' && product(dims) === data.length ? soundTensor(type, data, dims) : new Tensor(type, data, dims)

/** The position in `dims` of element `at` in row-major order. */
export function positionOf(at: number, dims: readonly number[]): number[] {
  const position = new Array<number>(dims.length)
  let rest = at
  for (let i = dims.length - 1; i >= 0; i--) {
    position[i] = rest % dims[i]
    rest = Math.floor(rest / dims[i])
  }
  return position
}

/** Row-major strides of `dims`, in elements. */
export function stridesOf(dims: readonly number[]): number[] {
  const strides = new Array<number>(dims.length)
  let stride = 1
  for (let i = dims.length - 1; i >= 0; i--) {
    strides[i] = stride
    stride *= dims[i]
  }
  return strides
}

/** Sets all elements to zero; strings become empty. */
export function zero({ data }: Tensor): void {
  if (Array.isArray(data)) {
    data.fill('')
    return
  }
  const { buffer, byteOffset, byteLength } = data as Uint8Array
  // Engines fill shared memory element by element: the wider they are, the faster.
  const isWide = (byteOffset | byteLength) % 8 === 0
  const wide = isWide
    ? new Float64Array(buffer, byteOffset, byteLength / 8)
    : new Uint8Array(buffer, byteOffset, byteLength)
  wide.fill(0)
}
