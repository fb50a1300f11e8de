import { fail } from '../errors.ts'
import type { Constant, Dialect, Graph, Node, PortMapEntry } from '../graph/graph.ts'
import type { Dim } from '../shapes/dim.ts'
import type { Fact } from '../shapes/fact.ts'
import type { DType } from '../tensor/dtype.ts'
import type { Op, Parameters } from './define.ts'
import type { Written } from './source-types.ts'

/** A value of the model that is being made. */
export interface Made {
  readonly id: string
  readonly fact: Fact
}

/** Attributes of a new node, by name; a body is what {@link Writer.body} gives. */
export type NewAttributes = Readonly<Record<string, Written | NewBody | undefined>>

/** A body of a new node. */
export interface NewBody {
  readonly graph: Graph
  /** IR: values of the graph around that the body reads, each with the index of its Parameter. */
  readonly imports: readonly { readonly outer: Made; readonly parameter: number }[]
}

/** How a body is connected: made by the rule, around the converted nodes. */
export interface BodyPlan {
  /** The values that take the place of the body's inputs, by position; undefined: nobody reads it. */
  inputs(inner: Writer): readonly (Made | undefined)[]
  /** The outputs of the new body, from the values of the old outputs. */
  outputs(results: readonly Made[], inner: Writer): readonly Made[]
}

/** What a new node may say besides its type, inputs and attributes. */
export interface NewNode {
  /** Number of outputs; one where it is left out. */
  readonly outputs?: number
  /** Version of the operator in IR (8 for Gather-8); the newest where it is left out. ONNX: the model's opset. */
  readonly since?: number
  readonly domain?: string
  /** ONNX: attributes that hold their defaults are written too, since a checker takes another default. */
  readonly isExplicit?: true
  readonly portMaps?: ReadonlyMap<string, readonly PortMapEntry[]>
  readonly backEdges?: readonly { readonly fromResult: number; readonly toParameter: number }[]
}

/** Adds nodes to a graph of the other dialect. Each node is bound and inferred at once, so that facts are at hand. */
export interface Writer {
  readonly dialect: Dialect
  /** ONNX: the opset that the model imports. */
  readonly opset: number
  /**
   * Adds a node and returns its first output.
   * @throws NodewiseError what binding and inference find wrong with it
   */
  node(type: string, inputs: readonly (Made | undefined)[], attributes?: NewAttributes, how?: NewNode): Made
  /** The same for nodes with several outputs. */
  nodes(type: string, inputs: readonly (Made | undefined)[], attributes?: NewAttributes, how?: NewNode): readonly Made[]
  /** Adds a node of an operator of both dialects, by the newest of its versions that takes these parameters. */
  op(
    op: Op,
    operands: Readonly<Record<string, Made | readonly Made[] | undefined>>,
    params: Parameters,
    outputs?: number
  ): readonly Made[]
  /**
   * Says a node of ONNX in the dialect that is written, as a conversion of a model would: for what operators of one
   * runtime stand for.
   * @throws NodewiseError `unsupported-op` where the dialect cannot say it
   */
  standard(
    type: string,
    inputs: readonly (Made | undefined)[],
    attributes?: NewAttributes,
    outputs?: number
  ): readonly Made[]
  /** A constant; equal small ones are one. Dims: those of a list. */
  constant(type: DType, data: readonly (number | bigint | boolean | string)[], dims?: readonly number[]): Made
  /** A constant whose elements stay where they are. */
  keep(constant: Constant): Made
  /** A constant scalar. */
  scalar(type: DType, value: number | bigint | boolean | string): Made
  /** The value in another type: itself where it has that type. */
  cast(value: Made, type: DType): Made
  /** The same elements under other dims: -1 is what is left, 0 the dim at the same position. */
  reshape(value: Made, dims: readonly number[]): Made
  /** A graph input of a body. */
  input(fact: Fact, name?: string): Made
  /** The constant that a value is known to be before the model runs, where it is. */
  constantOf(value: Made): Constant | undefined
  /**
   * ONNX: a value that goes from one run to the next: an input of the model, whose default is the first value. One
   * input for each name.
   */
  carried(name: string, fact: Fact, first: Constant): Made
  /** ONNX: the value that a carried one has in the next run: an output of the model. */
  carriesOn(name: string, value: Made): void
  /** Converts the body of a parameter. */
  body(name: string, plan: BodyPlan): NewBody
  /** A body that a rule makes itself; what it reads from around it needs no port in ONNX. */
  block(name: string, build: (inner: Writer) => readonly Made[]): NewBody
}

