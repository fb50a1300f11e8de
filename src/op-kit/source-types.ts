import type { Attribute, Constant, Node } from '../graph/graph.ts'
import type { DType } from '../tensor/dtype.ts'

/** What an attribute holds, whatever the dialect writes for it. */
export type Written =
  | number
  | bigint
  | boolean
  | string
  | { readonly dtype: DType }
  | Constant
  | readonly (number | bigint)[]
  | readonly string[]

/** Reads an attribute; its default comes from the reference tables, then from `fallback`. */
export interface AttributeSource<T> {
  readonly kind: 'attribute'
  readonly name: string
  /** For attributes that no table knows or gives a default. */
  readonly fallback?: { readonly value: T }
  /** @throws NodewiseError `unknown-attribute-value` */
  read(attribute: Attribute): T
  /** The inverse of `read`: what a file holds for a value; undefined where the attribute is left out for it. */
  write?(value: T): Written | undefined
  /** All that a file may hold, where that is little: the inverse is then found by reading each. */
  readonly choices?: readonly Written[]
}

/** Reads an input's value: a parameter that is known early only when the input is constant. */
export interface InputSource<T> {
  readonly kind: 'input'
  readonly index: number
  readonly form: 'int' | 'ints' | 'float' | 'floats' | 'flag' | 'text'
  /** Whether a list may be written as a matrix of one row, too. */
  readonly asRow?: true
  /** A single number that files hold as a list of one. */
  readonly isListed?: true
  /** Value when the input is left out; without it the input is required. */
  readonly fallback?: { readonly value: T }
}

/** A parameter that an operator version fixes. */
export interface ConstantSource<T> {
  readonly kind: 'constant'
  readonly value: T
}

/** Worked out from the node as a whole. */
export interface DeriveSource<T> {
  readonly kind: 'derive'
  /** The parameter's value for a node. */
  read(node: NodeFacts): T
  /** The attributes, by name, of which `read` makes a value; undefined where no attributes give it. */
  write?(value: T): Readonly<Record<string, Written>> | undefined
}

/** A subgraph, from the attribute that holds it; undefined where an optional one is left out. */
export interface BodySource {
  readonly kind: 'body'
  readonly attribute: string
  readonly optional?: boolean
}

/** What a derived parameter may look at. */
export interface NodeFacts {
  readonly version: number
  readonly inputCount: number
  readonly outputCount: number
  /** Whether the input at this position is connected. */
  hasInput(index: number): boolean
  /** The attribute read by a source, with its default; undefined when absent without one. */
  get<T>(source: AttributeSource<T>): T | undefined
  /** An attribute that itself needs reading: port maps and such. */
  readonly node: Node
}

/** Any source, its type erased. */
export type AnySource =
  | AttributeSource<unknown>
  | InputSource<unknown>
  | ConstantSource<unknown>
  | DeriveSource<unknown>
  | BodySource
