import type { Place } from '../errors.ts'
import { elementCount, fileBytes, type Tensor } from '../tensor/tensor.ts'
import type { Constant } from './graph.ts'

/** A constant of elements that are at hand. */
export const constantAtHand = (tensor: Tensor, place: Place): Constant => ({
  type: tensor.type,
  dims: tensor.dims,
  byteLength: fileBytes(tensor.type, elementCount(tensor.dims)),
  place,
  read: () => tensor
})
