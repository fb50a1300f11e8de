import { fail } from '../errors.ts'
import { type DType, DTYPES, is64BitInteger, isFloat } from './dtype.ts'
import { elementAt, halvesOf, isFew, type Numbers, roundInto, toNumbers } from './elements.ts'
import { type Codes, type Doubles, isCodedFloat, narrow, type RoundingRules, widen } from './floats.ts'
import { allocate, type Tensor } from './tensor.ts'
import { formatNumber, parseInteger, parseNumber } from './text.ts'

/** How floats are rounded, see {@link RoundingRules}. */
export type ConvertOptions = RoundingRules

/** `castTensor` of what is known to be a tensor, see ./cast.ts; an element type that does not exist is refused. */
export function convert<T extends DType>(tensor: Tensor, to: T, options: ConvertOptions = {}): Tensor<T> {
  if (tensor.type === to) return tensor as Tensor<T>
  const target = allocate(to, tensor.dims)
  convertInto(tensor, target as Tensor, options)
  return target
}

/** {@link convert} into a tensor that exists already and has as many elements. */
export function convertInto(source: Tensor, target: Tensor, options: ConvertOptions = {}): void {
  const from = DTYPES[source.type]
  const to = DTYPES[target.type]
  const count = source.data.length / from.slots
  if (target.data.length / to.slots !== count)
    fail('internal', `${count} elements do not fill [${target.dims.join(', ')}]`)
  if (source.type === target.type) copy(source, target)
  else if (from.kind === 'complex' || to.kind === 'complex') toComplex(source, target)
  else if (to.kind === 'string') toStrings(source, target.data as string[])
  else if (from.kind === 'string') fromStrings(source, target, options)
  else if (to.kind === 'bool') toBooleans(source, target.data as Uint8Array)
  else if (isFloat(target.type)) toFloats(source, target, options)
  else if (is64BitInteger(target.type)) toWideIntegers(source, target)
  else toIntegers(source, target)
}

function copy(source: Tensor, target: Tensor): void {
  const data = source.data
  if (Array.isArray(data))
    data.forEach((text, i) => {
      ;(target.data as string[])[i] = text
    })
  else (target.data as Numbers).set(data as Numbers)
}

function toComplex(source: Tensor, target: Tensor): void {
  const { kind } = DTYPES[source.type]
  if (DTYPES[target.type].kind !== 'complex' || kind === 'string') {
    fail('type-not-allowed', `${source.type} does not convert to ${target.type}`)
  }
  const data = target.data as Doubles
  if (kind === 'complex') return data.set(source.data as Doubles)
  const numbers = convert(source, target.type === 'complex64' ? 'float32' : 'float64').data
  for (let i = 0; i < numbers.length; i++) {
    data[2 * i] = numbers[i]
    data[2 * i + 1] = 0
  }
}

function toStrings(source: Tensor, texts: string[]): void {
  const { kind } = DTYPES[source.type]
  for (let i = 0; i < texts.length; i++) {
    const element = elementAt(source, i)
    texts[i] =
      kind === 'float' ? formatNumber(element as number) : kind === 'bool' ? (element ? '1' : '0') : String(element)
  }
}

function fromStrings(source: Tensor, target: Tensor, options: ConvertOptions): void {
  const texts = source.data as string[]
  const { kind, bits } = DTYPES[target.type]
  if (kind === 'float') {
    const numbers = Float64Array.from(texts, parseNumber)
    return storeFloats(numbers, target, options)
  }
  const data = target.data
  for (let i = 0; i < texts.length; i++) {
    if (kind === 'bool') data[i] = parseNumber(texts[i]) === 0 ? 0 : 1
    else if (bits === 64) data[i] = parseInteger(texts[i], kind === 'int')
    else data[i] = Number(BigInt.asIntN(32, parseInteger(texts[i], kind === 'int')))
  }
  cutToWidth(target)
}

function toBooleans(source: Tensor, flags: Uint8Array): void {
  const { type, data } = source
  const isIeee = type === 'float16' || type === 'bfloat16' || type === 'float32' || type === 'float64'
  // Whether an 8-bit or 4-bit float is zero does not show in its bits alone, so its codes become numbers first.
  const plain = isCodedFloat(type) && !isIeee ? widen(type, data as Codes) : (data as Numbers)
  const { buffer, byteOffset, length, BYTES_PER_ELEMENT: width } = plain
  // A float is zero where all bits but the sign are.
  const sign = isIeee || plain !== data ? 1 : 0
  if (width === 1) markBytes(new Uint8Array(buffer, byteOffset, length), flags)
  else if (width === 2) markWords(new Uint16Array(buffer, byteOffset, length), 0xffff >>> sign, flags)
  else if (width === 4) markWords(new Int32Array(buffer, byteOffset, length), sign ? 0x7fffffff : -1, flags)
  else {
    const halves = new Int32Array(buffer, byteOffset, 2 * length)
    const mask = sign ? 0x7fffffff : -1
    for (let i = 0; i < flags.length; i++) flags[i] = (halves[2 * i] | (halves[2 * i + 1] & mask)) === 0 ? 0 : 1
  }
}

