import { toIndices } from '../../tensor/elements.ts'
import { Tensor } from '../../tensor/tensor.ts'
import { COST, inChunks } from '../core/pace.ts'
import { unitsOf } from '../core/units.ts'

/** A label of a class: an element of a tensor as its storage has it. */
export type Label = string | number | bigint

/** A table is laid out by key where there are this many elements to look up for each of its keys, or more. */
const MIN_PER_KEY = 4

/** Replaces each element by what a table has for it, or by `otherwise`. */
export function lookUp(
  labels: Tensor,
  out: Tensor,
  table: ReadonlyMap<Label, Label>,
  otherwise: Label
): Generator<void> {
  const dense = labels.type === 'int64' ? denseOf(table, otherwise, out) : undefined
  if (dense !== undefined) return lookUpDense(labels, out, dense)
  const { data } = labels
  const target = out.data
  return inChunks(
    target.length,
    (from, to) => {
      for (let i = from; i < to; i++) target[i] = table.get(data[i]) ?? otherwise
    },
    8 * COST.element
  )
}

/** A table by integers that lie close together. */
interface Dense {
  /** The lowest key. */
  readonly least: number
  /** For each integer from the lowest key on, where its value is in `values`. */
  readonly slots: Int32Array
  /** What other elements give, and then the values of the keys. */
  readonly values: Tensor
}

/** @returns undefined where looking up in the table as it is takes no longer */
function denseOf(table: ReadonlyMap<Label, Label>, otherwise: Label, { type, data }: Tensor): Dense | undefined {
  if (data.length < MIN_PER_KEY * table.size || table.size === 0) return undefined
  const keys = Array.from(table.keys(), Number)
  const least = keys.reduce((a, b) => Math.min(a, b))
  const range = keys.reduce((a, b) => Math.max(a, b)) - least + 1
  // Beyond 2^31 different integers may be the same number.
  if (!(range <= data.length && Math.abs(least) < 2 ** 31)) return undefined
  const slots = new Int32Array(range)
  keys.forEach((key, i) => {
    slots[key - least] = i + 1
  })
  return { least, slots, values: new Tensor(type, [otherwise, ...table.values()] as bigint[]) }
}

function lookUpDense(labels: Tensor, out: Tensor, { least, slots, values }: Dense): Generator<void> {
  const data = labels.data as BigInt64Array
  const { array: from, per } = unitsOf(values)
  const to = unitsOf(out).array
  return inChunks(out.data.length, (start, end) => {
    const keys = toIndices(new Tensor(labels.type, data.subarray(start, end)))
    for (let i = 0; i < keys.length; i++) {
      const at = keys[i] - least
      const slot = at >= 0 && at < slots.length ? slots[at] : 0
      if (per === 1) to[start + i] = from[slot]
      else {
        to[2 * (start + i)] = from[2 * slot]
        to[2 * (start + i) + 1] = from[2 * slot + 1]
      }
    }
  })
}
