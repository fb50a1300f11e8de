import { convertInto, type ConvertOptions } from '../../tensor/convert.ts'
import { type DType, DTYPES, type Storage } from '../../tensor/dtype.ts'
import { allocate, Tensor } from '../../tensor/tensor.ts'
import { inSteps } from './steps.ts'

/** `convertInto` that yields about every 10 ms. */
export function* convertPaced(source: Tensor, target: Tensor, rules: ConvertOptions = {}): Generator<void> {
  const count = source.data.length / DTYPES[source.type].slots
  // Numbers with up to 17 digits are slow to write.
  yield* inSteps(
    count,
    (from, to) => {
      const part = partOf(target, from, to)
      convertInto(partOf(source, from, to), part, rules)
      if (Array.isArray(part.data))
        part.data.forEach((text, i) => {
          target.data[from + i] = text
        })
    },
    target.type === 'string' || source.type === 'string' ? 64 : 2
  )
}

/** `convert` that yields about every 10 ms. */
export function* convertedPaced<T extends DType>(
  tensor: Tensor,
  to: T,
  rules: ConvertOptions = {}
): Generator<void, Tensor<T>> {
  if (tensor.type === to) return tensor as unknown as Tensor<T>
  const target = allocate(to, tensor.dims)
  yield* convertPaced(tensor, target, rules)
  return target
}

/** A view of some elements; a copy of strings. */
function partOf({ type, data }: Tensor, from: number, to: number): Tensor {
  const { slots } = DTYPES[type]
  const storage: Storage = data
  const part = Array.isArray(storage) ? storage.slice(from, to) : storage.subarray(from * slots, to * slots)
  return new Tensor(type, part, [to - from])
}
