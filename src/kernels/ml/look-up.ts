import { Tensor } from '../../tensor/tensor.ts'
import { oncePer } from '../core/once.ts'
import { COST, inChunks } from '../core/pace.ts'
import { type UnitArray, unitsOf } from '../core/units.ts'
import { type DenseKeys, denseKeys, findPlaces } from './dense-keys.ts'

/** A label of a class: an element of a tensor as its storage has it. */
export type Label = string | number | bigint

/** Elements from which on looking them up by dense keys gains more than views of arrays cost. */
const MIN_DENSE = 16

/** Replaces each element by what a table has for it, or by `otherwise`. */
export function lookUp(
  labels: Tensor,
  out: Tensor,
  table: ReadonlyMap<Label, Label>,
  otherwise: Label
): Generator<void> {
  const { data } = labels
  const target = out.data
  const isDense = target.length >= MIN_DENSE && !Array.isArray(data) && !(data instanceof BigUint64Array)
  const dense = isDense ? denseOf(table, otherwise, out) : undefined
  if (dense !== undefined) return lookUpDense(labels, out, dense)
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
  readonly keys: DenseKeys
  /** What other elements give, and then the values of the keys. */
  readonly values: Tensor
}

/** A table laid out by key; undefined where it cannot be. Each is used with one default and one type of values. */
const denseOf = oncePer((table: ReadonlyMap<Label, Label>, otherwise: Label, { type }: Tensor): Dense | undefined => {
  const keys = denseKeys([...table.keys()])
  return keys && { keys, values: new Tensor(type, [otherwise, ...table.values()] as bigint[]) }
})

function lookUpDense(labels: Tensor, out: Tensor, { keys, values }: Dense): Generator<void> {
  const { array: from, per } = unitsOf(values)
  const to = unitsOf(out).array
  return inChunks(out.data.length, (start, end) => {
    const places = findPlaces(labels, start, end, keys)
    if (per === 1) copyUnits(from, places, to, start)
    else copyPairs(from, places, to, 2 * start)
  })
}

function copyUnits(from: UnitArray, places: Int32Array, to: UnitArray, at: number): void {
  for (let i = 0; i < places.length; i++) to[at + i] = from[places[i]]
}

function copyPairs(from: UnitArray, places: Int32Array, to: UnitArray, at: number): void {
  for (let i = 0; i < places.length; i++, at += 2) {
    const place = 2 * places[i]
    to[at] = from[place]
    to[at + 1] = from[place + 1]
  }
}
