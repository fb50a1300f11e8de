import { fail } from '../../errors.ts'
import { copyStrided } from '../../kernels/core/copy-strided.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { int } from '../../op-kit/sources.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { elementCount } from '../../tensor/tensor.ts'

interface Params {
  axis: number
  group: number
}

/** Interleaves the channels of `group` groups: OpenVINO ShuffleChannels-1. */
export const shuffleChannels = defineOp({
  name: 'ShuffleChannels',
  operands: { data: 'tensor' },
  params: params<Params>(),
  openvino: [{ since: 1, bind: { axis: int('axis'), group: int('group') } }],
  moves: ['data'],

  shape({ data }, { axis, group }) {
    if (group < 1) fail('value-out-of-range', `group is ${group}; expected at least 1`)
    const channels = data.shape?.[normalizeAxis(axis, data.shape.length)]
    if (typeof channels === 'number' && channels % group !== 0) {
      fail('shape-mismatch', `${channels} channels are no multiple of ${group} groups`)
    }
    return [tensorFact(data.type, data.shape)]
  },

  *run({ data }, { axis: given, group }, call) {
    const axis = normalizeAxis(given, data.dims.length)
    const channels = data.dims[axis]
    const inner = elementCount(data.dims.slice(axis + 1))
    const each = channels / group
    yield* copyStrided(data, call.rawOutput(), [
      { count: elementCount(data.dims.slice(0, axis)), from: channels * inner, to: channels * inner },
      { count: each, from: inner, to: group * inner },
      { count: group, from: each * inner, to: inner },
      { count: inner, from: 1, to: 1 }
    ])
  }
})
