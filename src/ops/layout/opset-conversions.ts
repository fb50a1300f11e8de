import { fail } from '../../errors.ts'
import { knownNumbers, picked, shapeOf, upTo } from '../../op-kit/conversion-kit.ts'
import { split as splitBySizes, splitEvenly } from '../../op-kit/conversion-parts.ts'
import {
  type Conversions,
  dimsOf,
  type Made,
  rankOf,
  type SourceCall,
  toOnnx,
  within,
  type Writer
} from '../../op-kit/conversion.ts'
import { normalizeAxes, normalizeAxis } from '../../shapes/dim.ts'
import { flatten } from './flatten.ts'
import { pad } from './pad.ts'
import { shape } from './shape.ts'
import { unevenSizes } from './split-sizes.ts'
import { split } from './split.ts'

/** Equal parts are said by their sizes in opsets 13 to 17 and by their number since; sizes were an attribute before. */
function splitWithin(call: SourceCall, w: Writer): readonly Made[] | undefined {
  if (call.dialect !== 'onnx') return undefined
  const data = call.operand('data')
  const { outputCount: outputs } = call
  const axis = call.param<number>('axis')
  const listed = call.param<readonly number[] | undefined>('attributeSizes') ?? call.param('sizes')
  const along = normalizeAxis(axis, rankOf(data))
  const size = dimsOf(data)[along]
  const isUneven = listed === undefined && typeof size !== 'number' && outputs > 1 && call.param<boolean>('uneven')
  if (isUneven && w.opset >= 13 && w.opset < 18)
    return w.nodes('Split', [data, unevenSizes(w, data, along, outputs)], { axis }, { outputs })
  const isEven = typeof size !== 'number' || size % outputs === 0
  if (listed === undefined && isEven) return splitEvenly(w, data, axis, outputs)
  const part = typeof size === 'number' ? Math.ceil(size / outputs) : 0
  const sizes = listed ?? [...upTo(outputs - 1).map(() => part), Number(size) - part * (outputs - 1)]
  return splitBySizes(w, data, axis, sizes)
}

/** Some of the dims, before opset 15. */
function shapeWithin(call: SourceCall, w: Writer): readonly Made[] | undefined {
  if (call.dialect !== 'onnx') return undefined
  const data = call.operand('data')
  const rank = rankOf(data)
  const axes = upTo(rank).slice(call.param<number>('start'), call.param<number | undefined>('end'))
  return [picked(w, shapeOf(w, data), axes)]
}

/** Pads of some axes, which are those of all with zeros before opset 18. */
function padWithin(call: SourceCall, w: Writer): readonly Made[] | undefined {
  if (call.dialect !== 'onnx' || !call.knows('pads') || call.param('pads') === undefined) return undefined
  const data = call.operand('data')
  const rank = rankOf(data)
  const pads = call.param<readonly number[]>('pads')
  const axes = normalizeAxes(call.param<readonly number[] | undefined>('axes') ?? upTo(rank), rank)
  const all = new Array<number>(2 * rank).fill(0)
  axes.forEach((axis, i) => {
    all[axis] = pads[i]
    all[rank + axis] = pads[axes.length + i]
  })
  const mode = call.param<string>('mode')
  const fill = call.optional('fill')
  if (w.opset >= 11) {
    const value = call.param<number>('value')
    const own = fill ?? (value === 0 ? undefined : w.scalar('float32', value))
    return [w.node('Pad', [data, w.constant('int64', all), own && w.cast(own, typeOfData(data))], { mode })]
  }
  const [value] = fill ? (knownNumbers(fill) ?? [undefined]) : [call.param<number>('value')]
  if (value === undefined) return fail('unsupported-op', 'the value to pad with is not known before the model runs')
  return [w.node('Pad', [data], { mode, pads: all, value })]
}

const typeOfData = ({ fact }: Made) => (fact.kind === 'tensor' && fact.type) || 'float32'

/** Operators on layouts in other operator sets of ONNX. */
export const layoutOpsetConversions: Conversions = {
  rules: [within(toOnnx(split, splitWithin)), within(toOnnx(shape, shapeWithin)), within(toOnnx(pad, padWithin))],
  leniencies: [
    // An axis that is not negative means the same in all versions.
    {
      op: flatten,
      parameter: 'negative',
      allows: (_from, to, call) => to === true || call.param<number>('axis') >= 0
    }
  ]
}
