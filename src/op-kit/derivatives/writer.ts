import type { Attribute, Node, ValueId } from '../../graph/graph.ts'
import { Tensor } from '../../tensor/tensor.ts'

/** The opset of ai.onnx in which nodes are written, whatever the model's own is. */
const OPSET = '18'

/** A value, or a number of the type of the value beside it. */
export type Term = ValueId | number

export const int = (value: number): Attribute => ({ kind: 'int', value: BigInt(value) })
export const ints = (values: readonly number[]): Attribute => ({ kind: 'ints', value: values.map(BigInt) })
export const text = (value: string): Attribute => ({ kind: 'string', value })

/** A number as a tensor. */
function double(value: number): Attribute {
  const tensor = new Tensor('float64', [value], [])
  return { kind: 'tensor', value: { type: 'float64', dims: [], byteLength: 8, place: {}, read: () => tensor } }
}

type Attributes = Readonly<Record<string, Attribute>>

/** Element types as ONNX numbers them. */
const FLOAT64 = 11
const INT64 = 7

/** Writes nodes of ai.onnx, none of which needs to know a rank: each method adds some and returns what they make. */
export class Writer {
  readonly nodes: Node[] = []
  private readonly origin: Node
  private readonly path: string
  /** The place of what is written, but for its type: a node of a file works its own out each time it is asked. */
  private readonly place: Node['place']
  private readonly count: () => void
  private made = 0
  /** Values that depend on nothing else, by how they are made, so that each is written once. */
  private readonly known = new Map<string, ValueId>()

  /**
   * @param origin the node that the nodes stand for
   * @param count is called for each node
   */
  constructor(origin: Node, count: () => void) {
    this.origin = origin
    this.count = count
    const { place } = origin
    this.path = `${place.graphPath === undefined ? '' : `${place.graphPath}/`}${origin.index}:${origin.type}`
    this.place = { ...place, graphPath: this.path }
  }

  /** A name that no other value has. */
  fresh(): ValueId {
    return `${this.path}/${this.made++}`
  }

  /** Adds a node as it is. */
  push(node: Node): void {
    this.count()
    this.nodes.push(node)
  }

  /** Adds a node, and returns its outputs. */
  outputsOf(type: string, inputs: readonly (ValueId | undefined)[], attributes: Attributes, count: number): ValueId[] {
    const { origin, place } = this
    const outputs = Array.from({ length: count }, () => this.fresh())
    this.push({
      dialect: 'onnx',
      domain: 'ai.onnx',
      type,
      version: OPSET,
      overload: '',
      name: '',
      index: origin.index,
      inputs,
      outputs,
      attributes: new Map(Object.entries(attributes)),
      captures: [],
      place: { ...place, type }
    })
    return outputs
  }

  /** Adds a node with one output, and returns it. */
  call(type: string, inputs: readonly (ValueId | undefined)[], attributes: Attributes = {}): ValueId {
    return this.outputsOf(type, inputs, attributes, 1)[0]
  }

  /** The node once more, with other inputs or more outputs; returns its outputs. */
  again(node: Node, change: Partial<Pick<Node, 'inputs' | 'version' | 'attributes'>>, count: number): ValueId[] {
    const outputs = Array.from({ length: count }, () => this.fresh())
    // A node of a file works its place out when it is asked.
    this.push({ ...node, place: node.place, ...change, outputs })
    return outputs
  }

  private once(key: string, make: () => ValueId): ValueId {
    const made = this.known.get(key) ?? make()
    this.known.set(key, made)
    return made
  }

  /** A list of int64. */
  list(...values: readonly number[]): ValueId {
    return this.once(`ints ${values.join()}`, () => this.call('Constant', [], { value_ints: ints(values) }))
  }

  /** A number in the type of a value. */
  like(value: number, x: ValueId): ValueId {
    return this.once(`${value} ${x}`, () => {
      const single = this.once(`number ${value}`, () => this.call('Constant', [], { value: double(value) }))
      return this.call('CastLike', [single, x])
    })
  }

  shape(x: ValueId): ValueId {
    return this.once(`shape ${x}`, () => this.call('Shape', [x]))
  }

  /** The rank, as a list of one. */
  rank(x: ValueId): ValueId {
    return this.once(`rank ${x}`, () => this.call('Shape', [this.shape(x)]))
  }

