import { fail } from '../../errors.ts'
import { defineOp, type Op, params } from '../../op-kit/define.ts'
import { derive, text } from '../../op-kit/sources.ts'
import { type Dim, mayMatch, minDim, printShape, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { type DType, dtypeFromName } from '../../tensor/dtype.ts'
import { isTensor, type Tensor, type Value } from '../../tensor/tensor.ts'

interface Variable {
  readonly id: string
  /** Undefined: the type of the initial value. */
  readonly type: DType | undefined
  /** `like initial`: the shape of the initial value; undefined: any. */
  readonly shape: readonly Dim[] | 'like initial' | undefined
}

const variable = (id: string): Variable => ({ id, type: undefined, shape: 'like initial' })

/**
 * The value that a variable had when the run began: OpenVINO ReadValue-3, -6. Before the first Assign and after a reset
 * it is the initial value. Without an initial value it is zeros, where an unknown dim has its minimum (OpenVINO takes 0
 * even where that is less).
 */
const readValue = defineOp({
  name: 'ReadValue',
  operands: { initial: 'optional' },
  params: params<{ variable: Variable }>(),
  openvino: [
    {
      since: 3,
      bind: {
        variable: derive(node => {
          if (!node.hasInput(0)) fail('wrong-input-count', 'the initial value is missing; ReadValue-3 needs one')
          return variable(node.get(text('variable_id')) ?? missing('variable_id'))
        })
      }
    },
    {
      since: 6,
      bind: {
        variable: derive(node => ({
          id: node.get(text('variable_id')) ?? missing('variable_id'),
          type: typeOf(node.get(text('variable_type')) ?? 'dynamic'),
          shape: shapeOf(node.get(text('variable_shape')) ?? '...')
        }))
      }
    }
  ],
  impure: 'state',

  shape({ initial }, { variable }) {
    const fact = factOfVariable(variable, initial)
    if (!initial) return [fact]
    if (fact.type !== undefined && initial.type !== undefined && fact.type !== initial.type) {
      fail('type-mismatch', `the initial value has type ${initial.type}, variable "${variable.id}" ${fact.type}`)
    }
    if (!fits(fact.shape, initial.shape)) {
      fail(
        'shape-mismatch',
        `the initial value has shape ${printShape(initial.shape)}, variable "${variable.id}" ${printShape(fact.shape)}`
      )
    }
    return [fact]
  },

  run({ initial }, { variable }, call) {
    const state = call.state.read(variable.id)
    if (state) call.give(0, checked(state, variable, initial))
    else if (initial) call.give(0, initial)
    else if (variable.type === undefined || !Array.isArray(variable.shape)) {
      fail('missing-attribute', `variable "${variable.id}" has no initial value, and not both a type and a shape`)
    } else call.output(0, variable.shape.map(minDim), variable.type)
  }
})

/** Stores a value for the next run and returns it: OpenVINO Assign-3, -6. */
const assign = defineOp({
  name: 'Assign',
  operands: { value: 'tensor' },
  params: params<{ id: string }>(),
  openvino: [{ since: 3, bind: { id: text('variable_id') } }],
  impure: 'state',
  shape: ({ value }) => [value],

  run({ value }, { id }, call) {
    call.state.write(id, value)
    call.give(0, value)
  }
})

const missing = (name: string): never => fail('missing-attribute', `attribute "${name}" is missing`)

function factOfVariable({ type, shape }: Variable, initial: TensorFact | undefined): TensorFact {
  return tensorFact(type ?? initial?.type, shape === 'like initial' ? initial?.shape : shape)
}

const fits = (wanted: readonly Dim[] | undefined, given: readonly Dim[] | undefined): boolean =>
  wanted === undefined ||
  given === undefined ||
  (wanted.length === given.length && wanted.every((dim, i) => mayMatch(dim, given[i])))

/** Checks the value that an earlier run assigned. */
function checked(state: Value, variable: Variable, initial: Tensor | undefined): Tensor {
  const fact = factOfVariable(variable, initial && { kind: 'tensor', type: initial.type, shape: initial.dims })
  if (!isTensor(state)) return fail('type-mismatch', `variable "${variable.id}" holds a ${state.type}`)
  if (fact.type !== undefined && state.type !== fact.type) {
    fail('type-mismatch', `variable "${variable.id}" has type ${fact.type}; it was assigned ${state.type}`)
  }
  if (!fits(fact.shape, state.dims)) {
    fail(
      'shape-mismatch',
      `variable "${variable.id}" has shape ${printShape(fact.shape)}; it was assigned [${state.dims.join(', ')}]`
    )
  }
  return state
}

function typeOf(name: string): DType | undefined {
  const word = name.trim().toLowerCase()
  if (word === 'dynamic' || word === 'undefined') return undefined
  return (
    dtypeFromName(word) ??
    fail('unknown-attribute-value', `attribute "variable_type" is "${name}", which is no element type`)
  )
}

/** Parses `2,?,1..10`; `...` is any shape, an empty text a scalar. */
function shapeOf(written: string): Dim[] | undefined {
  const inner = written
    .trim()
    .replace(/^\[(.*)\]$/, '$1')
    .trim()
  if (inner === '...') return undefined
  return inner === ''
    ? []
    : inner.split(',').map(field => {
        const found = /^(?:(\d+)|\?|-1|(\d*)\.\.(\d*))$/.exec(field.trim())
        if (!found)
          fail('unknown-attribute-value', `attribute "variable_shape" is "${written}"; "${field}" is no dimension`)
        const [, exact, min, max] = found
        return exact !== undefined
          ? unknownDim(Number(exact), Number(exact))
          : unknownDim(Number(min || 0), max ? Number(max) : Infinity)
      })
}

/** Variables that a session keeps from run to run. */
export const stateOps: readonly Op[] = [readValue, assign]
