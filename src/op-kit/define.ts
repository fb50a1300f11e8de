import type { Dialect } from '../graph/graph.ts'
import type { Attending } from '../kernels/attention/multi-head.ts'
import type { Paced } from '../kernels/core/pace.ts'
import type { SumPoints } from '../kernels/core/point-sums.ts'
import type { IndexPolicy } from '../kernels/gather/indices.ts'
import type { Placement, Resampling } from '../kernels/image/resample.ts'
import type { Dim } from '../shapes/dim.ts'
import type { Elem, Fact, Movable, TensorFact } from '../shapes/fact.ts'
import type { DType, NumericArray } from '../tensor/dtype.ts'
import type { Grown } from '../tensor/room.ts'
import type { Tensor, Value } from '../tensor/tensor.ts'
import type { Expand } from './expand.ts'
import type { PackContext } from './pack-context.ts'
import type {
  AnySource,
  AttributeSource,
  BodySource,
  ConstantSource,
  DeriveSource,
  InputSource
} from './source-types.ts'

/**
 * What an operand may be: one tensor; a tensor that may be left out; any number of tensors (last operand only); and the
 * same three for operands that may be sequences or optionals too.
 */
export type OperandKind = 'tensor' | 'optional' | 'variadic' | 'any' | 'any-optional' | 'any-variadic'
export type Operands = Readonly<Record<string, OperandKind>>

type Select<K extends OperandKind, One, Any> = K extends 'tensor'
  ? One
  : K extends 'optional'
    ? One | undefined
    : K extends 'variadic'
      ? readonly One[]
      : K extends 'any'
        ? Any
        : K extends 'any-optional'
          ? Any | undefined
          : readonly Any[]

/** Operands as `shape` sees them: facts. */
export type FactsOf<O extends Operands> = { readonly [K in keyof O]: Select<O[K], TensorFact, Fact> }
/** Operands as `run` sees them: values; those of which elements are only moved may be partial. */
export type ValuesOf<O extends Operands, Moved extends keyof O = never> = {
  readonly [K in keyof O]: Select<O[K], K extends Moved ? Movable : Tensor, Value>
}

/** Marks a parameter that may come from an input and so may be unknown until the graph runs. */
export interface DataDependent<T> {
  readonly dataDependent: T
}

/** A data-dependent parameter while shapes are worked out: a number may be a symbol, the rest may be `'unknown'`. */
type Shaped<V> = V extends number
  ? Dim
  : V extends readonly number[]
    ? readonly Dim[] | 'unknown'
    : V extends undefined
      ? undefined
      : V | 'unknown'
export type ShapeParams<P> = { readonly [K in keyof P]: P[K] extends DataDependent<infer V> ? Shaped<V> : P[K] }
export type RunParams<P> = { readonly [K in keyof P]: P[K] extends DataDependent<infer V> ? V : P[K] }

/** A subgraph as an operator sees it: a function of facts, and of values. */
export interface Body {
  readonly inputCount: number
  readonly outputCount: number
  /** Bodies around this one: 0 for a body in the main graph. */
  readonly depth: number
  /** Facts of the outputs for facts of the inputs; an input left undefined keeps what the body declares of it. */
  infer(inputs: readonly (Fact | undefined)[]): readonly Fact[]
  /**
   * Outputs for inputs; delegate with `yield*`, so that a run can be interrupted. An input left undefined must not be
   * read. Each output counts as held memory until it is released, or the call ends.
   */
  run(inputs: readonly (Value | undefined)[]): Paced<Value[]>
  /** As {@link run}; the outputs where nothing has to pause. After it nobody reads inputs that are `passedOn`. */
  start(inputs: readonly (Value | undefined)[], passedOn?: readonly boolean[]): Value[] | Paced<Value[]>
  /** Gives up outputs of a `run` that are not needed any longer. */
  release(outputs: readonly Value[]): void
}

/** Variables of a session by id (ReadValue, Assign). */
export interface State {
  /** The value that the last run which ended well has written. */
  read(id: string): Value | undefined
  /** Sets the value for later runs; it takes effect when this run has ended well. */
  write(id: string, value: Value): void
}

/** What `shape` may ask about its call. */
export interface ShapeContext {
  readonly dialect: Dialect
  /** Version of the operator itself: 13 for Gather under ONNX opset 17, 8 for Gather under `opset15`. */
  readonly version: number
  /** Number of outputs that the node lists. */
  readonly outputCount: number
}

