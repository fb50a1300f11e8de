import type { Node } from '../../graph/graph.ts'
import type { Derivative } from './backward.ts'
import { CONVOLUTIONS } from './convolutions.ts'
import { ELEMENTWISE } from './elementwise.ts'
import { LAYOUT } from './layout.ts'
import { PRODUCTS } from './products.ts'
import { REDUCING } from './reductions.ts'

/** Operators of ai.onnx whose result is whole, or the same all around: no derivative comes through them. */
const WITHOUT_CHANGE = `ArgMax ArgMin And BitwiseAnd BitwiseNot BitwiseOr BitwiseXor BitShift Ceil ConstantOfShape Equal
  EyeLike Floor Greater GreaterOrEqual Hardmax IsInf IsNaN Less LessOrEqual NonZero Not Or RandomNormalLike
  RandomUniformLike Bernoulli Round Shape Sign Size Xor`

const RULES: ReadonlyMap<string, Derivative> = new Map([
  ...WITHOUT_CHANGE.split(/\s+/).map(type => [type, { kind: 'none' }] as const),
  ...[ELEMENTWISE, REDUCING, PRODUCTS, CONVOLUTIONS, LAYOUT].flatMap(table => Object.entries(table))
])

/** What is known of the derivative of a node of ai.onnx; undefined: nothing. */
export const derivativeOf = ({ domain, type }: Pick<Node, 'domain' | 'type'>): Derivative | undefined =>
  domain === 'ai.onnx' ? RULES.get(type) : undefined
