import { fail } from '../../errors.ts'
import { convertedPaced, convertPaced } from '../../kernels/core/convert-paced.ts'
import { binary, unary } from '../../kernels/core/elementwise.ts'
import { readNumbers } from '../../kernels/core/numbers.ts'
import { swish } from '../../kernels/elementwise/activations.ts'
import { ADD } from '../../kernels/elementwise/binary.ts'
import { alignedDims, channelsOf, normalizeGroups } from '../../kernels/normalization/groups.ts'
import { params } from '../../op-kit/define.ts'
import { checkForms, checkRank, sharedDim } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, float, int, mapped } from '../../op-kit/sources.ts'
import { type Dim, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { allocate, withDims } from '../../tensor/tensor.ts'
import { checkGroups } from './group-normalization.ts'

interface Params {
  epsilon: number
  groups: number
  /** Whether the result is multiplied by its sigmoid: SiLU. */
  activates: boolean
  channelsLast: boolean
}

const bind = {
  epsilon: float('epsilon'),
  groups: int('groups'),
  activates: mapped(int('activation'), value =>
    value === 0 || value === 1
      ? value === 1
      : fail('unknown-attribute-value', `attribute "activation" is ${value}; 0 (none) or 1 (SiLU) is expected`)
  ),
  channelsLast: flag('channels_last')
}

/** Position of the result that is the sum of the operands. */
const SUM = 1

/** Rules of {@link groupNorm}. */
export const groupNormRules = defineRules({
  name: 'GroupNorm',
  operands: { x: 'tensor', scale: 'tensor', shift: 'tensor', skip: 'optional', bias: 'optional' },
  params: params<Params>(),
  onnx: [
    { domain: 'com.microsoft', since: 1, bind },
    { domain: 'com.microsoft', type: 'SkipGroupNorm', since: 1, requires: ['skip'], bind }
  ],

  shape({ x, scale, shift, skip, bias }, { epsilon, groups, channelsLast }, { outputCount }) {
    if (epsilon < 0) fail('unknown-attribute-value', `epsilon is ${epsilon}; 0 or more is expected`)
    checkRank('X', x, 4)
    checkRank('gamma', scale, 1)
    checkRank('beta', shift, 1)
    checkRank('bias', bias, 1)
    const axis = channelsLast ? 3 : 1
    const channels = sharedDim({ X: [x, axis], gamma: [scale, 0], beta: [shift, 0], bias: [bias, 0] }) ?? unknownDim()
    checkGroups('groups', groups, channels)
    const shape = x.shape?.with(axis, channels)
    if (skip && shape) checkSkip(skip, shape, axis)
    const result = tensorFact(x.type, shape)
    return [result, result].slice(0, outputCount)
  }
})

/**
 * Normalizes each group of channels of each instance to mean 0 and variance 1, then scales, shifts and activates it.
 * com.microsoft GroupNorm-1, and SkipGroupNorm-1, which adds a skip connection and a bias first and also gives the sum.
 * The skip connection is as large as `x`, or has one element for each channel of an instance.
 *
 * ONNX Runtime only has data whose channels come last, with scale and shift in float32; its sum of float16 is rounded
 * before it is normalized.
 */
export const groupNorm = /* @__PURE__ */ withKernel(groupNormRules, {
  *run({ x, scale, shift, skip, bias }, { epsilon, groups, activates, channelsLast }, call) {
    const rows = allocate('float64', x.dims)
    yield* convertPaced(x, rows)
    for (const addend of [skip, bias]) {
      if (addend === undefined) continue
      const aligned = withDims(yield* convertedPaced(addend, 'float64'), alignedDims(addend.dims, channelsLast))
      yield* binary(ADD, rows, aligned, rows)
    }
    if (call.wanted(SUM)) yield* convertPaced(rows, call.rawOutput(SUM))
    const layout = { ...channelsOf(x.dims, channelsLast), groups }
    const factors = { scale: yield* readNumbers(scale), shift: yield* readNumbers(shift), per: 'channel' } as const
    yield* normalizeGroups(rows.data, layout, factors, epsilon, rows.data)
    if (activates) yield* unary({ float: SILU }, rows, rows)
    yield* convertPaced(rows, call.rawOutput())
  }
})

const SILU = swish(1)

function checkSkip(skip: TensorFact, shape: readonly Dim[], axis: number): void {
  const [batch] = shape
  const channels = shape[axis]
  checkForms('skip', skip, shape, axis === 3 ? [batch, 1, 1, channels] : [batch, channels, 1, 1], [batch, channels])
}
