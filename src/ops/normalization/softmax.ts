import { fail } from '../../errors.ts'
import type { Dialect } from '../../graph/graph.ts'
import { axisLayout } from '../../kernels/core/axis-layout.ts'
import {
  type ChangeLine,
  eachLine,
  hardmax,
  logSoftmaxLine,
  softmaxLine,
  softmaxLineRounded
} from '../../kernels/core/lines.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { defineOp, type Op, type OpVersion, params } from '../../op-kit/define.ts'
import { int, is, mapped } from '../../op-kit/sources.ts'
import { FLOATS } from '../../op-kit/types.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { DType } from '../../tensor/dtype.ts'
import { isCodedFloat, rounderTo } from '../../tensor/floats.ts'

interface Params {
  axis: number
  /** The axis and all after it are flattened to one. */
  flattens: boolean
}

type SoftmaxVersion = OpVersion<{ x: 'tensor' }, Params>

const onnx: readonly SoftmaxVersion[] = [
  { since: 1, bind: { axis: int('axis'), flattens: is(true) } },
  { since: 13, bind: { axis: int('axis'), flattens: is(false) } }
]
const openvino = (type: string, since: number): SoftmaxVersion => ({
  type,
  since,
  types: { x: FLOATS },
  bind: { axis: int('axis'), flattens: is(false) }
})

/** SoftMax-1 counts no axis from the end. */
const fromStart = mapped(
  int('axis'),
  axis => (axis < 0 ? fail('value-out-of-range', `axis is ${axis}; SoftMax of opset1 counts it from the start`) : axis),
  axis => axis
)

/** Softmax, LogSoftmax and Hardmax along an axis; in ONNX before version 13 over all axes from that one on. */
export const softmaxOps: readonly Op[] = [
  define('Softmax', along(softmaxLine), [
    { ...openvino('SoftMax', 1), bind: { axis: fromStart, flattens: is(false) } },
    openvino('SoftMax', 8)
  ]),
  define('LogSoftmax', along(logSoftmaxLine), [openvino('LogSoftmax', 5)]),
  define('Hardmax', () => hardmax, [])
]

/**
 * The function along a line for a type. ONNX defines Softmax by a function body whose operators each round to the type:
 * for coded floats this rounds as they do.
 */
const lineOf = (change: ChangeLine, type: DType, dialect: Dialect): ChangeLine =>
  change === softmaxLine && dialect === 'onnx' && isCodedFloat(type) ? softmaxLineRounded(rounderTo(type)) : change

/** Computes along the lines of an axis. */
type Along = typeof hardmax

/** The computation for a type of elements. */
type AlongFor = (type: DType, dialect: Dialect) => Along

function along(change: ChangeLine): AlongFor {
  return (type, dialect) => (x, out, layout) => eachLine(x, out, layout, lineOf(change, type, dialect))
}

function define(name: string, lines: AlongFor, openvinoVersions: readonly SoftmaxVersion[]): Op {
  return defineOp<{ x: 'tensor' }, Params>({
    name,
    operands: { x: 'tensor' },
    params: params<Params>(),
    onnx,
    openvino: openvinoVersions,

    shape({ x }, { axis }) {
      if (x.shape) normalizeAxis(axis, x.shape.length)
      return [tensorFact(x.type, x.shape)]
    },

    *run({ x }, p, call) {
      const out = call.output()
      if (out.data.length === 0) return
      const axis = normalizeAxis(p.axis, x.dims.length)
      const { outer, size, inner } = axisLayout(x.dims, axis)
      const target = targetOf(out)
      const layout = p.flattens ? { outer, size: size * inner, inner: 1 } : { outer, size, inner }
      yield* lines(x.type, call.dialect)(yield* readNumbers(x), target.numbers, layout)
      yield* target.finish()
    }
  })
}
