import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { normalizeGroups } from '../../kernels/normalization/groups.ts'
import { params } from '../../op-kit/define.ts'
import { checkRankAtLeast } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { float, int, is } from '../../op-kit/sources.ts'
import { commonType, FLOATS } from '../../op-kit/types.ts'
import { type Dim, meetDims, printDim, printShape, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { product } from '../../tensor/tensor.ts'

interface Params {
  epsilon: number
  /** Undefined: each channel is a group. */
  groups: number | undefined
  /** Whether scale and bias have one element for each group or for each channel. */
  per: 'group' | 'channel'
}

const grouped = { epsilon: float('epsilon'), groups: int('num_groups') }

/** Rules of {@link groupNormalization}. */
export const groupNormalizationRules = defineRules({
  name: 'GroupNormalization',
  operands: { x: 'tensor', scale: 'tensor', bias: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      type: 'InstanceNormalization',
      since: 1,
      bind: { epsilon: float('epsilon'), groups: is(undefined), per: is('channel') }
    },
    { since: 18, bind: { ...grouped, per: is('group') } },
    { since: 21, bind: { ...grouped, per: is('channel') } }
  ],
  openvino: [
    { since: 12, types: { x: FLOATS, scale: FLOATS, bias: FLOATS }, bind: { ...grouped, per: is('channel') } }
  ],

  shape({ x, scale, bias }, { groups, per }) {
    const type = commonType({ input: x, scale, bias })
    if (groups !== undefined) checkGroups('num_groups', groups, unknownDim())
    checkRankAtLeast('the input', x, 2)
    if (x.shape === undefined) return [tensorFact(type, undefined)]
    const [batch, given, ...rest] = x.shape
    if (groups !== undefined) checkGroups('num_groups', groups, given)
    const expected = per === 'group' && groups !== undefined ? groups : given
    const count = meetList('bias', meetList('scale', expected, scale), bias)
    return [tensorFact(type, [batch, per === 'channel' ? count : given, ...rest])]
  }
})

/**
 * Normalizes each group of channels (dim 1) of each instance (dim 0) to mean 0 and variance 1, then scales and shifts
 * it. Scale and bias have an element for each group in ONNX GroupNormalization-18, and for each channel in -21 and
 * OpenVINO GroupNormalization-12. In ONNX InstanceNormalization-1, -6, -22 each channel is a group.
 */
export const groupNormalization = /* @__PURE__ */ withKernel(groupNormalizationRules, {
  *run({ x, scale, bias }, { epsilon, groups, per }, call) {
    const [batch, channels, ...rest] = x.dims
    const layout = { batch, channels, groups: groups ?? channels, size: product(rest), channelsLast: false }
    const numbers = yield* readNumbers(x)
    const factors = { scale: yield* readNumbers(scale), shift: yield* readNumbers(bias), per }
    const target = targetOf(call.output())
    yield* normalizeGroups(numbers, layout, factors, epsilon, target.numbers)
    yield* target.finish()
  }
})

/**
 * Checks that a number of groups divides that of channels.
 * @param name of the attribute
 * @throws NodewiseError `unknown-attribute-value` for no groups, `shape-mismatch`
 */
export function checkGroups(name: string, groups: number, channels: Dim): void {
  if (groups < 1) fail('unknown-attribute-value', `${name} is ${groups}; expected at least 1`)
  if (typeof channels === 'number' && channels % groups !== 0)
    fail('shape-mismatch', `${channels} channels are no multiple of ${groups} groups`)
}

function meetList(name: string, expected: Dim, { shape }: TensorFact): Dim {
  if (shape === undefined) return expected
  const met = shape.length === 1 ? meetDims(expected, shape[0]) : undefined
  return met ?? fail('shape-mismatch', `${name} has dims ${printShape(shape)}; expected [${printDim(expected)}]`)
}
