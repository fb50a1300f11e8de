import { describe, expect, test } from 'vitest'
import { copyStrided } from '../../../src/kernels/core/copy-strided.ts'
import { staysInOrder } from '../../../src/kernels/core/share.ts'
import { allocate, stridesOf } from '../../../src/tensor/tensor.ts'
import { counted } from '../../ops/random.ts'

function permutations(count: number): number[][] {
  if (count === 0) return [[]]
  return permutations(count - 1).flatMap(order =>
    Array.from({ length: count }, (_, at) => [...order.slice(0, at), count - 1, ...order.slice(at)])
  )
}

describe('staysInOrder', () => {
  test('is so where a transposed copy has the elements in the order of the source', () => {
    const lists = [[], [1], [5], [1, 1], [2, 3], [1, 3, 4], [3, 1, 4], [1, 2, 1, 3], [2, 3, 1, 4], [1, 2, 3, 1]]
    for (const dims of lists) {
      const data = counted('int32', dims)
      for (const order of permutations(dims.length)) {
        const out = allocate(
          'int32',
          order.map(axis => dims[axis])
        )
        const [from, to] = [stridesOf(dims), stridesOf(out.dims)]
        const loops = order.map((axis, i) => ({ count: out.dims[i], from: from[axis], to: to[i] }))
        for (const _ of copyStrided(data, out, loops));
        const isSame = out.data.every((element, i) => element === data.data[i])
        expect(staysInOrder(dims, order), `[${dims}] by [${order}]`).toBe(isSame)
      }
    }
  })
})