  /** The number of elements of `x` by that of `y`, in the type of `x`. */
  elementsBy(x: ValueId, y: ValueId): ValueId {
    const [a, b] = [x, y].map(each => this.call('Cast', [this.call('Size', [each])], { to: int(FLOAT64) }))
    return this.call('CastLike', [this.call('Div', [a, b]), x])
  }

  int64(x: ValueId): ValueId {
    return this.call('Cast', [x], { to: int(INT64) })
  }

  float64(x: ValueId): ValueId {
    return this.call('Cast', [x], { to: int(FLOAT64) })
  }

  private binary(type: string, a: Term, b: Term): ValueId {
    if (typeof a === 'number') return this.call(type, [this.like(a, b as ValueId), b as ValueId])
    return this.call(type, [a, typeof b === 'number' ? this.like(b, a) : b])
  }

  add = (a: Term, b: Term): ValueId => this.binary('Add', a, b)
  sub = (a: Term, b: Term): ValueId => this.binary('Sub', a, b)
  mul = (a: Term, b: Term): ValueId => this.binary('Mul', a, b)
  div = (a: Term, b: Term): ValueId => this.binary('Div', a, b)
  pow = (a: Term, b: Term): ValueId => this.binary('Pow', a, b)
  equal = (a: Term, b: Term): ValueId => this.binary('Equal', a, b)
  less = (a: Term, b: Term): ValueId => this.binary('Less', a, b)
  greater = (a: Term, b: Term): ValueId => this.binary('Greater', a, b)
  neg = (x: ValueId): ValueId => this.call('Neg', [x])
  square = (x: ValueId): ValueId => this.mul(x, x)

  /** The product of several terms. */
  product(first: ValueId, ...others: readonly Term[]): ValueId {
    return others.reduce<ValueId>((product, term) => this.mul(product, term), first)
  }

  /** One of two, the numbers in the type of `like`. */
  where(condition: ValueId, a: Term, b: Term, like: ValueId): ValueId {
    const [yes, no] = [a, b].map(term => (typeof term === 'number' ? this.like(term, like) : term))
    return this.call('Where', [condition, yes, no])
  }

  /** `x` with the dims of another value that has as many elements. */
  reshapeLike(x: ValueId, other: ValueId): ValueId {
    return this.reshape(x, this.shape(other))
  }

  /** `x` with these dims, in which 0 is a size. */
  reshape(x: ValueId, shape: ValueId): ValueId {
    return this.call('Reshape', [x, shape], { allowzero: int(1) })
  }

  /** `x` repeated to the dims of another value. */
  expandLike(x: ValueId, other: ValueId): ValueId {
    return this.call('Expand', [x, this.shape(other)])
  }

  filled(value: number, like: ValueId): ValueId {
    return this.once(`filled ${value} ${like}`, () => this.expandLike(this.like(value, like), like))
  }

  join(...lists: readonly ValueId[]): ValueId {
    return this.call('Concat', lists, { axis: int(0) })
  }

  /** A list of so many ones, which a list of one says. */
  ones(count: ValueId): ValueId {
    return this.call('Expand', [this.list(1), count])
  }

  einsum(equation: string, ...inputs: readonly ValueId[]): ValueId {
    return this.call('Einsum', inputs, { equation: text(equation) })
  }

  /** A part of a list. */
  part(list: ValueId, from: ValueId, to: ValueId): ValueId {
    return this.call('Slice', [list, from, to])
  }

  /** The sum over axes, all where none are given, which stay with size 1. */
  sum(x: ValueId, axes?: ValueId): ValueId {
    return this.call('ReduceSum', axes === undefined ? [x] : [x, axes], { keepdims: int(1) })
  }

  mean(x: ValueId, axes: ValueId): ValueId {
    return this.call('ReduceMean', [x, axes], { keepdims: int(1) })
  }

  /**
   * The transpose of a broadcast: sums `x` over the axes along which a value of the dims of `to` is repeated in it.
   * Where dims are known before the run, so are these axes.
   */
  sumTo(x: ValueId, to: ValueId): ValueId {
    if (x === to) return x
    const missing = this.call('Sub', [this.rank(x), this.rank(to)])
    const aligned = this.join(this.ones(missing), this.shape(to))
    const isRepeated = this.call('Not', [this.equal(this.shape(x), aligned)])
    const axes = this.call('Reshape', [this.call('NonZero', [isRepeated]), this.list(-1)])
    const sum = this.call('ReduceSum', [x, axes], { keepdims: int(1), noop_with_empty_axes: int(1) })
    return this.reshapeLike(sum, to)
  }
}
