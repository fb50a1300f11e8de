import { fail } from '../../errors.ts'
import { copyUnits, unitsOf } from '../../kernels/core/units.ts'
import { type DataDependent, defineOp, type KernelContext, type Op, params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { inputInt, inputInts, int, optional, type } from '../../op-kit/sources.ts'
import { NUMERIC } from '../../op-kit/types.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { sizesOf } from '../../shapes/lists.ts'
import { convert } from '../../tensor/convert.ts'
import type { DType } from '../../tensor/dtype.ts'
import { Tensor } from '../../tensor/tensor.ts'

interface LikeParams {
  dtype: DType | undefined
  diagonal: number
}

/** Ones on a diagonal of a matrix with the shape of the input. ONNX EyeLike-9, -22 (bfloat16). */
const eyeLike = defineOp({
  name: 'EyeLike',
  operands: { like: 'tensor' },
  params: params<LikeParams>(),
  onnx: [{ since: 9, bind: { dtype: optional(type('dtype')), diagonal: int('k') } }],

  shape({ like }, p, call) {
    checkRank('the input', like, 2)
    const allowed: readonly DType[] = call.version >= 22 ? NUMERIC : NUMERIC.filter(each => each !== 'bfloat16')
    if (p.dtype !== undefined && p.dtype !== 'bool' && !allowed.includes(p.dtype)) {
      fail('type-not-allowed', `EyeLike-${call.version} does not give ${p.dtype}`)
    }
    return [tensorFact(p.dtype ?? like.type, like.shape)]
  },

  run: (_, p, call) => drawDiagonals(call, p.diagonal)
})

interface Params {
  rows: DataDependent<number>
  columns: DataDependent<number>
  diagonal: DataDependent<number>
  batch: DataDependent<readonly number[]>
  type: DType
}

/** Matrices with ones on a diagonal. OpenVINO Eye-9. */
const eye = defineOp({
  name: 'Eye',
  operands: {},
  params: params<Params>(),
  openvino: [
    {
      since: 9,
      types: {
        rows: ['int32', 'int64'],
        columns: ['int32', 'int64'],
        diagonal: ['int32', 'int64'],
        batch: ['int32', 'int64']
      },
      bind: {
        rows: inputInt(0),
        columns: inputInt(1),
        diagonal: inputInt(2),
        batch: inputInts(3, []),
        type: type('output_type')
      }
    }
  ],

  shape(_, p) {
    if (!NUMERIC.includes(p.type)) fail('type-not-allowed', `output_type is ${p.type}; a numeric type is expected`)
    const matrix = sizesOf([p.rows, p.columns], 'the number of rows and columns')
    return [tensorFact(p.type, p.batch === 'unknown' ? undefined : [...sizesOf(p.batch, 'batch_shape'), ...matrix])]
  },

  run: (_, p, call) => drawDiagonals(call, p.diagonal)
})

/** ONNX EyeLike-9; OpenVINO Eye-9. */
export const eyeOps: readonly Op[] = [eyeLike, eye]

/** Writes ones at `[…, i, i + diagonal]` of the output, which is zeroed. */
function* drawDiagonals(call: KernelContext, diagonal: number): Generator<void> {
  const out = call.output()
  const [rows, columns] = out.dims.slice(-2)
  const { array: one, per } = unitsOf(convert(new Tensor('float32', [1], []), out.type))
  const to = unitsOf(out).array
  const first = Math.max(0, -diagonal)
  const end = Math.min(rows, columns - diagonal)
  for (let start = 0; start < to.length; start += rows * columns * per) {
    for (let i = first; i < end; i++) copyUnits(one, 0, to, start + (i * columns + i + diagonal) * per, per)
    yield
  }
}
