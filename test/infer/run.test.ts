import { describe, expect, test } from 'vitest'
import { FOLDING, runCall } from '../../src/infer/run.ts'
import type { Kernel } from '../../src/op-kit/define.ts'
import { Tensor } from '../../src/tensor/tensor.ts'
import { callOf } from '../ops/harness.ts'

describe('a selected kernel', () => {
  const x = new Tensor('float32', Float32Array.of(1, 2, 3))
  const call = callOf(['onnx', 'Neg', 13], [x], {})
  const twice: Kernel = function* ({ x }, _, context) {
    const out = context.output()
    yield Promise.resolve()
    ;(x as Tensor<'float32'>).data.forEach((element, i) => (out.data[i] = 2 * element))
  }

  test("runs instead of the operator's own, and may yield a promise", async () => {
    const work = runCall(call, [x], { ...FOLDING, select: () => ({ kernel: twice }) })
    const first = work.next()
    expect(first.done).toBe(false)
    await first.value
    expect(work.next()).toMatchObject({ done: true, value: [{ dims: [3], data: Float32Array.of(2, 4, 6) }] })
  })

  test('leaves the operator its own where there is none', () => {
    const work = runCall(call, [x], { ...FOLDING, select: () => ({ kernel: undefined }) })
    expect(work.next()).toMatchObject({ done: true, value: [{ data: Float32Array.of(-1, -2, -3) }] })
  })
})
