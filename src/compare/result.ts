import type { Node } from '../graph/graph.ts'
import { type DType, DTYPES } from '../tensor/dtype.ts'
import { toDoubles } from '../tensor/elements.ts'
import { type Statistics, statisticsOf } from '../tensor/statistics.ts'
import type { Tensor } from '../tensor/tensor.ts'
import type { Distance } from './measure.ts'
import type { MadeValue } from './side.ts'

/** A value on one side, and the node that makes it. Of a recorded value only the name is known. */
export interface ComparedValue {
  /** Name of the node; empty where it has none, and for a recorded value. */
  readonly node: string
  readonly nodeIndex?: number
  readonly layer?: string
  /** Operator of the node; empty for a recorded value. */
  readonly type: string
  readonly value: string
  readonly graphPath?: string
}

/** What is in a value; of texts and complex numbers only type and dims. */
export interface ValueStatistics extends Statistics {
  readonly type: DType
  readonly dims: readonly number[]
}

/** Two values that are the same in both models, and how far they are apart. */
export interface ComparedPair {
  readonly a: ComparedValue
  readonly b: ComparedValue
  readonly distance: Distance
  /** Of values in bodies: the how manieth value it is that the body made in this run, from 0. */
  readonly iteration?: number
}

/** The first pair whose values differ. */
export interface FirstDifference extends ComparedPair {
  /** What the files say otherwise of the two nodes: parameters, constants. */
  readonly why: readonly string[]
  readonly statistics: { readonly a: ValueStatistics; readonly b: ValueStatistics }
}

/** An output of both models. */
export interface ComparedOutput {
  readonly a: string
  readonly b: string
  readonly distance?: Distance
  /** Why there is no distance. */
  readonly problem?: string
}

/** What a comparison found. */
export interface Comparison {
  readonly equal: boolean
  /** The earliest pair, in the order in which `a` runs, whose values differ; what feeds it agrees. */
  readonly first: FirstDifference | undefined
  /** Every pair that was compared, in the order in which `a` runs. */
  readonly pairs: readonly ComparedPair[]
  readonly outputs: readonly ComparedOutput[]
  /** Values that nodes make and that have no counterpart. */
  readonly unpaired: { readonly a: number; readonly b: number }
  /**
   * Where it was asked for: the values of `b`, each computed from the values of `a`, the one that is furthest from its
   * counterpart first.
   */
  readonly isolated?: readonly ComparedPair[]
}

/** How a value of a model is told to a caller. */
export const describe = ({ node, name, graphPath }: MadeValue): ComparedValue => ({
  ...nodeOf(node),
  value: name,
  ...(graphPath !== '' && { graphPath })
})

const nodeOf = ({ name, layer, index, type }: Node): Omit<ComparedValue, 'value'> => ({
  node: name,
  ...(layer === undefined ? { nodeIndex: index } : { layer }),
  type
})

/** What is in a value, in a few numbers. */
export function statisticsOfValue(tensor: Tensor): ValueStatistics {
  const { type, dims } = tensor
  return { type, dims, ...(isNumeric(type) ? statisticsOf(toDoubles(tensor)) : { nans: 0 }) }
}

export const isNumeric = (type: DType): boolean => DTYPES[type].kind !== 'string' && DTYPES[type].kind !== 'complex'
