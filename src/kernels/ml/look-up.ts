import type { Tensor } from '../../tensor/tensor.ts'
import { COST, inChunks } from '../core/pace.ts'

/** A label of a class: an element of a tensor as its storage has it. */
export type Label = string | number | bigint

/**
 * Replaces each element by what a table has for it, or by `otherwise`.
 * @param keyOf the key of the table that stands for an element
 */
export const lookUp = (
  { data: labels }: Tensor,
  { data: out }: Tensor,
  table: ReadonlyMap<Label, Label>,
  otherwise: Label,
  keyOf = (label: Label): Label => label
): Generator<void> =>
  inChunks(
    out.length,
    (from, to) => {
      for (let i = from; i < to; i++) out[i] = table.get(keyOf(labels[i])) ?? otherwise
    },
    8 * COST.element
  )
