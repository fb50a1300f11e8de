import { type BoundGraph, type Call, isCall } from '../bind/call.ts'
import type { Constant, ValueId } from '../graph/graph.ts'
import { toDoubles } from '../tensor/elements.ts'
import { product, type Tensor } from '../tensor/tensor.ts'
import { tensorOf } from './derive.ts'
import type { PlanGraph } from './graph.ts'
import { isNamed, numbersBy } from './patterns.ts'

/** Elements of a parameter that are read: a list of axes has no more. */
const MAX_ELEMENTS = 64

/** The calls of a body by what they make, and of the bodies around it, for passes that replace a loop. */
export class BodyCalls {
  readonly body: BoundGraph
  private readonly graph: PlanGraph
  private readonly outer: BodyCalls | undefined
  private readonly makers = new Map<ValueId, Call>()

  /**
   * @param graph that of the loop
   * @param outer those of the body around this one; undefined: it is the body of the loop
   */
  constructor(body: BoundGraph, graph: PlanGraph, outer?: BodyCalls) {
    this.body = body
    this.graph = graph
    this.outer = outer
    for (const item of body.items) {
      if (!isCall(item)) continue
      for (const id of item.outputs) if (id !== undefined) this.makers.set(id, item)
    }
  }

  /** The calls of a body of one of these. */
  inner(call: Call, name: string): BodyCalls | undefined {
    const body = call.bodies.get(name)
    return body && new BodyCalls(body, this.graph, this)
  }

  /** Ids of what the body is given, and of what it gives. */
  get inputs(): readonly ValueId[] {
    return this.body.graph.inputs.map(({ value }) => value)
  }

  get outputs(): readonly ValueId[] {
    return this.body.graph.outputs.map(({ value }) => value)
  }

  /** The value that an Identity, or one after the other, has made another one of. */
  originOf(id: ValueId | undefined): ValueId | undefined {
    let origin = id
    for (let call = this.calling(origin); call && isNamed('Identity')(call); call = this.calling(origin))
      origin = call.inputs[0]
    return origin
  }

  /** The call that makes a value, beneath Identities; undefined where none of these operators does. */
  makerOf(id: ValueId | undefined, ...names: readonly string[]): Call | undefined {
    const call = this.calling(this.originOf(id))
    return call && isNamed(...names)(call) ? call : undefined
  }

  private calling(id: ValueId | undefined): Call | undefined {
    return id === undefined ? undefined : (this.makers.get(id) ?? this.outer?.calling(id))
  }

  /** The value around the loop that is read by this name; undefined where it is one of a body's own. */
  around(id: ValueId | undefined): ValueId | undefined {
    const origin = this.originOf(id)
    if (this.outer) return origin !== undefined && this.makers.has(origin) ? undefined : this.outer.around(origin)
    return origin !== undefined && this.body.captures.includes(origin) ? origin : undefined
  }

  /** A parameter that is a number or a list of them, where it is known: from an attribute, or from a constant. */
  numbersOf(call: Call, name: string): readonly number[] | undefined {
    return numbersBy(call, name, id => this.elementsOf(id))
  }

  /** The one number that a value is in each run. */
  numberOf(id: ValueId | undefined): number | undefined {
    let from = this.originOf(id)
    for (let cast = this.makerOf(from, 'CastLike', 'Cast'); cast; cast = this.makerOf(from, 'CastLike', 'Cast'))
      from = this.originOf(cast.inputs[0])
    const elements = this.elementsOf(from)
    return elements?.length === 1 ? elements[0] : undefined
  }

  /** The elements of a constant, where they are few. */
  private elementsOf(id: ValueId | undefined): readonly number[] | undefined {
    const constant = this.constantOf(id)
    if (constant === undefined || constant.type === 'string' || product(constant.dims) > MAX_ELEMENTS) return undefined
    return [...toDoubles(tensorOf(constant))]
  }

  /** A constant of the body, or of what is around it. */
  constantOf(id: ValueId | undefined): Constant | Tensor | undefined {
    if (id === undefined) return undefined
    return this.body.constants.get(id) ?? (this.outer ? this.outer.constantOf(id) : this.graph.constantOf(id))
  }
}

/** The input of a call from which a parameter comes; undefined where it comes from none. */
export function inputFor(call: Call, parameter: string): ValueId | undefined {
  const source = call.dataDependent.find(({ name }) => name === parameter)?.source
  return source && call.inputs[source.index]
}

/** Whether a list of numbers has a single one. */
export const isOne = (numbers: readonly number[] | undefined, number: number): boolean =>
  numbers?.length === 1 && numbers[0] === number
