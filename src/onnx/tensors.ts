import { NodewiseError, type Place } from '../errors.ts'
import type { Constant } from '../graph/graph.ts'
import { dtypeFromOnnx, type DType } from '../tensor/dtype.ts'
import { isPacked } from '../tensor/packing.ts'
import { elementCount } from '../tensor/tensor.ts'
import { contentOf } from './content.ts'
import { unknownType, type FileContext, type Problem } from './context.ts'
import { numberOf } from './numbers.ts'
import type { Int64, TensorProto } from './schema.js'

/**
 * A constant and what is wrong with it. Without a constant, its type or dims are not such that one could be; with a problem, the
 * constant's `read` fails too.
 */
export interface ConstantResult {
  readonly constant?: Constant
  readonly problem?: Problem
}

/** Where a TensorProto's elements are, without reading them. `place` is where the tensor stands. */
export function constantOf(proto: TensorProto, place: Place, context: FileContext): ConstantResult {
  const title = proto.name === '' ? 'a tensor' : `tensor "${proto.name}"`
  const type = dtypeFromOnnx(proto.data_type)
  if (type === undefined) return { problem: unknownType(title, proto.data_type) }
  const dims = dimsOf(proto.dims, title)
  if ('code' in dims) return { problem: dims }
  if (proto.segment !== null) {
    return { problem: { code: 'tensor-segment', message: `${title} is a segment of a larger one, which is not supported` } }
  }
  const content = contentOf(proto, { type, dims, title: `${title} of type ${type} and dims [${dims.join(', ')}]` }, context)
  const broken = 'problem' in content ? content.problem : undefined
  const verify = 'verify' in content ? content.verify : undefined
  const constant: Constant = {
    type,
    dims,
    byteLength: content.byteLength,
    place,
    read() {
      if ('problem' in content) throw new NodewiseError('invalid-file', content.problem.message, place)
      return located(title, place, content.read)
    },
    ...(verify && { verify: () => located(title, place, verify) }),
    ...(!broken && 'raw' in content && isByRow(type) && { raw: content.raw })
  }
  return { constant, ...(broken && { problem: broken }) }
}

/** Dims of a constant, or what is wrong with them. */
export function dimsOf(dims: readonly Int64[], title: string): number[] | Problem {
  const numbers = dims.map(numberOf)
  if (numbers.some(dim => dim < 0)) return { code: 'negative-dim', message: `${title} has a negative dim: [${numbers.join(', ')}]` }
  try {
    elementCount(numbers)
    return numbers
  } catch (error) {
    return { code: 'constant-size', message: `${title}: ${(error as Error).message}` }
  }
}

/** What can be read by the row straight from the file: whole bytes that mean what they are. */
const isByRow = (type: DType): boolean => !isPacked(type) && type !== 'string' && type !== 'bool'

/** Runs a read, and says of which tensor when it fails. */
export function located<T>(title: string, place: Place, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof NodewiseError)) throw error
    throw new NodewiseError(error.code, `${title}: ${error.message}`, { ...place, ...error.place }, error.details)
  }
}
