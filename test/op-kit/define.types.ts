/** What the compiler must accept and refuse of {@link defineOp}: checked by the type check, never run. */
import { type DataDependent, defineOp, params } from '../../src/op-kit/define.ts'
import { flag, inputInt, int, is } from '../../src/op-kit/sources.ts'
import type { PartialTensor } from '../../src/shapes/fact.ts'
import type { Tensor } from '../../src/tensor/tensor.ts'

interface Params {
  axis: DataDependent<number>
  keepDims: boolean
}

const base = { name: 'Probe', operands: { data: 'tensor', extra: 'optional' }, params: params<Params>() } as const
const shape = (): [] => []
const run = (): void => undefined

// Every parameter has a source in every operator version.
defineOp({ ...base, onnx: [{ since: 1, bind: { axis: inputInt(1), keepDims: flag('keepdims') } }], shape, run })
// @ts-expect-error keepDims is forgotten
defineOp({ ...base, onnx: [{ since: 1, bind: { axis: inputInt(1) } }], shape, run })
defineOp({
  ...base,
  onnx: [{ since: 1, bind: { axis: int('axis'), keepDims: is(true) } }],
  openvino: [
    { since: 1, bind: { axis: inputInt(1), keepDims: is(true) } },
    // @ts-expect-error keepDims is forgotten in the second version
    { since: 2, bind: { axis: inputInt(1) } }
  ],
  shape,
  run
})

// Sources have the type of their parameter, and only data-dependent ones come from an input.
// @ts-expect-error a number is no boolean
defineOp({ ...base, onnx: [{ since: 1, bind: { axis: inputInt(1), keepDims: int('keepdims') } }], shape, run })
// @ts-expect-error keepDims is not data-dependent
defineOp({ ...base, onnx: [{ since: 1, bind: { axis: inputInt(1), keepDims: inputInt(2) } }], shape, run })
// @ts-expect-error no parameter has this name
defineOp({ ...base, onnx: [{ since: 1, bind: { axis: is(0), keepDims: is(true), other: is(1) } }], shape, run })

// Shape rules see symbols where parameters are data-dependent; kernels see plain values.
defineOp({
  ...base,
  shape(_, p) {
    // @ts-expect-error it may be a symbol
    const axis: number = p.axis
    const keepDims: boolean = p.keepDims
    return axis > 0 && keepDims ? [] : []
  },
  run({ data, extra }, p, context) {
    const axis: number = p.axis
    const out: Tensor = context.output(axis)
    context.give(0, data)
    // @ts-expect-error it may be left out
    context.give(1, extra)
    return out.data.length > 0 ? undefined : undefined
  }
})

// Operands of which elements are moved may be partial, and so may the outputs; others may not.
defineOp({
  name: 'Probe',
  operands: { data: 'tensor', indices: 'tensor' },
  moves: ['data'],
  shape,
  run({ data, indices }, _, context) {
    const moved: Tensor | PartialTensor = data
    const whole: Tensor = indices
    // @ts-expect-error it may be partial
    const tensor: Tensor = data
    // @ts-expect-error it may be partial
    const out: Tensor = context.output()
    context.give(0, moved)
    return [whole, tensor, out].length > 0 ? undefined : undefined
  }
})

// @ts-expect-error no operand has this name
defineOp({ name: 'Probe', operands: { data: 'tensor' }, moves: ['other'], shape, run })