/** What `run` may ask and do. */
export interface KernelContext<Output = Tensor> extends ShapeContext {
  /** Whether the node lists this output and anybody reads it. */
  wanted(index: number): boolean
  /**
   * A zeroed tensor for output `index`, to be filled. `dims` are given by kernels whose output dims depend on data;
   * else they are those which `shape` gave. The type is the one that `shape` gave unless `type` is given.
   */
  output(index?: number, dims?: readonly number[], type?: DType): Output
  /** The same for kernels that write every element: it holds anything before. */
  rawOutput(index?: number, dims?: readonly number[], type?: DType): Output
  /**
   * All outputs, which have one type, one behind the other in one piece of memory that holds anything; undefined where
   * each lies by itself. They are those that {@link rawOutput} gives then.
   */
  outputsInOne?(): NumericArray | undefined
  /** The dims that `shape` gave for an output, where these are numbers and at hand. */
  dimsOf?(index: number): readonly number[] | undefined
  /**
   * Makes an output of the elements of `from` and more behind them along an axis, in memory with room for further ones:
   * that of `from`, where nothing has been added to it yet. The kernel writes what is added, and the rest where it is
   * not there.
   * @param rows of the output along the axis
   * @param isApart whether it must be memory of its own
   * @returns undefined where the output has to be an ordinary one
   */
  extend?(index: number, from: Tensor, axis: number, rows: number, isApart?: boolean): Grown | undefined
  /** Whether the data of a value that is given may be some of the elements of an input, where these lie. */
  readonly mayGiveParts?: boolean
  /** Makes an existing value an output; the data may be shared with an input. */
  give(index: number, value: Value | Output): void
  readonly state: State
  /** A generator of numbers in [0, 1); deterministic: by the node's seed where it is given, else by the session's. */
  random(seed?: number): () => number
  /** Threads that the kernel may use, the one that it runs in included. */
  readonly threads: number
  /** What `pack` made of constant operands; undefined where it made nothing, or memory does not suffice. */
  readonly packed: Packed | undefined
  /** Faster kernels of multi-head attention in place of the reference, which they may fall back to. */
  accelerateAttention?(reference: Attending): Attending
  /** A faster kernel of weighted sums in place of the reference, `sumPoints` in `kernels/core/point-sums.ts`. */
  readonly sumPoints?: SumPoints
}

/** Constants in the form that a kernel likes, by names of the kernel's own. */
export type Packed = Readonly<Record<string, Tensor>>

/** Operands of a call that are constants. */
export type ConstantsOf<O extends Operands> = { readonly [K in keyof O]?: Tensor }

type Plain<T> = T extends DataDependent<infer V> ? V : T
/** Where a parameter of type `T` may come from; an input only where the parameter is data-dependent. */
export type Source<T> =
  | AttributeSource<Plain<T>>
  | ConstantSource<Plain<T>>
  | DeriveSource<Plain<T>>
  | (T extends DataDependent<infer V> ? InputSource<V> : never)
  | (Body extends T ? BodySource : never)

/** How a file's node becomes a call: one version for each change of meaning. */
export interface OpVersion<O extends Operands, P> {
  /** Type in the file, where it is not the operator's name. */
  readonly type?: string
  /** ONNX domain; `ai.onnx` when left out. */
  readonly domain?: string
  /** First version of the operator that this entry describes (not the opset that uses it). */
  readonly since: number
  /** Input position of each operand; operands are at 0, 1, 2 … in their order when left out. */
  readonly in?: { readonly [K in keyof O]?: number }
  /** Optional operands that this version requires, as other versions of the operator do not. */
  readonly requires?: readonly (keyof O & string)[]
  /**
   * IR only (ONNX's are in its schemas): element types by operand or data-dependent parameter. Whatever is not listed
   * may have any type.
   */
  readonly types?: Readonly<Record<string, readonly DType[]>>
  /** Where each parameter comes from. */
  readonly bind: { readonly [K in keyof P]: Source<P[K]> }
}

/** Where a call looks rows of its table up. */
export interface RowLookup {
  /** Axis of the table along which the indices count. */
  readonly axis: number
  readonly policy: IndexPolicy
  /** One more row that is read; -1 or left out: none. */
  readonly row?: number
}

/**
 * Says that an operator reads nothing of an operand but the rows that indices name, so that a large table need not be
 * in memory: `run` may be given a table that holds only these rows, and int32 indices into it.
 */
export interface RowTable<O extends Operands, P> {
  readonly table: keyof O & string
  /**
   * Other operands that are read as the table is, such as scales of its rows: along the same axis they have as many
   * rows, or `run` is given all of them.
   */
  readonly beside?: readonly (keyof O & string)[]
  readonly indices: keyof O & string
  /** The parameter that names {@link RowLookup.row}; it comes from an input. */
  readonly row?: keyof P & string
  /**
   * Undefined where a row is more than its elements, such as its position.
   * @throws NodewiseError what `run` throws before it looks at the indices
   */
  at(table: readonly number[], params: RunParams<P>): RowLookup | undefined
}

