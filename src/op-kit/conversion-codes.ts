import { fail } from '../errors.ts'
import type { Constant } from '../graph/graph.ts'
import { tensorOfBytes } from '../tensor/bytes.ts'
import type { DType } from '../tensor/dtype.ts'
import { elementCount, fileBytes, product, Tensor, withDims } from '../tensor/tensor.ts'
import { joined, upTo } from './conversion-kit.ts'
import { div, mul, part, sub } from './conversion-parts.ts'
import { dimsOf, type Made, typeOf, type Writer } from './conversion.ts'

// Weights in codes of a few bits, the first code of a byte in its lowest bits, as operators of com.microsoft have them.
// IR and ONNX have types whose elements lie in the same way, so constants keep their bytes.

/** The bytes of a constant of uint8 as elements of another type, read when they are needed. */
export function retyped(constant: Constant, type: DType, dims: readonly number[]): Constant {
  const { raw, place, verify } = constant
  return {
    type,
    dims,
    byteLength: fileBytes(type, elementCount(dims)),
    place,
    read: () => tensorOfBytes(type, dims, constant.read().data as Uint8Array, 'onnx'),
    ...(verify && { verify: () => verify() }),
    ...(raw && { raw: { source: raw.source, offset: raw.offset, length: raw.length, layout: 'onnx' as const } })
  }
}

/** A value under other dims: a constant keeps its bytes where they are. */
export function inDims(w: Writer, value: Made, dims: readonly number[]): Made {
  const constant = w.constantOf(value)
  if (constant === undefined || elementCount(constant.dims) !== product(dims)) return w.reshape(value, dims)
  return w.keep({ ...constant, dims, read: () => withDims(constant.read(), dims) })
}

/** Types of codes, and the opset from which ONNX has constants of them. */
const CODES: Readonly<Record<number, readonly [DType, number]>> = {
  2: ['uint2', 25],
  4: ['uint4', 21],
  8: ['uint8', 1]
}

/** The type in which a dialect has codes of so many bits; undefined where only their bytes can be stored. */
function codeType({ dialect, opset }: Writer, bits: number): DType | undefined {
  const [type, since] = CODES[bits] ?? fail('unsupported-op', `codes of ${bits} bits`)
  return dialect === 'openvino' || opset >= since ? type : undefined
}

/**
 * Codes of rows that each begin at a byte, in an integer type.
 * @param packed bytes, of any dims
 * @param rows number of rows
 * @param count codes of a row that count
 * @param dims of the result: as many elements as rows of `count` codes
 */
export function unpacked(
  w: Writer,
  packed: Made,
  bits: number,
  rows: number,
  count: number,
  dims: readonly number[]
): Made {
  const constant = w.constantOf(packed)
  const type = codeType(w, bits)
  const fills = (count * bits) % 8 === 0
  if (constant && type && fills) return w.keep(retyped(constant, type, dims))
  if (constant && type) return w.keep(unpackedRows(constant, type, bits, rows, count, dims))
  const bytes = inDims(w, packed, [rows, Math.ceil((count * bits) / 8)])
  const codes = bits === 8 ? bytes : codesInBytes(w, bytes, bits, rows)
  return w.reshape(fills ? codes : part(w, codes, 1, 0, count), dims)
}

/** `[rows, codes]` from `[rows, bytes]`, by division. */
function codesInBytes(w: Writer, bytes: Made, bits: number, rows: number): Made {
  const base = 2 ** bits
  let rest = w.cast(bytes, 'int32')
  const codes: Made[] = []
  for (let i = 0; i < 8 / bits; i++) {
    const above = div(w, rest, w.scalar('int32', base))
    codes.push(sub(w, rest, mul(w, above, w.scalar('int32', base))))
    rest = above
  }
  const apart = codes.map(code => w.reshape(code, [rows, -1, 1]))
  return w.reshape(joined(w, apart, 2), [rows, -1])
}

/** Codes of rows whose last byte has bits that count for nothing. */
function unpackedRows(
  constant: Constant,
  type: DType,
  bits: number,
  rows: number,
  count: number,
  dims: readonly number[]
): Constant {
  const width = Math.ceil((count * bits) / 8)
  const all = (width * 8) / bits
  return {
    type,
    dims,
    byteLength: fileBytes(type, rows * count),
    place: constant.place,
    read() {
      const codes = tensorOfBytes(type, [rows * all], constant.read().data as Uint8Array, 'onnx').data as Uint8Array
      const kept = new Uint8Array(rows * count)
      for (let row = 0; row < rows; row++) kept.set(codes.subarray(row * all, row * all + count), row * count)
      return new Tensor(type, kept, dims)
    }
  }
}

/** Codes in blocks along their last axis, and what makes numbers of them. */
export interface CodedBlocks {
  /** `[..., blocks, size]`, or, for blocks of any order, `[..., columns]`. */
  readonly codes: Made
  /** Numbers, in dims that are broadcast to the codes. */
  readonly scales: Made
  /** Codes or numbers. */
  readonly zeros: Made | undefined
}

/**
 * `(code - zero) * scale` in a float type, in the nodes that OpenVINO writes for compressed weights: what runtimes know
 * to keep in few bits.
 */
export function numbersOfCodes(w: Writer, { codes, scales, zeros }: CodedBlocks, type: DType): Made {
  const numbers = w.cast(codes, type)
  const centered = zeros ? sub(w, numbers, w.cast(zeros, type)) : numbers
  return mul(w, centered, w.cast(scales, type))
}

/** The zero point of codes that are given none: the middle of their range. */
const middleOf = (w: Writer, codes: Made, bits: number): Made => w.scalar(typeOf(codes), 2 ** (bits - 1))

/**
 * Zero points of rows of blocks: codes as the file packs them, numbers, or none.
 * @param dims of the result: `[rows, blocks, 1]`, or with more axes for rows
 */
export function rowZeros(w: Writer, zeros: Made | undefined, codes: Made, bits: number, dims: readonly number[]): Made {
  if (zeros === undefined) return middleOf(w, codes, bits)
  if (typeOf(zeros) !== 'uint8') return inDims(w, zeros, dims)
  const blocks = dims[dims.length - 2]
  return unpacked(w, zeros, bits, product(dims) / Math.max(1, blocks), blocks, dims)
}

/** A list of the block of each element along an axis. */
export const blockOfEach = (w: Writer, count: number, size: number): Made =>
  w.constant(
    'int64',
    upTo(count).map(i => Math.floor(i / size))
  )

/** The first elements along the last axis. */
export function firstOfLast(w: Writer, x: Made, count: number): Made {
  const axis = dimsOf(x).length - 1
  if (dimsOf(x)[axis] === count) return x
  return part(w, x, axis, 0, count)
}
