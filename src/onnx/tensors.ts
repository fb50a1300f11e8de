import { NodewiseError, type Place } from '../errors.ts'
import type { ByteRange, Constant } from '../graph/graph.ts'
import { type DType, dtypeFromOnnx } from '../tensor/dtype.ts'
import { elementCount, type Tensor } from '../tensor/tensor.ts'
import { type Claim, type Content, contentOf } from './content.ts'
import { type FileContext, type Located, type Problem, unknownType } from './context.ts'
import { numberOf } from './numbers.ts'
import type { Int64, TensorProto } from './schema.js'

/**
 * A constant and what is wrong with it. Without a constant, its type or dims are not such that one could be; with a
 * problem, the
 * constant's `read` fails too.
 */
export interface ConstantResult {
  readonly constant?: Constant
  readonly problem?: Problem | undefined
}

/** Where a TensorProto's elements are, without reading them. `at` is where the tensor stands. */
export function constantOf(proto: TensorProto, at: Located, context: FileContext): ConstantResult {
  const title = proto.name === '' ? 'a tensor' : `tensor "${proto.name}"`
  const type = dtypeFromOnnx(proto.data_type)
  if (type === undefined) return { problem: unknownType(title, proto.data_type) }
  const dims = dimsOf(proto.dims, title)
  if ('code' in dims) return { problem: dims }
  if (proto.segment !== null) {
    return {
      problem: { code: 'tensor-segment', message: `${title} is a segment of a larger one, which is not supported` }
    }
  }
  const claim = { type, dims, title }
  const content = contentOf(proto, claim, context)
  const constant = new FileConstant(claim, content, at)
  return 'problem' in content ? { constant, problem: content.problem } : { constant }
}

/** A constant of the file. Its place is made when it is asked for. */
class FileConstant implements Constant {
  readonly type: DType
  readonly dims: readonly number[]
  readonly byteLength: number
  readonly raw?: ByteRange
  readonly verify?: () => void
  private readonly title: string
  private readonly content: Content
  private readonly at: Located

  constructor({ type, dims, title }: Claim, content: Content, at: Located) {
    this.type = type
    this.dims = dims
    this.byteLength = content.byteLength
    this.title = title
    this.content = content
    this.at = at
    if ('problem' in content) return
    const { raw, verify } = content
    if (raw) this.raw = raw
    if (verify) this.verify = () => located(title, at, verify)
  }

  get place(): Place {
    return this.at.place
  }

  read(): Tensor {
    const { content } = this
    if ('problem' in content) throw new NodewiseError('invalid-file', content.problem.message, this.place)
    return located(this.title, this.at, content.read)
  }
}

/** Dims of a constant, or what is wrong with them. */
export function dimsOf(dims: readonly Int64[], title: string): number[] | Problem {
  const numbers = dims.map(numberOf)
  if (numbers.some(dim => dim < 0))
    return { code: 'negative-dim', message: `${title} has a negative dim: [${numbers.join(', ')}]` }
  try {
    elementCount(numbers)
    return numbers
  } catch (error) {
    return { code: 'constant-size', message: `${title}: ${(error as Error).message}` }
  }
}

/** Runs a read, and says of which tensor when it fails. */
export function located<T>(title: string, at: Located, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof NodewiseError)) throw error
    throw new NodewiseError(error.code, `${title}: ${error.message}`, { ...at.place, ...error.place }, error.details)
  }
}