function markWords(words: Uint16Array | Int32Array, mask: number, flags: Uint8Array): void {
  for (let i = 0; i < flags.length; i++) flags[i] = (words[i] & mask) === 0 ? 0 : 1
}

/** Four bytes at a time where both are aligned: 127 added to the low 7 bits of a byte carries unless they are 0. */
function markBytes(bytes: Uint8Array, flags: Uint8Array): void {
  const isAligned = (bytes.byteOffset | flags.byteOffset) % 4 === 0
  const whole = isAligned ? flags.length >> 2 : 0
  const from = new Int32Array(bytes.buffer, isAligned ? bytes.byteOffset : 0, whole)
  const to = new Int32Array(flags.buffer, isAligned ? flags.byteOffset : 0, whole)
  for (let i = 0; i < whole; i++) to[i] = ((((from[i] & 0x7f7f7f7f) + 0x7f7f7f7f) | from[i]) >>> 7) & 0x01010101
  for (let i = 4 * whole; i < flags.length; i++) flags[i] = bytes[i] === 0 ? 0 : 1
}

function toFloats(source: Tensor, target: Tensor, options: ConvertOptions): void {
  if (target.type === 'float32' && isCodedFloat(source.type)) {
    widen(source.type, source.data as Codes, target.data)
    return
  }
  if (!is64BitInteger(source.type)) return storeFloats(toNumbers(source), target, options)
  if (target.type === 'float64') return roundInto(source, target.data)
  if (target.type === 'float32') return readWide(source, target.data)
  // Integers that float32 does not hold are beyond float16, too.
  const doubles =
    target.type === 'float16' ? new Float32Array(source.data.length) : new Float64Array(source.data.length)
  readWide(source, doubles)
  storeFloats(doubles, target, options)
}

function storeFloats(numbers: Numbers, target: Tensor, options: ConvertOptions): void {
  if (!isCodedFloat(target.type)) return (target.data as Doubles).set(numbers)
  if (numbers.BYTES_PER_ELEMENT === 1 && numbers.length > 2 * BYTES) return storeBytes(numbers, target, options)
  const isDoubles = numbers instanceof Float32Array || numbers instanceof Float64Array
  const doubles = isDoubles
    ? numbers
    : numbers.BYTES_PER_ELEMENT < 4 || target.type === 'float16'
      ? new Float32Array(numbers)
      : new Float64Array(numbers)
  narrow(target.type, doubles, target.data as Codes, options)
}

/** Values of a byte. */
const BYTES = 256

/** Codes of bytes, by a table of all bytes. */
function storeBytes(numbers: Numbers, target: Tensor, options: ConvertOptions): void {
  const all = Uint8Array.from({ length: BYTES }, (_, byte) => byte)
  const codes = allocate(target.type, [BYTES])
  storeFloats(numbers instanceof Int8Array ? new Int8Array(all.buffer) : all, codes, options)
  const table = Uint16Array.from(codes.data as Codes)
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.length)
  const data = target.data as Codes
  for (let i = 0; i < data.length; i++) data[i] = table[bytes[i]]
}

/**
 * 64-bit integers as doubles that round to narrower floats as the integers would. Beyond 2^53 a double cannot hold the
 * low 12 bits. For the second rounding they matter only in so far as they are zero or not (a sticky bit), so one bit
 * that says so replaces them.
 */
function readWide(source: Tensor, numbers: Doubles): void {
  if (isFew(source) && readFew(source.data as BigInt64Array, numbers)) return
  const halves = halvesOf(source)
  const signed = source.type === 'int64'
  for (let i = 0; i < numbers.length; i++) {
    const low = halves[2 * i]
    const high = signed ? halves[2 * i + 1] : halves[2 * i + 1] >>> 0
    const exact = high < 0x200000 && high >= -0x200000
    const kept = exact ? low >>> 0 : ((low & 0xfffff000) | ((low & 0xfff) === 0 ? 0 : 0x800)) >>> 0
    numbers[i] = high * 0x100000000 + kept
  }
}

/** Reads a few 64-bit integers. @returns false where a double does not hold one exactly */
function readFew(integers: BigInt64Array, numbers: Doubles): boolean {
  for (let i = 0; i < integers.length; i++) {
    numbers[i] = Number(integers[i])
    if (!Number.isSafeInteger(numbers[i])) return false
  }
  return true
}

