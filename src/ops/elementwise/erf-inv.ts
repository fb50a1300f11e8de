import { ERF_INV } from '../../kernels/elementwise/erf-inv.ts'
import { is } from '../../op-kit/sources.ts'
import { FLOATS } from '../../op-kit/types.ts'
import { fractional, openvino, unaryOp } from './unary.ts'

/** Nanoseconds for one element; near 1 a continued fraction of 120 terms is evaluated four times. */
const ERF_INV_COST = 4000

/** Inverse of the error function: ±Infinity at ±1, NaN beyond. OpenVINO ErfInv-17. */
export const erfInv = unaryOp(
  'ErfInv',
  [],
  [openvino('ErfInv', 17, FLOATS, is({ ...fractional(ERF_INV), cost: ERF_INV_COST }))]
)
