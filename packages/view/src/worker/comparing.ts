import { compare, type ComparedPair, type Comparison, type Model } from 'nodewise'
import { recordFinder } from './facts.ts'
import type { Flat } from './flatten.ts'
import { feedsFor } from './inputs.ts'
import type { RunRequest } from './running.ts'

/** How far a value of the open model is from its counterpart. */
export interface ShownPair {
  /** The record that makes the value; -1 where it is within a body that is not shown. */
  readonly record: number
  /** The record of the other model that makes its counterpart; -1 likewise. */
  readonly recordB: number
  readonly a: string
  readonly b: string
  readonly equal: boolean
  readonly maxAbsolute: number
  readonly maxRelative: number
  /** Decibels; Infinity where the values are the same. */
  readonly sqnr: number
  readonly differing: number
  readonly elements: number
}

/** What a comparison found, for the page. */
export interface Compared {
  readonly other: string
  readonly equal: boolean
  readonly first?: ShownPair & { readonly why: readonly string[] }
  /** In the order of the run. */
  readonly pairs: readonly ShownPair[]
  readonly outputs: readonly {
    readonly a: string
    readonly b: string
    readonly text: string
    readonly equal: boolean
  }[]
  readonly unpaired: { readonly a: number; readonly b: number }
}

/** Runs the open model and another on the same inputs. */
export const comparison = async (
  model: Model,
  other: Model,
  request: RunRequest,
  signal: AbortSignal
): Promise<Comparison> => compare(model, other, await feedsFor(model, request), { signal })

/** Tells where the values of two models part. */
export function comparedOf(found: Comparison, flat: Flat, other: Model, otherFlat: Flat): Compared {
  const [recordOf, recordOfB] = [recordFinder(flat), recordFinder(otherFlat)]
  const shown = ({ a, b, distance }: ComparedPair): ShownPair => ({
    record: recordOf(a),
    recordB: recordOfB(b),
    a: a.value,
    b: b.value,
    equal: distance.equal,
    maxAbsolute: distance.maxAbsolute,
    maxRelative: distance.maxRelative,
    sqnr: distance.sqnr,
    differing: distance.differing,
    elements: distance.elements
  })
  return {
    other: other.file,
    equal: found.equal,
    ...(found.first && { first: { ...shown(found.first), why: found.first.why } }),
    pairs: found.pairs.map(shown),
    outputs: found.outputs.map(({ a, b, distance, problem }) => ({
      a,
      b,
      equal: distance?.equal ?? false,
      text: problem ?? (distance?.equal ? 'equal' : `apart by ${distance?.maxAbsolute.toPrecision(3)}`)
    })),
    unpaired: found.unpaired
  }
}