/** Where elements are moved, outputs may be partial too. */
type ContextOf<Moved> = KernelContext<[Moved] extends [never] ? Tensor : Movable>

/** An operator: what it takes, how each dialect's nodes map to it, its shape rule and its kernel. */
export interface OpDefinition<O extends Operands, P, Moved extends keyof O & string = never> {
  readonly name: string
  readonly operands: O
  /** Carries the type of the parameters: `params<Params>()`. */
  readonly params?: ParameterTypes<P>
  readonly onnx?: readonly OpVersion<O, P>[]
  readonly openvino?: readonly OpVersion<O, P>[]
  /**
   * Facts of the results, in order. Decides: throws where no values could make the call valid.
   * Called with everything known when the graph runs, too.
   */
  shape(operands: FactsOf<O>, params: ShapeParams<P>, call: ShapeContext): readonly Fact[]
  /** Computes the results. Trusts what `shape` decided. A heavy kernel is a generator and yields about every 5 ms. */
  run(operands: ValuesOf<O, Moved>, params: RunParams<P>, call: ContextOf<Moved>): void | Paced
  /** Checks of values (an index in range) that the checker can do on constants; the kernel does the same on its own. */
  validate?(operands: FactsOf<O>, params: ShapeParams<P>, call: ShapeContext): void
  readonly rows?: RowTable<O, P>
  /** Operands whose elements are moved and never computed with; `run` then takes partial tensors too. */
  readonly moves?: readonly Moved[]
  /** Whether elements are only moved with these parameters; always when left out. */
  movesWith?(params: ShapeParams<P>): boolean
  /** Result 0 element by element on possibly symbolic elements, operands broadcast; undefined: not known. */
  elem?(elements: readonly Elem[], params: ShapeParams<P>): Elem | undefined
  /** Value of result 0 computed by other means than its elements (Shape): called while shapes are worked out. */
  value?(operands: FactsOf<O>, params: ShapeParams<P>, call: ShapeContext): readonly Elem[] | undefined
  /**
   * Puts constant operands into a form that `run` likes, such as weights in panels; `run` finds it in `call.packed`, or
   * nothing there, and serves both. Called once a session, when the call first runs, if an operand is constant and no
   * parameter depends on what a run is given. The session keeps the result and counts it against `maxMemory`; a
   * constant that was read here is then read from its file again only if `run` asks for its elements.
   */
  pack?(
    constants: ConstantsOf<O>,
    params: RunParams<P>,
    context: PackContext
  ): Packed | undefined | Paced<Packed | undefined>
  /**
   * How the operand `x`, or `data`, is resampled to result 0, for kernels other than the operator's own; undefined
   * where more is done than that.
   */
  resampling?(
    from: readonly number[],
    to: readonly number[],
    params: RunParams<P>
  ): Paced<Resampling | Placement | undefined>
  /**
   * Operands over whose elements the kernel may write result 0: it asks for result 0 with `rawOutput`, and reads each
   * element before it writes the one at the same position. The result then takes the memory of an operand of the same
   * type and dims that nobody reads any more.
   */
  readonly inPlace?: readonly (keyof O & string)[]
  /**
   * By result the operand, a cache, that it extends: where both have the same dims the caller may ask for the result in
   * the memory of the operand. The kernel then writes no element that it has not read, or that would stay.
   */
  readonly grows?: Readonly<Record<number, keyof O & string>>
  /** Random or stateful: never folded, never left out. */
  readonly impure?: 'random' | 'state'
  /** Tensors of the variadic operand may differ in type (a heterogeneous port of the schema); `shape` checks them. */
  readonly mixesTypes?: boolean
  /** Output dims are only known to the kernel (control flow): `shape` is not called when the graph runs. */
  readonly dynamic?: boolean
  /** ONNX: the nodes that a node stands for, which take its place before it is bound. */
  readonly expand?: Expand
}

/** Parameters by name, their types erased. */
export type Parameters = Readonly<Record<string, unknown>>
/** Operands by name, their kinds erased. */
type ByOperand<T> = Readonly<Record<string, T | undefined | readonly T[]>>
export type FactOperands = ByOperand<Fact>
export type ValueOperands = ByOperand<Value>
/** What an operator's own kernel takes: elements that it moves may be symbols. */
export type MovableOperands = ByOperand<Value | Movable>

/** Any operator version, its types erased. */
export interface AnyOpVersion extends Omit<OpVersion<Operands, Parameters>, 'bind'> {
  readonly bind: Readonly<Record<string, AnySource>>
}

