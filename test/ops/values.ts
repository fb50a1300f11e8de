import type { Fact } from '../../src/shapes/fact.ts'
import { isSym, printInt } from '../../src/shapes/sym.ts'
import { type DType, DTYPES } from '../../src/tensor/dtype.ts'
import { elementCount, Tensor } from '../../src/tensor/tensor.ts'

/** A list of 64-bit integers. */
export const ints = (...values: (number | bigint)[]): Tensor => new Tensor('int64', values.map(BigInt))

/** One number without dims. */
export const scalar = (value: number, type: DType = 'int64'): Tensor =>
  new Tensor(type, [DTYPES[type].bits === 64 && type !== 'float64' ? BigInt(value) : value], [])

/**
 * 0, 1, 2 … in dims; strings are the digits, complex numbers have them as both parts, booleans are those of odd
 * numbers.
 */
export function iota(dims: readonly number[], type: DType = 'float32'): Tensor {
  const { slots, kind } = DTYPES[type]
  const count = elementCount(dims) * slots
  const at = (i: number): number =>
    kind === 'complex'
      ? Math.floor(i / slots)
      : kind === 'bool'
        ? i % 2
        : kind !== 'string' && DTYPES[type].bits < 8
          ? i % 2 ** (DTYPES[type].bits - 1)
          : i
  const values = Array.from({ length: count }, (_, i) => at(i))
  if (kind === 'string') return new Tensor(type, values.map(String), dims)
  if (kind === 'complex')
    return new Tensor(type, (type === 'complex64' ? new Float32Array(values) : new Float64Array(values)) as never, dims)
  return new Tensor(type, type === 'int64' || type === 'uint64' ? values.map(BigInt) : values, dims)
}

/** Elements that are known of a value, symbols as they are printed. */
export const valuesOf = (fact: Fact): unknown[] | undefined =>
  fact.kind === 'tensor' && fact.value
    ? Array.from(fact.value.data as ArrayLike<unknown>, item => (isSym(item) ? printInt(item) : item))
    : undefined