/** A call of the source model, with its operands as values of the new one. */
export interface SourceCall {
  readonly op: Op
  readonly node: Node
  readonly dialect: Dialect
  /** Version of the operator itself. */
  readonly version: number
  readonly outputCount: number
  /** Facts of the outputs. */
  readonly results: readonly Fact[]
  /** Whether anybody may read an output: the node lists it. */
  wanted(index: number): boolean
  /** Whether an operand is given. */
  has(operand: string): boolean
  /** An operand that is given. */
  operand(name: string): Made
  /** An operand, or undefined where it is left out. */
  optional(name: string): Made | undefined
  /** A variadic operand. */
  all(name: string): readonly Made[]
  /** Whether a parameter is known before the model runs. */
  knows(parameter: string): boolean
  /**
   * A parameter that is known before the model runs.
   * @throws NodewiseError `unsupported-op` where it is not
   */
  param<T>(name: string): T
  /** All parameters that are known, and as values those that an input gives: for {@link Writer.op}. */
  readonly parameters: Parameters
  /** An attribute of the node as the file writes it, or its default, as text. */
  attribute(name: string): string | undefined
  /** The input that gives a parameter, where an input gives it. */
  source(parameter: string): Made | undefined
  /** The body of a parameter, as the source has it. */
  body(parameter: string): Graph
}

/** How calls of an operator are said in a dialect that has no operator version for them. */
export interface Conversion {
  readonly op: Op
  readonly to: Dialect
  /** Whether the rule is asked before the operator's own versions are tried. */
  readonly isFirst: boolean
  /** Whether the rule also serves calls of the dialect itself, which are said in another operator set. */
  readonly isWithin: boolean
  /** The new values of the call's outputs; undefined: the rule does not serve this call. */
  convert(call: SourceCall, w: Writer): readonly (Made | undefined)[] | undefined
}

/** Differences of parameters that change nothing for calls that do not fail. */
export interface Leniency {
  readonly op: Op
  readonly parameter: string
  /** Whether a node with the parameter `to` may stand for one with the parameter `from`. */
  allows(from: unknown, to: unknown, call: SourceCall): boolean
}

/** What families know of saying their operators in the other dialect. */
export interface Conversions {
  readonly rules: readonly Conversion[]
  readonly leniencies: readonly Leniency[]
}

type Convert = Conversion['convert']

const ruleTo =
  (to: Dialect) =>
  (op: Op, convert: Convert): Conversion => ({ op, to, isFirst: false, isWithin: false, convert })

/** A rule for ONNX models, asked where the operator has no ONNX version that takes the call. */
export const toOnnx = /* @__PURE__ */ ruleTo('onnx')
/** A rule for IR, asked where the operator has no version in IR that takes the call. */
export const toOpenvino = /* @__PURE__ */ ruleTo('openvino')
/** The same rule, asked before the operator's own versions. */
export const first = (rule: Conversion): Conversion => ({ ...rule, isFirst: true })
/** The same rule, which also serves calls of its own dialect: it asks parameters and operands alone, no attributes. */
export const within = (rule: Conversion): Conversion => ({ ...rule, isWithin: true })

/**
 * A rule whose nodes both dialects have: for IR, and for ONNX without the operators of one runtime. A `Writer` of
 * either dialect is given.
 */
export const expands = (op: Op, convert: Convert): readonly Conversion[] => [
  toOpenvino(op, convert),
  within(toOnnx(op, convert))
]

/** Names why no node of a dialect says an operator, which tells people more than that there is no such operator. */
export const refuses = (op: Op, to: Dialect, reason: string): Conversion =>
  ruleTo(to)(op, () => fail('unsupported-op', reason))

/** The operator of this name in a list. @throws NodewiseError `internal` */
export const opNamed = (ops: readonly Op[], name: string): Op =>
  ops.find(op => op.name === name) ?? fail('internal', `there is no operator ${name}`)

/** The type of a tensor. @throws NodewiseError `unsupported-op` where it is not known */
export function typeOf({ fact }: Made): DType {
  if (fact.kind === 'tensor' && fact.type !== undefined) return fact.type
  return fail('unsupported-op', fact.kind === 'tensor' ? 'the type of an input is not known' : `it is a ${fact.kind}`)
}

/** The dims of a tensor. @throws NodewiseError `unsupported-op` where the rank is not known */
export function dimsOf({ fact }: Made): readonly Dim[] {
  if (fact.kind === 'tensor' && fact.shape !== undefined) return fact.shape
  return fail('unsupported-op', 'the rank of an input is not known before the model runs')
}

/** The rank of a tensor. @throws NodewiseError `unsupported-op` where it is not known */
export const rankOf = (value: Made): number => dimsOf(value).length

/**
 * Sizes that a rule has to know.
 * @param what they are, in messages
 * @throws NodewiseError `unsupported-op` where one is known only while the model runs
 */
export const knownSizes = (what: string, ...sizes: readonly unknown[]): readonly number[] =>
  sizes.every(size => typeof size === 'number')
    ? sizes
    : fail('unsupported-op', `${what} must be known before the model runs`)
