import { fail } from '../errors.ts'
import type { Constant } from '../graph/graph.ts'
import { DTYPES } from '../tensor/dtype.ts'
import { allocate, elementCount, stridesOf, type Tensor } from '../tensor/tensor.ts'
import type { FileContext, Located } from './context.ts'
import type { SparseTensorProto } from './schema.js'
import { constantOf, type ConstantResult, dimsOf, located } from './tensors.ts'

/** Maximum of elements of a sparse tensor, zeros included, that is made dense. */
const MAX_ELEMENTS = 2 ** 31

/** A sparse tensor as a constant that is made dense when it is read. */
export function sparseConstantOf(proto: SparseTensorProto, at: Located, context: FileContext): ConstantResult {
  const title = proto.values?.name ? `sparse tensor "${proto.values.name}"` : 'a sparse tensor'
  if (proto.values === null || proto.indices === null) return invalid(`${title} lacks its values or indices`)
  const dims = dimsOf(proto.dims, title)
  if ('code' in dims) return { problem: dims }
  const values = constantOf(proto.values, at, context)
  const indices = constantOf(proto.indices, at, context)
  const problem = values.problem ?? indices.problem
  if (values.constant === undefined || indices.constant === undefined) return { problem }
  if (!fits(values.constant, indices.constant, dims.length)) {
    const found = `values of ${described(values.constant)} and indices of ${described(indices.constant)}`
    const needed = `a list of values, and int64 indices, one or ${dims.length} each`
    return invalid(`${title} of rank ${dims.length} has ${found}; it needs ${needed}`)
  }
  return { constant: denseConstant(title, dims, values.constant, indices.constant, at), ...(problem && { problem }) }
}

const described = ({ type, dims }: Constant): string => `${type} [${dims.join(', ')}]`

const invalid = (message: string): ConstantResult => ({ problem: { code: 'invalid-sparse', message } })

function fits(values: Constant, indices: Constant, rank: number): boolean {
  const [count, width] = indices.dims
  return (
    values.dims.length === 1 &&
    indices.type === 'int64' &&
    count === values.dims[0] &&
    (indices.dims.length === 1 || (indices.dims.length === 2 && width === rank))
  )
}

function denseConstant(
  title: string,
  dims: readonly number[],
  values: Constant,
  indices: Constant,
  at: Located
): Constant {
  return {
    type: values.type,
    dims,
    byteLength: values.byteLength + indices.byteLength,
    get place() {
      return at.place
    },
    read: () =>
      located(title, at, () => {
        const count = elementCount(dims)
        if (count > MAX_ELEMENTS)
          fail('limit-exceeded', `${count} elements with its zeros are more than the limit of ${MAX_ELEMENTS}`)
        return scatter(values.read(), positionsOf(indices.read(), dims), dims)
      })
  }
}

/**
 * Row-major positions of the values. Checks that they are inside `dims` and in ascending order, as the specification
 * demands; so no position occurs twice.
 */
function positionsOf(indices: Tensor, dims: readonly number[]): number[] {
  const data = indices.data as BigInt64Array
  const linear = indices.dims.length === 1
  const sizes = linear ? [elementCount(dims)] : dims
  const strides = linear ? [1] : stridesOf(dims)
  let last = -1
  return Array.from({ length: indices.dims[0] }, (_, i) => {
    let position = 0
    for (let axis = 0; axis < sizes.length; axis++) {
      const index = data[i * sizes.length + axis]
      const size = sizes[axis]
      if (index < 0n || index >= BigInt(size))
        fail('invalid-file', `index ${index} of value ${i} is out of range for size ${size}`)
      position += Number(index) * strides[axis]
    }
    if (position <= last) fail('invalid-file', `the indices are not in ascending order at value ${i}`)
    last = position
    return position
  })
}

function scatter(values: Tensor, positions: readonly number[], dims: readonly number[]): Tensor {
  const dense = allocate(values.type, dims)
  const { slots } = DTYPES[values.type]
  const from = values.data
  const to = dense.data
  positions.forEach((position, i) => {
    for (let slot = 0; slot < slots; slot++) to[position * slots + slot] = from[i * slots + slot]
  })
  return dense
}
