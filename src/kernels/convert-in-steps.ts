import { type ConvertOptions, convertInto } from '../tensor/convert.ts'
import { DTYPES, type Storage } from '../tensor/dtype.ts'
import { Tensor } from '../tensor/tensor.ts'
import { WORK_PER_YIELD } from './elementwise.ts'

/** `convertInto` that yields about every 10 ms. */
export function* convertInSteps(source: Tensor, target: Tensor, rules: ConvertOptions): Generator<void> {
  const count = source.data.length / DTYPES[source.type].slots
  for (let from = 0; from < count; from += WORK_PER_YIELD) {
    if (from > 0) yield
    const to = Math.min(count, from + WORK_PER_YIELD)
    const part = partOf(target, from, to)
    convertInto(partOf(source, from, to), part, rules)
    if (Array.isArray(part.data)) part.data.forEach((text, i) => { target.data[from + i] = text })
  }
}

/** A view of some elements; a copy of strings. */
function partOf({ type, data }: Tensor, from: number, to: number): Tensor {
  const { slots } = DTYPES[type]
  const storage: Storage = data
  const part = Array.isArray(storage) ? storage.slice(from, to) : storage.subarray(from * slots, to * slots)
  return new Tensor(type, part as never, [to - from])
}
