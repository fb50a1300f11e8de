import { fail } from '../errors.ts'
import { constantAtHand } from '../graph/constant.ts'
import type { Attribute, Constant, Node } from '../graph/graph.ts'
import { Tensor } from '../tensor/tensor.ts'

/** The constant that a node stands for: Const of IR, Constant of ONNX; undefined for every other node. */
export function constantOf(node: Node): Constant | undefined {
  if (node.dialect === 'openvino') return node.constant
  if (node.domain !== 'ai.onnx' || node.type !== 'Constant') return undefined
  const names = [...node.attributes.keys()]
  const unknown = names.find(name => !Object.hasOwn(READERS, name))
  if (unknown !== undefined) fail('unknown-attribute-value', `Constant has no attribute "${unknown}"`)
  if (names.length !== 1)
    fail(
      'missing-attribute',
      `a Constant needs exactly one of ${Object.keys(READERS).join(', ')}; ${names.length} are given`
    )
  const [name] = names
  return READERS[name](node.attributes.get(name)!, node)
}

const READERS: Readonly<Record<string, (attribute: Attribute, node: Node) => Constant>> = {
  value: lazy,
  sparse_value: lazy,
  value_float: (attribute, node) =>
    attribute.kind === 'float'
      ? constantAtHand(new Tensor('float32', [attribute.value], []), node.place)
      : wrong('value_float', attribute),
  value_floats: (attribute, node) =>
    attribute.kind === 'floats'
      ? constantAtHand(new Tensor('float32', attribute.value), node.place)
      : wrong('value_floats', attribute),
  value_int: (attribute, node) =>
    attribute.kind === 'int'
      ? constantAtHand(new Tensor('int64', [attribute.value], []), node.place)
      : wrong('value_int', attribute),
  value_ints: (attribute, node) =>
    attribute.kind === 'ints'
      ? constantAtHand(new Tensor('int64', attribute.value), node.place)
      : wrong('value_ints', attribute),
  value_string: (attribute, node) =>
    attribute.kind === 'string'
      ? constantAtHand(new Tensor('string', [attribute.value], []), node.place)
      : wrong('value_string', attribute),
  value_strings: (attribute, node) =>
    attribute.kind === 'strings'
      ? constantAtHand(new Tensor('string', attribute.value), node.place)
      : wrong('value_strings', attribute)
}

function lazy(attribute: Attribute): Constant {
  return attribute.kind === 'tensor' ? attribute.value : wrong('value', attribute)
}

const wrong = (name: string, attribute: Attribute): never =>
  fail('unknown-attribute-value', `attribute "${name}" holds ${attribute.kind}`)
