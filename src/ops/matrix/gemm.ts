import { convertedPaced, convertPaced } from '../../kernels/core/convert-paced.ts'
import { binary } from '../../kernels/core/elementwise.ts'
import { workTensorOf } from '../../kernels/core/numbers.ts'
import { ADD, MULTIPLY, scaledSum } from '../../kernels/elementwise/binary.ts'
import { matmul } from '../../kernels/matrix/matmul.ts'
import { type Broadcast, broadcastResult } from '../../op-kit/broadcast.ts'
import { params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, float, is } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { isFloat } from '../../tensor/dtype.ts'
import { Tensor } from '../../tensor/tensor.ts'
import { productShape } from './matmul.ts'

interface Params {
  alpha: number
  beta: number
  transposeA: boolean
  transposeB: boolean
  /** Whether C is broadcast to the product. */
  broadcasts: boolean
}

const scales = { alpha: float('alpha'), beta: float('beta'), transposeA: flag('transA'), transposeB: flag('transB') }
/** Where the parameters of a Gemm from version 7 on, also a fused one, come from. */
export const gemmBind = { ...scales, broadcasts: is(true) }

/** Rules of {@link gemm}. */
export const gemmRules = defineRules({
  name: 'Gemm',
  operands: { a: 'tensor', b: 'tensor', c: 'optional' },
  params: params<Params>(),
  onnx: [
    { since: 1, bind: { ...scales, broadcasts: flag('broadcast') } },
    { since: 7, bind: gemmBind }
  ],

  shape({ a, b, c }, { transposeA, transposeB, broadcasts }) {
    const type = commonType({ A: a, B: b, C: c })
    checkRank('A', a, 2)
    checkRank('B', b, 2)
    const product = productShape(a.shape, b.shape, transposeA, transposeB)
    const broadcast: Broadcast = broadcasts ? { mode: 'aligned', axis: -1 } : { mode: 'none' }
    return [tensorFact(type, product && c?.shape ? broadcastResult(product, c.shape, broadcast) : product)]
  }
})

/**
 * `alpha A B + beta C` of matrices, A and B transposed where asked: ONNX Gemm-1, -6, -7, -9, -11, -13. Before version 7
 * C has the product's shape unless `broadcast` is set; from version 11 on it may be left out. Integers scaled by
 * anything but 1 are computed in double precision and truncated.
 */
export const gemm = /* @__PURE__ */ withKernel(gemmRules, {
  *run({ a, b, c }, { alpha, beta, transposeA, transposeB }, call) {
    const out = call.output()
    const { work: product, finish } = workTensorOf(out)
    yield* matmul(a, b, product, { a: transposeA, b: transposeB })
    const added = beta === 0 ? undefined : c
    if (isFloat(product.type)) yield* scale(product, alpha, added, beta)
    else if (alpha === 1 && beta === 1 && added) yield* binary(ADD, product, added, product)
    else if (alpha !== 1 || added) {
      const doubles = yield* convertedPaced(product, 'float64')
      yield* scale(doubles, alpha, added, beta)
      yield* convertPaced(doubles, product)
    }
    yield* finish()
  }
})

/** `product = alpha product + beta added`, in place. */
function* scale(product: Tensor, alpha: number, added: Tensor | undefined, beta: number): Generator<void> {
  if (added) yield* binary(scaledSum(alpha, beta), product, yield* convertedPaced(added, product.type), product)
  else if (alpha !== 1) yield* binary(MULTIPLY, product, new Tensor(product.type, [alpha], []), product)
}
