import { type GateFunction, gateFunctions } from './recurrent-functions.ts'
import {
  type AttributeSource,
  choice,
  type ConstantSource,
  derive,
  float,
  floats,
  int,
  is,
  mapped,
  type Source,
  texts
} from './sources.ts'
import { FLOATS, INTEGERS } from './types.ts'

/** Operands of the recurrent operators; each operator has some of them. */
export interface RecurrentOperands<T> {
  readonly x: T
  readonly w: T
  readonly r: T
  readonly b: T | undefined
  readonly lengths?: T | undefined
  readonly h: T | undefined
  readonly c?: T | undefined
  readonly p?: T | undefined
}

/**
 * Axes of operands and results, a letter each: S time steps, B batch, D directions, I input size, H hidden size, G
 * outputs of all gates, N biases, P peephole weights.
 */
export interface Layout {
  readonly x: string
  /** Axes of the initial and final states. */
  readonly state: string
  /** Axes of the hidden states of all time steps; cells do not have this result. */
  readonly y?: string
  readonly w: string
  readonly r: string
  readonly b: string
  readonly p: string
}

const WEIGHTS = { w: 'DGI', r: 'DGH', b: 'DN', p: 'DP' }
/** Axes of ONNX without `layout`. */
export const STEPS_FIRST: Layout = { x: 'SBI', state: 'DBH', y: 'SDBH', ...WEIGHTS }
const BATCH_FIRST: Layout = { x: 'BSI', state: 'BDH', y: 'BSDH', ...WEIGHTS }
/** Axes of sequences in IR. */
export const IR_SEQUENCE: Layout = { x: 'BSI', state: 'BDH', y: 'BDSH', ...WEIGHTS }
export const IR_CELL: Layout = { x: 'BI', state: 'BH', w: 'GI', r: 'GH', b: 'N', p: 'P' }

/** Parameters of every recurrent operator. */
export interface RecurrentParams {
  layout: Layout
  /** For each direction whether it begins with the last time step. */
  directions: readonly boolean[]
  /** 0 where the node does not give it. */
  hiddenSize: number
  /** Activation functions of each direction. */
  functions: readonly (readonly GateFunction[])[]
  /** Bound of what the activation functions of gates are given; Infinity where there is none. */
  clip: number
  /** Biases of the input and of the recurrence one after the other, or their sums. */
  biases: 'apart' | 'summed'
}

const DIRECTIONS = { forward: [false], reverse: [true], bidirectional: [false, true] } as const

type Bind = { readonly [K in keyof RecurrentParams]: Source<RecurrentParams[K]> }

const clip: AttributeSource<number> = mapped(float('clip', 0), bound => (bound > 0 ? bound : Infinity))
const lower = (names: readonly string[]): string[] => names.map(name => name.toLowerCase())

/** Parameters of ONNX. `layout` came with version 14; `direction` of GRU-1 has a misspelt default. */
export const onnxBind = (otherwise: readonly string[]): Bind => {
  const direction = choice('direction', { ...DIRECTIONS, foward: DIRECTIONS.forward })
  return {
    layout: mapped(int('layout', 0), layout => (layout === 0 ? STEPS_FIRST : BATCH_FIRST)),
    directions: direction,
    hiddenSize: int('hidden_size', 0),
    functions: derive(node =>
      gateFunctions({
        names: lower(node.get(texts('activations')) ?? []),
        otherwise,
        directions: node.get(direction)?.length ?? 1,
        alphas: node.get(floats('activation_alpha')),
        betas: node.get(floats('activation_beta'))
      })
    ),
    clip,
    biases: is('apart')
  }
}

const irBind = (
  layout: Layout,
  directions: ConstantSource<readonly boolean[]> | AttributeSource<readonly boolean[]>,
  otherwise: readonly string[]
): Bind => ({
  layout: is(layout),
  directions,
  hiddenSize: int('hidden_size', 0),
  functions: derive(node =>
    gateFunctions({
      names: lower(node.get(texts('activations')) ?? []),
      otherwise,
      directions: (directions.kind === 'constant' ? directions.value : node.get(directions))?.length ?? 1,
      allowed: ['relu', 'sigmoid', 'tanh']
    })
  ),
  clip,
  biases: is('summed')
})

/** Parameters of IR's sequences. */
export const irSequenceBind = (otherwise: readonly string[]): Bind =>
  irBind(IR_SEQUENCE, choice('direction', DIRECTIONS), otherwise)

/** Parameters of IR's cells. */
export const irCellBind = (otherwise: readonly string[]): Bind => irBind(IR_CELL, is(DIRECTIONS.forward), otherwise)

/** Types that IR's operators take. */
export const IR_TYPES = { x: FLOATS, w: FLOATS, r: FLOATS, b: FLOATS, h: FLOATS, c: FLOATS, lengths: INTEGERS }
