import { allocate, type Tensor } from '../../tensor/tensor.ts'

/**
 * Keys or values as `[batch, heads, past + length, size]`. Elements are only moved, so all typed arrays are handled
 * alike.
 * @param x `[batch, heads, length, size]`, or `[batch, length, heads * size]`
 * @param past the keys or values before, `[batch, heads, past, size]`
 */
export function headsOf(x: Tensor, headCount: number | undefined, past: Tensor | undefined): Tensor {
  const flat = x.dims.length === 3
  if (!flat && past === undefined) return x
  const [batch] = x.dims
  const heads = flat ? (headCount ?? 1) : x.dims[1]
  const [length, last] = x.dims.slice(-2)
  const size = flat ? last / heads : last
  const before = past?.dims[2] ?? 0
  const result = allocate(x.type, [batch, heads, before + length, size])
  if (result.data.length === 0) return result
  const to = result.data as Uint8Array
  const from = x.data as Uint8Array
  for (let b = 0, target = 0; b < batch; b++) {
    for (let h = 0; h < heads; h++) {
      const pastStart = (b * heads + h) * before * size
      if (past) to.set((past.data as Uint8Array).subarray(pastStart, pastStart + before * size), target)
      target += before * size
      for (let row = 0; row < length; row++, target += size) {
        const start = flat ? ((b * length + row) * heads + h) * size : ((b * heads + h) * length + row) * size
        to.set(from.subarray(start, start + size), target)
      }
    }
  }
  return result
}
