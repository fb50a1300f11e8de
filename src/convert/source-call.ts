import type { Call } from '../bind/call.ts'
import { byOperand } from '../bind/operands.ts'
import { fail } from '../errors.ts'
import type { Graph, Node } from '../graph/graph.ts'
import { parametersOf } from '../infer/parameters.ts'
import type { Leniency, Made, SourceCall } from '../op-kit/conversion.ts'
import type { Op, Parameters } from '../op-kit/define.ts'
import type { Fact } from '../shapes/fact.ts'
import { isSameParameter } from './equal.ts'
import type { Saying } from './versions.ts'

/** A call of the source with its inputs as values of the new model: what rules and operator versions see of it. */
export class CallToSay implements SourceCall, Saying {
  readonly op: Op
  readonly node: Node
  readonly results: readonly Fact[]
  readonly operands: Saying['operands']
  private readonly call: Call
  private readonly inputs: readonly (Made | undefined)[]
  private readonly found: Parameters
  private readonly leniencies: readonly Leniency[]

  constructor(
    call: Call,
    inputs: readonly (Made | undefined)[],
    results: readonly Fact[],
    leniencies: readonly Leniency[]
  ) {
    this.call = call
    this.op = call.op
    this.node = call.node
    this.inputs = inputs
    this.results = results
    this.leniencies = leniencies
    this.operands = byOperand(call, inputs)
    this.found = parametersOf(
      call,
      inputs.map(input => input?.fact)
    )
  }

  get dialect(): SourceCall['dialect'] {
    return this.call.dialect
  }
  get version(): number {
    return this.call.version
  }
  get outputCount(): number {
    return this.call.outputCount
  }
  get attributes(): Node['attributes'] {
    return this.node.attributes
  }

  wanted(index: number): boolean {
    return this.call.outputs[index] !== undefined
  }

  has(operand: string): boolean {
    return this.operands[operand] !== undefined
  }

  operand(name: string): Made {
    return this.optional(name) ?? fail('unsupported-op', `${name} is left out`)
  }

  optional(name: string): Made | undefined {
    const given = this.operands[name]
    return Array.isArray(given) ? fail('internal', `${name} are several`) : (given as Made | undefined)
  }

  all(name: string): readonly Made[] {
    const given = this.operands[name]
    return Array.isArray(given) ? (given as readonly Made[]) : []
  }

  known(parameter: string): { readonly value: unknown } | undefined {
    const value = this.found[parameter]
    const isUnknown =
      this.source(parameter) !== undefined &&
      (value === 'unknown' ||
        (typeof value === 'object' &&
          value !== null &&
          (Array.isArray(value) ? value.some(item => typeof item === 'object') : true)))
    return isUnknown ? undefined : { value }
  }

  get parameters(): Parameters {
    const names = [...Object.keys(this.found)]
    return Object.fromEntries(
      names.map(name => {
        const known = this.known(name)
        return [name, known ? known.value : this.source(name)]
      })
    )
  }

  attribute(name: string): string | undefined {
    const attribute = this.node.attributes.get(name) ?? this.call.schema?.attributes.get(name)?.absent
    return attribute && typeof attribute.value !== 'object' ? String(attribute.value) : undefined
  }

  knows(parameter: string): boolean {
    return this.known(parameter) !== undefined
  }

  param<T>(name: string): T {
    const found = this.known(name)
    return found ? (found.value as T) : fail('unsupported-op', `${name} is not known before the model runs`)
  }

  source(parameter: string): Made | undefined {
    const dependent = this.call.dataDependent.find(({ name }) => name === parameter)
    return dependent && this.inputs[dependent.source.index]
  }

  body(parameter: string): Graph {
    return this.call.bodies.get(parameter)?.graph ?? fail('missing-attribute', `the body ${parameter} is missing`)
  }

  allows(parameter: string, from: unknown, to: unknown): boolean {
    // A model without errors does the same whatever the new operator makes of what is an error in the source.
    if (isSameParameter(from, to) || from === 'error') return true
    return this.leniencies.some(one => one.parameter === parameter && one.allows(from, to, this))
  }
}
