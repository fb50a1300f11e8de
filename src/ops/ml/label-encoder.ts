import { fail } from '../../errors.ts'
import { type Label, lookUp } from '../../kernels/ml/look-up.ts'
import { params } from '../../op-kit/define.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import {
  derive,
  exactInt,
  exactInts,
  float,
  floats,
  type NodeFacts,
  optional,
  tensor,
  text,
  texts
} from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'
import type { DType } from '../../tensor/dtype.ts'
import { Tensor } from '../../tensor/tensor.ts'

/** A mapping of labels. */
interface Encoding {
  readonly from: DType
  readonly to: DType
  readonly entries: ReadonlyMap<Label, Label>
  readonly otherwise: Label
}

/** Labels of one type. */
interface Labels {
  readonly type: DType
  readonly values: readonly Label[]
}

/** Rules of {@link labelEncoder}. */
export const labelEncoderRules = defineRules({
  name: 'LabelEncoder',
  operands: { x: 'tensor' },
  params: params<{ encodingOf: (type: DType) => Encoding }>(),
  onnx: [
    { domain: 'ai.onnx.ml', since: 1, bind: { encodingOf: derive(classesOf) } },
    { domain: 'ai.onnx.ml', since: 2, bind: { encodingOf: derive(node => listsOf(node, false)) } },
    { domain: 'ai.onnx.ml', since: 4, bind: { encodingOf: derive(node => listsOf(node, true)) } }
  ],

  shape({ x }, { encodingOf }) {
    if (x.type === undefined) return [tensorFact(undefined, x.shape)]
    const { from, to } = encodingOf(x.type)
    if (x.type !== from) fail('type-mismatch', `the input has type ${x.type}, the keys ${from}; they must be the same`)
    return [tensorFact(to, x.shape)]
  }
})

/**
 * Maps labels by two lists, and labels that are not listed to a default. Version 1 maps strings to their indices in a
 * list, and back. For a repeated key version 4 takes the last value, the others the first. NaN equals NaN, and -0
 * equals 0: the text of version 2 speaks of bits for the sake of NaN, but neither ONNX Runtime nor the encoders of
 * scikit-learn, whose keys may be -0, tell the zeros apart. ai.onnx.ml LabelEncoder-1, -2, -4.
 */
export const labelEncoder = /* @__PURE__ */ withKernel(labelEncoderRules, {
  run({ x }, { encodingOf }, call) {
    const { entries, otherwise } = encodingOf(x.type)
    return lookUp(x, call.output(), entries, otherwise)
  }
})

const DEFAULTS = {
  string: text('default_string', '_Unused'),
  int64: exactInt('default_int64', -1n),
  float32: float('default_float', -0)
}

/** Version 1: the type of the input decides the direction. */
function classesOf(node: NodeFacts): (type: DType) => Encoding {
  const classes =
    node.get(optional(texts('classes_strings'))) ?? fail('missing-attribute', 'attribute "classes_strings" is missing')
  const indices = classes.map((_, i) => BigInt(i))
  const toIndices: Encoding = {
    from: 'string',
    to: 'int64',
    entries: firstOf(classes, indices),
    otherwise: node.get(DEFAULTS.int64) ?? -1n
  }
  const toNames: Encoding = {
    from: 'int64',
    to: 'string',
    entries: firstOf(indices, classes),
    otherwise: node.get(DEFAULTS.string) ?? ''
  }
  return type => (type === 'string' ? toIndices : toNames)
}

const firstOf = (keys: readonly Label[], values: readonly Label[]): Map<Label, Label> =>
  new Map(keys.map((key, i) => [key, values[i]] as const).reverse())

function listsOf(node: NodeFacts, isVersion4: boolean): () => Encoding {
  const keys = labelsOf(node, 'keys', isVersion4)
  const values = labelsOf(node, 'values', isVersion4)
  if (keys.values.length !== values.values.length) {
    fail(
      'unknown-attribute-value',
      `there are ${keys.values.length} keys and ${values.values.length} values; they must be as many`
    )
  }
  const entries = isVersion4
    ? new Map(keys.values.map((key, i) => [key, values.values[i]]))
    : firstOf(keys.values, values.values)
  const encoding = { from: keys.type, to: values.type, entries, otherwise: defaultOf(node, values.type, isVersion4) }
  return () => encoding
}

/** The one list of keys, or of values, that the node has. */
function labelsOf(node: NodeFacts, which: 'keys' | 'values', withTensor: boolean): Labels {
  const strings = node.get(optional(texts(`${which}_strings`)))
  const integers = node.get(optional(exactInts(`${which}_int64s`)))
  const numbers = node.get(optional(floats(`${which}_floats`)))
  const given = withTensor ? node.get(optional(tensor(`${which}_tensor`))) : undefined
  const lists: (Labels | undefined)[] = [
    strings && { type: 'string', values: strings },
    integers && { type: 'int64', values: integers },
    numbers && { type: 'float32', values: numbers },
    given && { type: given.type, values: Array.from<Label>(given.data as ArrayLike<Label>) }
  ]
  const [list, other] = lists.filter(item => item !== undefined)
  if (list === undefined) {
    const names = ['strings', 'int64s', 'floats', ...(withTensor ? ['tensor'] : [])].map(name => `${which}_${name}`)
    fail('missing-attribute', `one of the attributes ${names.join(', ')} is missing`)
  }
  if (other !== undefined)
    fail('unknown-attribute-value', `${which} of types ${list.type} and ${other.type} are given; expected one of them`)
  return list
}

function defaultOf(node: NodeFacts, type: DType, withTensor: boolean): Label {
  const given = withTensor ? node.get(optional(tensor('default_tensor'))) : undefined
  if (given) {
    if (given.type !== type || given.data.length !== 1) {
      fail(
        'unknown-attribute-value',
        `default_tensor holds ${given.data.length} elements of type ${given.type}; expected one of ${type}`
      )
    }
    return given.data[0]
  }
  if (type === 'string' || type === 'int64' || type === 'float32') return node.get<Label>(DEFAULTS[type]) ?? ''
  return type === 'float64' ? -0 : new Tensor(type, [-1]).data[0]
}
