import { COST, Pace } from '../../kernels/core/pace.ts'
import { copyUnits, unitsOf } from '../../kernels/core/units.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { checkRankAtLeast } from '../../op-kit/ranks.ts'
import { flag, inputInt } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params {
  /** The diagonal where the triangle ends: 0 the main one, positive above it. */
  k: DataDependent<number>
  upper: boolean
}

/** The upper or lower triangle of each matrix; the rest is zero. ONNX Trilu-14, com.microsoft Trilu-1. */
export const trilu = defineOp({
  name: 'Trilu',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 14, bind: { k: inputInt(1, 0), upper: flag('upper') } },
    { domain: 'com.microsoft', since: 1, bind: { k: inputInt(1, 0), upper: flag('upper') } }
  ],
  moves: ['data'],

  shape({ data }) {
    checkRankAtLeast('the input', data, 2)
    return [tensorFact(data.type, data.shape)]
  },

  *run({ data }, { k, upper }, call) {
    const [rows, columns] = data.dims.slice(-2)
    const { array: from, per } = unitsOf(data)
    // Of numbers whole lines are copied and then cleared: short copies of parts would take twice as long.
    const areNumbers = !Array.isArray(from)
    const to = unitsOf(areNumbers ? call.rawOutput() : call.output()).array
    const words = areNumbers ? wordsOf(to as Units) : undefined
    const line = columns * per
    const chunk = line * Math.max(1, Math.floor(CHUNK / line))
    const pace = new Pace()
    for (let start = 0, row = 0; start < to.length; start += chunk) {
      const end = Math.min(to.length, start + chunk)
      if (areNumbers) copyUnits(from, start, to, start, end - start)
      for (let at = start; at < end; at += line, row = (row + 1) % rows) {
        const split = at + per * Math.max(0, Math.min(columns, row + k + (upper ? 0 : 1)))
        if (words) clear(to as Units, words, upper ? at : split, upper ? split : at + line)
        else if (upper) copyUnits(from, split, to, split, at + line - split)
        else copyUnits(from, at, to, at, split - at)
      }
      if (pace.isDue((end - start) * COST.element)) yield
    }
  }
})

/** Units that are copied before they are cleared: a cache holds them. */
const CHUNK = 1 << 14
/** Below this many units a loop takes less time than a call. */
const FEW = 32

type Units = Uint8Array | Uint16Array | Int32Array

/** The memory of units in words where it lies so: an array fills these as fast as it fills bytes. */
const wordsOf = (units: Units): Units =>
  units.byteOffset % 4 === 0 && units.BYTES_PER_ELEMENT < 4
    ? new Int32Array(units.buffer as ArrayBuffer, units.byteOffset, Math.floor(units.byteLength / 4))
    : units

function clear(units: Units, words: Units, from: number, to: number): void {
  if (to - from <= FEW) return clearFew(units, from, to)
  if (words === units) {
    units.fill(0, from, to)
    return
  }
  const per = words.BYTES_PER_ELEMENT / units.BYTES_PER_ELEMENT
  const [first, last] = [Math.ceil(from / per), Math.floor(to / per)]
  words.fill(0, first, last)
  clearFew(units, from, first * per)
  clearFew(units, last * per, to)
}

function clearFew(units: Units, from: number, to: number): void {
  for (let i = from; i < to; i++) units[i] = 0
}
