import { Tensor } from './tensor.ts'

/** A tensor whose elements are made when somebody asks for them. */
export const unreadTensor = ({ type, dims }: Pick<Tensor, 'type' | 'dims'>, read: () => Tensor): Tensor =>
  Object.create(Tensor.prototype, {
    type: { value: type },
    dims: { value: dims },
    data: { get: () => read().data }
  }) as Tensor
