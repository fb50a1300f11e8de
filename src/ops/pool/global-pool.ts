import { fail } from '../../errors.ts'
import { tapsOf } from '../../kernels/core/windows.ts'
import { lpPool } from '../../kernels/pool/pool.ts'
import { reduce } from '../../kernels/reduce/reduce.ts'
import { defineOp, type Op, params } from '../../op-kit/define.ts'
import { float, int } from '../../op-kit/sources.ts'
import { type Dim, printShape } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { checkNorm } from './lp-pool.ts'

/**
 * Pools with one window over the whole plane: every spatial dim becomes 1. ONNX GlobalAveragePool, GlobalMaxPool,
 * GlobalLpPool.
 */
export const globalPoolOps: readonly Op[] = [
  defineGlobal('GlobalAveragePool', 'mean'),
  defineGlobal('GlobalMaxPool', 'max'),

  defineOp({
    name: 'GlobalLpPool',
    operands: { x: 'tensor' },
    params: params<{ p: number }>(),
    onnx: [
      { since: 1, bind: { p: float('p') } },
      { since: 2, bind: { p: int('p') } }
    ],

    shape({ x }, { p }) {
      checkNorm(p)
      return [tensorFact(x.type, globalShape(x))]
    },

    *run({ x }, { p }, call) {
      const out = call.output()
      if (out.data.length === 0) return
      const axes = x.dims
        .slice(2)
        .map(size => ({ size, count: 1, kernel: size, stride: 1, dilation: 1, begin: 0, end: 0 }))
      yield* lpPool(x, out, tapsOf(axes), p)
    }
  })
]

function defineGlobal(name: string, kind: 'mean' | 'max'): Op {
  return defineOp({
    name,
    operands: { x: 'tensor' },
    onnx: [{ since: 1, bind: {} }],
    shape: ({ x }) => [tensorFact(x.type, globalShape(x))],
    run: ({ x }, _, call) => reduce(kind, x, x.dims.map((_, axis) => axis).slice(2), call.output())
  })
}

function globalShape({ shape }: TensorFact): Dim[] | undefined {
  if (shape !== undefined && shape.length < 3)
    fail('rank-mismatch', `data of shape ${printShape(shape)} have no spatial axis`)
  return shape?.map((dim, axis) => (axis < 2 ? dim : 1))
}
