import { fail } from '../../errors.ts'
import { convertPaced } from '../../kernels/core/convert-paced.ts'
import { doubles, readNumbers } from '../../kernels/core/numbers.ts'
import { COST, inChunks } from '../../kernels/core/pace.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { exactInt, inputFlag, inputFloat, is, mapped, optional } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { DType } from '../../tensor/dtype.ts'
import { Tensor } from '../../tensor/tensor.ts'

interface Params {
  ratio: DataDependent<number>
  trains: DataDependent<boolean>
  seed: number | undefined
  /** Type of the mask: that of the data before version 10. */
  mask: 'data' | 'bool'
}

const noTraining = { ratio: is(0.5), trains: is(false), seed: is(undefined) }

/**
 * ONNX Dropout. In inference the output is the data, and the mask is all true. In training mode (from version 12 on)
 * elements are dropped with probability `ratio` and the others scaled by `1 / (1 - ratio)`. Versions before 12 are
 * always run as inference, whatever `is_test` says.
 */
export const dropout = defineOp({
  name: 'Dropout',
  operands: { data: 'tensor' },
  params: params<Params>(),
  impure: 'random',
  onnx: [
    { since: 1, bind: { ...noTraining, mask: is('data') } },
    { since: 10, bind: { ...noTraining, mask: is('bool') } },
    {
      since: 12,
      bind: {
        ratio: inputFloat(1, 0.5),
        trains: inputFlag(2, false),
        seed: optional(mapped(exactInt('seed'), Number)),
        mask: is('bool')
      }
    }
  ],

  shape({ data }, { mask }, { outputCount }) {
    const maskType: DType | undefined = mask === 'bool' ? 'bool' : data.type
    return [tensorFact(data.type, data.shape), tensorFact(maskType, data.shape)].slice(0, outputCount)
  },

  *run({ data }, { ratio, trains, seed }, call) {
    const count = data.data.length
    const kept = new Uint8Array(count).fill(1)
    if (trains && ratio !== 0) {
      if (!(ratio >= 0 && ratio < 1))
        fail('value-out-of-range', `the ratio is ${ratio}; expected at least 0 and less than 1`)
      const next = call.random(seed)
      yield* inChunks(
        count,
        (from, to) => {
          for (let i = from; i < to; i++) kept[i] = next() < ratio ? 0 : 1
        },
        2 * COST.element
      )
      const numbers = yield* readNumbers(data)
      const scale = 1 / (1 - ratio)
      const scaled = doubles(count)
      yield* inChunks(count, (from, to) => {
        for (let i = from; i < to; i++) if (kept[i] === 1) scaled[i] = numbers[i] * scale
      })
      yield* convertPaced(new Tensor('float64', scaled, data.dims), call.output())
    } else call.give(0, data)
    if (call.outputCount > 1) yield* convertPaced(new Tensor('bool', kept, data.dims), call.output(1))
  }
})
