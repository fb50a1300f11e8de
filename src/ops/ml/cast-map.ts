import { fail } from '../../errors.ts'
import { convertedPaced } from '../../kernels/core/convert-paced.ts'
import { COST, inChunks } from '../../kernels/core/pace.ts'
import { sortPaced } from '../../kernels/core/sort.ts'
import { params } from '../../op-kit/define.ts'
import { mapFactOf, mapIn } from '../../op-kit/maps.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, int } from '../../op-kit/sources.ts'
import { unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { valuesOf } from '../../tensor/map.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { formatFixed } from '../../tensor/text.ts'

interface Params {
  to: 'float32' | 'int64' | 'string'
  /** Whether a key is the position of its value; else values lie one after the other, by ascending key. */
  isSparse: boolean
  /** Columns of the result, where it is sparse. */
  size: number
}

/** What ONNX Runtime puts between the values where they are cast to strings. */
const NO_TEXT = '0.f'

/** Rules of {@link castMap}. */
export const castMapRules = defineRules({
  name: 'CastMap',
  operands: { x: 'any' },
  params: params<Params>(),
  onnx: [
    {
      domain: 'ai.onnx.ml',
      since: 1,
      bind: {
        to: choice('cast_to', { TO_FLOAT: 'float32', TO_STRING: 'string', TO_INT64: 'int64' }),
        isSparse: choice('map_form', { DENSE: false, SPARSE: true }),
        size: int('max_map')
      }
    }
  ],

  shape({ x }, { to, isSparse, size }) {
    const { value } = mapFactOf(x)
    if (isSparse && size <= 0) fail('unknown-attribute-value', `max_map is ${size}; 1 or more is expected`)
    const columns = isSparse ? size : value?.type === 'map' ? value.entries.size : unknownDim()
    return [tensorFact(to, [1, columns])]
  }
})

/**
 * The values of a map as a row `[1, n]`: all of them by ascending key, or each at the position that its key is, where
 * keys from `max_map` on are left out and positions without a key are 0. What the text leaves open is as in ONNX
 * Runtime: floats become integers by cutting the fraction off and text with 6 decimals, positions without a key are
 * "0.f" among strings, and negative keys are an error in the sparse form. Text that is no number is an error; ONNX
 * Runtime takes the number that it starts with. ai.onnx.ml CastMap-1.
 */
export const castMap = /* @__PURE__ */ withKernel(castMapRules, {
  *run({ x }, { to, isSparse, size }, call) {
    const map = mapIn(x)
    const keys = [...map.entries.keys()] as bigint[]
    yield* sortPaced(keys, (a, b) => (a < b ? -1 : 1))
    if (isSparse && keys.length > 0 && keys[0] < 0n)
      fail('value-out-of-range', `the map has the key ${keys[0]}; as positions keys must be 0 or more`)
    const kept = isSparse ? keys.filter(key => key < size) : keys
    const out = call.output().data
    if (isSparse && to === 'string')
      yield* inChunks(out.length, (from, end) => (out as string[]).fill(NO_TEXT, from, end))
    const values = valuesOf(map, kept)
    const { data } = to === 'string' ? values : yield* convertedPaced(values, to)
    yield* inChunks(
      kept.length,
      (from, end) => {
        for (let i = from; i < end; i++)
          out[isSparse ? Number(kept[i]) : i] = to === 'string' ? textOf(values, i) : data[i]
      },
      to === 'string' ? COST.text : COST.element
    )
  }
})

const textOf = ({ data }: Tensor, i: number): string => {
  const value = data[i]
  return typeof value === 'number' ? formatFixed(value) : String(value)
}
