import { ERF_INV } from '../kernels/erf-inv.ts'
import { is } from './sources.ts'
import { FLOATS } from './types.ts'
import { fractional, openvino, unaryOp } from './unary.ts'

/** Inverse of the error function: ±Infinity at ±1, NaN beyond. OpenVINO ErfInv-17. */
export const erfInv = unaryOp('ErfInv', [], [openvino('ErfInv', 17, FLOATS, is(fractional(ERF_INV)))])
