import { expect, test } from 'vitest'
import { unary } from '../../../src/kernels/core/elementwise.ts'
import { drain } from '../../../src/kernels/core/pace.ts'
import { shrink } from '../../../src/kernels/elementwise/activations.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'

test.each([Infinity, -Infinity, NaN])('shrink by a bias of %d gives 0 for integers of any width', bias => {
  for (const type of ['int32', 'int64'] as const) {
    const out = allocate(type, [3])
    drain(unary(shrink(0.5, bias), new Tensor(type, type === 'int64' ? [5n, -7n, 0n] : [5, -7, 0]), out as Tensor))
    expect(Array.from(out.data, Number), type).toEqual([0, 0, 0])
  }
})