/** Any operator, its types erased: they hold once a call is bound and checked. See {@link OpDefinition}. */
export interface Op {
  readonly name: string
  readonly operands: Operands
  readonly onnx?: readonly AnyOpVersion[]
  readonly openvino?: readonly AnyOpVersion[]
  /** As {@link OpDefinition.shape}. */
  shape(operands: FactOperands, params: Parameters, call: ShapeContext): readonly Fact[]
  /** As {@link OpDefinition.run}. */
  run(operands: MovableOperands, params: Parameters, context: KernelContext<Movable>): void | Paced
  /** As {@link OpDefinition.validate}. */
  validate?(operands: FactOperands, params: Parameters, call: ShapeContext): void
  readonly rows?: RowTable<Operands, Parameters>
  readonly moves?: readonly string[]
  /** As {@link OpDefinition.movesWith}. */
  movesWith?(params: Parameters): boolean
  /** As {@link OpDefinition.elem}. */
  elem?(elements: readonly Elem[], params: Parameters): Elem | undefined
  /** As {@link OpDefinition.value}. */
  value?(operands: FactOperands, params: Parameters, call: ShapeContext): readonly Elem[] | undefined
  readonly pack?: Pack
  /** As {@link OpDefinition.resampling}. */
  resampling?(
    from: readonly number[],
    to: readonly number[],
    params: Parameters
  ): Paced<Resampling | Placement | undefined>
  readonly inPlace?: readonly string[]
  /** As {@link OpDefinition.grows}. */
  readonly grows?: Readonly<Record<number, string>>
  readonly impure?: 'random' | 'state'
  readonly mixesTypes?: boolean
  readonly dynamic?: boolean
  readonly expand?: Expand
}

/** {@link OpDefinition.pack}, its types erased. */
export type Pack = (
  constants: Readonly<Record<string, Tensor>>,
  params: Parameters,
  context: PackContext
) => Packed | undefined | Paced<Packed | undefined>

/** Computes the outputs of a call as the operator's own `run` does, which it replaces. */
export type Kernel = (operands: ValueOperands, params: Parameters, context: KernelContext) => void | Paced

/** What a call works out before its kernel runs. */
export interface Preparation {
  readonly parameters: Parameters
  /** Facts of the outputs; empty where only the kernel knows them ({@link OpDefinition.dynamic}). */
  readonly outputs: readonly Fact[]
}

/** Which kernel runs for a preparation. */
export interface Selection {
  /** Runs instead of the operator's own kernel; undefined: the operator's own runs. It must not hold operands. */
  readonly kernel: Kernel | undefined
  /** Packs constants for {@link kernel}, as {@link OpDefinition.pack} does for the operator's own. */
  readonly pack?: Pack
  /** Where the kernel only runs jobs, which types and dims decide: operands that do, too, such as `y` and `list 2`. */
  readonly looksAt?: readonly string[]
  /** Whether the kernel writes an output that does not lie on the heap part by part, each while it is in the cache. */
  readonly isByParts?: boolean
  /**
   * Whether the selection also serves other operands of the same types and dims. Needed only where placement (whether
   * operands lie on the heap) decided; called before every run, so it must be cheap.
   */
  holds?(operands: ValueOperands): boolean
}

/**
 * Picks an accelerated kernel for a call that is about to run. Asked once for a preparation, not in every run that
 * reuses it.
 * @returns undefined: the operator's own kernel runs, wherever the operands lie
 */
export type SelectKernel = (op: Op, operands: ValueOperands, prepared: Preparation) => Selection | undefined

/** The types of an operator's parameters; carries no value. */
export interface ParameterTypes<P> {
  readonly types: readonly P[]
}

/** Gives an operator's parameters their types: `params<{ axis: number }>()`. */
export const params = <P>(): ParameterTypes<P> => ({ types: [] })

const builtIn = new WeakSet<Op>()

/** Whether an operator is one of this package, so that kernels written for it may run instead of its own. */
export const isBuiltIn = (op: Op): boolean => builtIn.has(op)

/** An operator of this package; see {@link OpDefinition}. */
export function defineOp<const O extends Operands, P = Record<never, never>, Moved extends keyof O & string = never>(
  op: OpDefinition<O, P, Moved>
): Op {
  const erased = defineOwnOp(op)
  builtIn.add(erased)
  return erased
}

/** An operator of the caller's own; see {@link OpDefinition}. */
export function defineOwnOp<const O extends Operands, P = Record<never, never>, Moved extends keyof O & string = never>(
  op: OpDefinition<O, P, Moved>
): Op {
  return op as Op
}
