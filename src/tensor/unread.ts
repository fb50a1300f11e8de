import { Tensor } from './tensor.ts'

const READ = Symbol('read')

interface Unread extends Pick<Tensor, 'type' | 'dims'> {
  readonly [READ]: () => Pick<Tensor, 'data'>
}

/** Made once: a product of a run makes one unread tensor, and properties of its own would take microseconds. */
const PROTOTYPE = /* @__PURE__ */ Object.create(Tensor.prototype, {
  data: {
    get(this: Unread) {
      return this[READ]().data
    }
  }
}) as object

/** A tensor whose elements are made when somebody asks for them. */
export function unreadTensor({ type, dims }: Pick<Tensor, 'type' | 'dims'>, read: () => Pick<Tensor, 'data'>): Tensor {
  const tensor = Object.create(PROTOTYPE) as { -readonly [Name in keyof Unread]: Unread[Name] }
  tensor.type = type
  tensor.dims = dims
  tensor[READ] = read
  return tensor as unknown as Tensor
}
