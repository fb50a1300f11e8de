import { convertInto, type ConvertOptions } from '../../tensor/convert.ts'
import { type DType, DTYPES, type Storage } from '../../tensor/dtype.ts'
import { allocate, Tensor } from '../../tensor/tensor.ts'
import { COST, inChunks } from './pace.ts'

/** `convertInto` that yields. Few elements are converted before this returns. */
export function convertPaced(source: Tensor, target: Tensor, rules: ConvertOptions = {}): Generator<void> {
  const count = source.data.length / DTYPES[source.type].slots
  const cost = target.type === 'string' || source.type === 'string' ? COST.text : COST.element
  return inChunks(
    count,
    (from, to) => {
      if (to - from === count) return convertInto(source, target, rules)
      const part = partOf(target, from, to)
      convertInto(partOf(source, from, to), part, rules)
      if (Array.isArray(part.data))
        part.data.forEach((text, i) => {
          target.data[from + i] = text
        })
    },
    cost
  )
}

/** `convert` that yields; gives the tensor itself where it has the type already. */
export function* convertedPaced<T extends DType>(
  tensor: Tensor,
  to: T,
  rules: ConvertOptions = {}
): Generator<void, Tensor<T>> {
  if (tensor.type === to) return tensor as Tensor<T>
  const target = allocate(to, tensor.dims)
  yield* convertPaced(tensor, target as Tensor, rules)
  return target
}

/** The elements `from <= i < to` as a tensor of rank 1: a view, or a copy of strings. */
function partOf({ type, data }: Tensor, from: number, to: number): Tensor {
  const { slots } = DTYPES[type]
  const storage: Storage = data
  const part = Array.isArray(storage) ? storage.slice(from, to) : storage.subarray(from * slots, to * slots)
  return new Tensor(type, part, [to - from])
}
