import { NodewiseError, type Place, reasonOf } from '../errors.ts'
import type { ByteRange, Constant } from '../graph/graph.ts'
import { type DType, dtypeFromOnnx } from '../tensor/dtype.ts'
import { elementCount, type Tensor } from '../tensor/tensor.ts'
import { type Claim, type Content, contentOf } from './content.ts'
import { type FileContext, type Located, type Problem, unknownType } from './context.ts'
import { numberOf } from './numbers.ts'
import type { Int64, TensorProto } from './schema.js'

/**
 * A constant and what is wrong with it. The constant is absent where its type or dims are wrong. Where there is a
 * problem, `read` of the constant throws it.
 */
export interface ConstantResult {
  readonly constant?: Constant
  readonly problem?: Problem | undefined
}

/**
 * The constant that a TensorProto describes; its elements are not read yet.
 * @param at the value, or the node, that the tensor belongs to
 */
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
    return { code: 'constant-size', message: `${title}: ${reasonOf(error)}` }
  }
}

/** Calls `read`; an error of it gets the title and the place of the tensor. */
export function located<T>(title: string, at: Located, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof NodewiseError)) throw error
    throw new NodewiseError(error.code, `${title}: ${error.reason}`, { ...at.place, ...error.place }, error.details)
  }
}