function toIntegers(source: Tensor, target: Tensor): void {
  const data = target.data as Numbers
  const isWide = is64BitInteger(source.type)
  if (!isWide && !isFloat(source.type)) data.set(toNumbers(source))
  else {
    // The loops write one type of array; of it, `set` keeps the low bits.
    const words = data instanceof Int32Array ? data : new Int32Array(data.length)
    if (isWide) lowHalves(halvesOf(source), words)
    else if (source.type === 'float16' && target.type !== 'uint32') integersOf(source.data, words)
    else if (target.type === 'uint32') truncateToUint32(toNumbers(source) as Doubles, words)
    else truncateToInt32(toNumbers(source) as Doubles, words)
    if (words !== data) data.set(words)
  }
  cutToWidth(target)
}

/** For each code of float16 what {@link truncateToInt32} makes of its number. */
let halfIntegers: Int32Array | undefined

function integersOf(codes: Uint16Array, words: Int32Array): void {
  const table = (halfIntegers ??= truncatedCodes())
  for (let i = 0; i < words.length; i++) words[i] = table[codes[i]]
}

function truncatedCodes(): Int32Array {
  const table = new Int32Array(2 ** 16)
  truncateToInt32(
    widen(
      'float16',
      Uint16Array.from(table, (_, code) => code)
    ),
    table
  )
  return table
}

function lowHalves(halves: Int32Array, words: Int32Array): void {
  for (let i = 0; i < words.length; i++) words[i] = halves[2 * i]
}

const MIN_INT32 = -0x80000000

/** Rounded towards zero; the smallest int32 where the result is none. */
const truncated = (value: number): number => {
  const integer = value | 0
  return integer === Math.trunc(value) ? integer : MIN_INT32
}

function truncateToInt32(numbers: Doubles, data: Int32Array): void {
  for (let i = 0; i < data.length; i++) data[i] = truncated(numbers[i])
}

function truncateToUint32(numbers: Doubles, data: Int32Array): void {
  for (let i = 0; i < data.length; i++) {
    const value = numbers[i]
    data[i] = value >= 0x80000000 ? truncated(value - 0x80000000) ^ MIN_INT32 : truncated(value)
  }
}

/** Cuts bytes to the low bits that a type of less than a byte has, sign-extended where the type is signed. */
function cutToWidth(target: Tensor): void {
  const { kind, bits } = DTYPES[target.type]
  if (bits >= 8) return
  const data = target.data as Int8Array | Uint8Array
  const shift = 32 - bits
  if (kind === 'int') for (let i = 0; i < data.length; i++) data[i] = (data[i] << shift) >> shift
  else for (let i = 0; i < data.length; i++) data[i] &= (1 << bits) - 1
}

function toWideIntegers(source: Tensor, target: Tensor): void {
  if (is64BitInteger(source.type)) return (target.data as BigInt64Array).set(source.data as BigInt64Array)
  const numbers = toNumbers(source)
  if (isFew(target) && setFew(numbers, target.data as BigInt64Array)) return
  const halves = halvesOf(target)
  if (isFloat(source.type)) truncateToWide(numbers as Doubles, halves, target.type === 'uint64')
  else if (source.type === 'uint32') for (let i = 0; i < numbers.length; i++) putHalves(halves, i, numbers[i], 0)
  else for (let i = 0; i < numbers.length; i++) putHalves(halves, i, numbers[i], numbers[i] >> 31)
}

/** Sets 64-bit integers to a few numbers. @returns false where one is none that a double holds exactly */
function setFew(numbers: Numbers, data: BigInt64Array): boolean {
  for (let i = 0; i < data.length; i++) {
    const value = Math.trunc(numbers[i])
    if (!Number.isSafeInteger(value)) return false
    data[i] = BigInt(value)
  }
  return true
}

function putHalves(halves: Int32Array, i: number, low: number, high: number): void {
  halves[2 * i] = low
  halves[2 * i + 1] = high
}

/** Rounded towards zero; the smallest int64 where the result is none. */
function truncateToWide(numbers: Doubles, halves: Int32Array, unsigned: boolean): void {
  for (let i = 0; i < numbers.length; i++) {
    const small = numbers[i] | 0
    if (small === Math.trunc(numbers[i])) {
      putHalves(halves, i, small, small >> 31)
      continue
    }
    const upper = unsigned && numbers[i] >= 2 ** 63
    const value = Math.trunc(upper ? numbers[i] - 2 ** 63 : numbers[i])
    const fits = value >= -(2 ** 63) && value < 2 ** 63
    const high = fits ? Math.floor(value / 0x100000000) : MIN_INT32
    const low = fits ? value - high * 0x100000000 : 0
    putHalves(halves, i, low, upper ? high ^ MIN_INT32 : high)
  }
}
