import { fail } from '../../errors.ts'
import type { DeclaredType } from '../../graph/graph.ts'
import { defineOp, type Op, params } from '../../op-kit/define.ts'
import { declaredType, optional as optionalSource } from '../../op-kit/sources.ts'
import { type Fact, mapFact, type OptionalFact, tensorFact, UNKNOWN_TENSOR } from '../../shapes/fact.ts'

/** ONNX Optional-15, -28: wraps its input; without an input it is empty and has the type of the attribute. */
const optional = defineOp({
  name: 'Optional',
  operands: { input: 'any-optional' },
  params: params<{ type: DeclaredType | undefined }>(),
  onnx: [{ since: 15, bind: { type: optionalSource(declaredType('type')) } }],

  shape({ input }, { type }): OptionalFact[] {
    if (input) return [{ kind: 'optional', element: input }]
    if (!type) fail('missing-attribute', 'neither an input nor the attribute "type" is given')
    return [{ kind: 'optional', element: typeFact(type), value: { type: 'optional', value: undefined } }]
  },

  run({ input }, _, call) {
    call.give(0, { type: 'optional', value: input })
  }
})

/** Kind and element type of a declared type. */
function typeFact(type: DeclaredType): Fact {
  if (type.kind === 'tensor') return tensorFact(type.type, undefined)
  if (type.kind === 'map') return mapFact(type.keyType, type.valueType)
  return type.kind === 'other' ? UNKNOWN_TENSOR : { kind: type.kind, element: typeFact(type.element) }
}

/** ONNX OptionalHasElement-15; since 18 the input may be missing (false) or a plain value (true). */
const optionalHasElement = defineOp({
  name: 'OptionalHasElement',
  operands: { input: 'any-optional' },
  onnx: [{ since: 15, bind: {} }],
  shape: () => [tensorFact('bool', [])],

  value({ input }) {
    if (input === undefined) return [false]
    if (input.kind !== 'optional') return input.kind === 'tensor' && input.type === undefined ? undefined : [true]
    return input.value?.type === 'optional' ? [input.value.value !== undefined] : undefined
  },

  run({ input }, _, call) {
    call.output().data[0] = Number(input !== undefined && (input.type !== 'optional' || input.value !== undefined))
  }
})

/** ONNX OptionalGetElement-15; since 18 a plain value is returned as it is. */
const optionalGetElement = defineOp({
  name: 'OptionalGetElement',
  operands: { input: 'any' },
  onnx: [{ since: 15, bind: {} }],

  shape({ input }) {
    if (input.kind !== 'optional') return [input]
    if (input.value?.type === 'optional' && input.value.value === undefined) failEmpty()
    return [input.element]
  },

  run({ input }, _, call) {
    call.give(0, input.type !== 'optional' ? input : (input.value ?? failEmpty()))
  }
})

const failEmpty = (): never => fail('value-out-of-range', 'the optional is empty; there is no element to get')

/** Values that may be absent (ONNX `optional`). */
export const optionalOps: readonly Op[] = [optional, optionalHasElement, optionalGetElement]
