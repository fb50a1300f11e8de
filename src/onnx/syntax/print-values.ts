import type { Constant, DeclaredDim, DeclaredType } from '../../graph/graph.ts'
import { DTYPES, is64BitInteger } from '../../tensor/dtype.ts'
import { isPacked, pack } from '../../tensor/packing.ts'
import { elementCount, type Tensor } from '../../tensor/tensor.ts'
import { nameOfType, NO_TYPE } from './types.ts'

/** Which elements of tensors are printed. */
export interface PrintOptions {
  /** Tensors of more elements are printed as `...`; default: all are printed. */
  readonly maxElements?: number
}

/** A text in quotes. */
export const quote = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&')}"`

/** A name: in quotes unless it is an identifier. */
export const printName = (name: string): string => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : quote(name))

/** A type: `float[N,128]`; `[]` stands for a rank that is not declared, nothing for rank 0. */
export function printType(type: DeclaredType): string {
  switch (type.kind) {
    case 'tensor':
      return `${type.type === undefined ? NO_TYPE : nameOfType(type.type)}${printDims(type.dims)}`
    case 'sequence':
      return `seq(${printType(type.element)})`
    case 'optional':
      return `optional(${printType(type.element)})`
    case 'map':
      return `map(${nameOfType(type.keyType)}, ${type.valueType === undefined ? NO_TYPE : nameOfType(type.valueType)})`
    case 'other':
      return printOther(type.text)
  }
}

function printDims(dims: readonly DeclaredDim[] | undefined): string {
  if (dims === undefined) return '[]'
  return dims.length === 0 ? '' : `[${dims.map(printDim).join(',')}]`
}

/** A dim; intervals, which the format cannot say, are unknown. */
const printDim = (dim: DeclaredDim): string =>
  typeof dim === 'number' ? String(dim) : typeof dim === 'string' ? printName(dim) : '?'

/** Sparse tensors, opaque types and maps, which the graph has as text. */
function printOther(text: string): string {
  // An opaque type without a domain has its name alone.
  if (text.startsWith('opaque(, ')) return `opaque(${text.slice('opaque(, '.length)}`
  const sparse = /^sparse_tensor\((\w+|\?)\)(?:\[(.*)\])?$/s.exec(text)
  if (sparse === null) return text
  const dims = sparse[2] === undefined ? '[]' : sparse[2] === '' ? '' : `[${sparse[2].split(', ').join(',')}]`
  const name = sparse[1] === 'float32' ? 'float' : sparse[1] === 'float64' ? 'double' : sparse[1]
  return `sparse_tensor(${name}${dims})`
}

/** Type, name and elements of a constant. */
export function printTensor(constant: Constant, name: string, options: PrintOptions): string {
  const { type, dims } = constant
  const head = `${nameOfType(type)}${printDims(dims)}${name === '' ? '' : ` ${printName(name)} =`}`
  const isElided = elementCount(dims) > (options.maxElements ?? Infinity)
  return `${head} ${isElided ? '...' : `{${elementsOf(constant.read()).join(',')}}`}`
}

/** Elements as the parser of ONNX takes them: bit patterns of small floats, bytes of packed types. */
function elementsOf(tensor: Tensor): string[] {
  const { type, data } = tensor
  if (Array.isArray(data)) return data.map(quote)
  if (isPacked(type)) return Array.from(pack(type, data as Uint8Array, 'onnx'), String)
  if (is64BitInteger(type)) return Array.from(data as BigInt64Array, String)
  const isDouble = type === 'float64' || type === 'complex128'
  if (isDouble || type === 'float32' || type === 'complex64')
    return Array.from(data as Float64Array, isDouble ? printDouble : printFloat)
  return Array.from(data as Uint8Array, value => String(DTYPES[type].kind === 'bool' ? Number(value !== 0) : value))
}

/** A number in double precision, as short as it can be read back. */
function printDouble(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  return Object.is(value, -0) ? '-0' : String(value)
}

/** A number in single precision, with the fewest digits that give it back. */
export function printFloat(value: number): string {
  if (!Number.isFinite(value) || value === 0) return printDouble(value)
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return printDouble(short)
  }
  return printDouble(Number(value.toPrecision(9)))
}
