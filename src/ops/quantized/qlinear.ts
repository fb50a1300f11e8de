import { softmaxDivisor } from '../../kernels/quantized/codes.ts'
import { inEitherLayout } from '../../op-kit/channels-last.ts'
import type { Op } from '../../op-kit/define.ts'
import { quantizedForm } from '../../op-kit/quantized.ts'
import { type AnySource, flag, int, is, mapped } from '../../op-kit/sources.ts'
import { binaryOps } from '../elementwise/binary.ts'
import { softmaxOps } from '../normalization/softmax.ts'
import { averagePool } from '../pool/average-pool.ts'
import { globalPoolOps } from '../pool/global-pool.ts'
import { reduceOps } from '../reduce/reduce.ts'

type Bind = Readonly<Record<string, AnySource>>

const named = (ops: readonly Op[], name: string): Op => ops.find(op => op.name === name) as Op
const add = named(binaryOps, 'Add')
const multiply = named(binaryOps, 'Mul')
const globalAverage = named(globalPoolOps, 'GlobalAveragePool')
const reduceMean = named(reduceOps, 'ReduceMean')
const softmax = named(softmaxOps, 'Softmax')

const newest = (op: Op): Bind => op.onnx?.at(-1)?.bind as Bind
const oldest = (op: Op): Bind => op.onnx?.at(0)?.bind as Bind
const channelsLast = flag('channels_last')
const toEvenCodes = { evenCodes: () => true }

/**
 * Operators of com.microsoft that compute as their namesakes of ONNX on what 8-bit codes stand for, and quantize the
 * result. QLinearReduceMean has its axes as an attribute, as ReduceMean did before version 18. QLinearSoftmax has the
 * opset of the Softmax that it stands for as an attribute: before 13 the axis and all after it are one. Unlike
 * Softmax's, its axis is the last one by default whatever the opset is, and as in ONNX Runtime its results are
 * multiplied by the reciprocal of the scale rounded down to an integer. As there, sums, products and means of windows
 * add the zero point before they round, so that ties go to the even code; all others add it after.
 */
export const qlinearOps: readonly Op[] = [
  quantizedForm('QLinearAdd', add, newest(add), toEvenCodes),
  quantizedForm('QLinearMul', multiply, newest(multiply), toEvenCodes),
  quantizedForm(
    'QLinearAveragePool',
    inEitherLayout(averagePool),
    { ...newest(averagePool), channelsLast, evenCodes: is(true) },
    { evenCodes: params => params.evenCodes === true }
  ),
  quantizedForm('QLinearGlobalAveragePool', inEitherLayout(globalAverage), { channelsLast }),
  quantizedForm('QLinearReduceMean', reduceMean, oldest(reduceMean)),
  quantizedForm(
    'QLinearSoftmax',
    softmax,
    { axis: int('axis'), flattens: mapped(int('opset'), opset => opset < 13) },
    { divisor: softmaxDivisor }
  )
]
