import { fail } from '../../errors.ts'
import type { Node, ValueId } from '../../graph/graph.ts'
import { params } from '../../op-kit/define.ts'
import { backward, type Rules } from '../../op-kit/derivatives/backward.ts'
import { derivativeOf } from '../../op-kit/derivatives/rules.ts'
import { Writer } from '../../op-kit/derivatives/writer.ts'
import type { ExpandScope } from '../../op-kit/expand.ts'
import { meetShape } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { derive, type NodeFacts } from '../../op-kit/sources.ts'
import { FLOATS } from '../../op-kit/types.ts'
import { tensorFact } from '../../shapes/fact.ts'

const TYPE = 'Gradient'
const DOMAIN = 'ai.onnx.preview.training'

interface Params {
  /** How many values are differentiated by, and how many others the outcome depends on. */
  counts: readonly [xs: number, zs: number]
}

/** Rules of {@link gradient}. */
export const gradientRules = defineRules({
  name: TYPE,
  operands: { inputs: 'any-variadic' },
  params: params<Params>(),
  onnx: [{ domain: DOMAIN, since: 1, bind: { counts: derive(countsOf) } }],
  mixesTypes: true,
  expand,

  shape({ inputs }, { counts: [xs, zs] }) {
    return Array.from({ length: xs }, (_, i) => {
      const [x, derivative] = [inputs[i], inputs[xs + zs + i]]
      if (x.kind !== 'tensor' || derivative.kind !== 'tensor')
        return fail('type-not-allowed', `input ${i} is a ${x.kind}; derivatives are taken by tensors`)
      const { type } = x
      if (type !== undefined && !FLOATS.includes(type))
        fail('type-not-allowed', `input ${i} is ${type}; derivatives are taken by ${FLOATS.join(', ')}`)
      return tensorFact(type, x.shape && meetShape('the derivative', derivative, x.shape))
    })
  }
})

/**
 * The derivatives of one value by others: ai.onnx.preview.training 1. The attributes name values of the graph: `y` is
 * a function of `xs`, and of `zs`, which are not differentiated by; the inputs are the `xs` and `zs` at which the
 * derivatives are taken. Before operators are bound, nodes that compute the derivatives are put before the node
 * (reverse mode); they become its last inputs, which it hands out, so that derivatives of derivatives are as good as
 * any. Where the text is silent: of a `y` of several elements the sum is differentiated, as other libraries do, and
 * values that neither list names are constants. Nothing else runs this operator.
 */
export const gradient = /* @__PURE__ */ withKernel(gradientRules, {
  run({ inputs }, { counts: [xs, zs] }, call) {
    for (let i = 0; i < xs; i++) {
      const derivative = inputs[xs + zs + i]
      if (call.wanted(i)) call.give(i, derivative)
    }
  }
})

const stringsOf = ({ attributes, type }: Node, name: string): readonly string[] => {
  const found = attributes.get(name)
  if (found === undefined) return []
  if (found.kind !== 'strings') fail('unknown-attribute-value', `${type}: attribute "${name}" holds ${found.kind}`)
  return found.value
}

function countsOf({ node }: NodeFacts): Params['counts'] {
  return [stringsOf(node, 'xs').length, stringsOf(node, 'zs').length]
}

/** The names that the attributes of a node have, checked. */
function namesOf(node: Node): { xs: readonly string[]; zs: readonly string[]; y: string } {
  const [xs, zs, y] = [stringsOf(node, 'xs'), stringsOf(node, 'zs'), node.attributes.get('y')]
  if (xs.length === 0) fail('missing-attribute', 'attribute "xs" is missing: it names what is differentiated by')
  if (y?.kind !== 'string') return fail('missing-attribute', 'attribute "y" is missing: it names the outcome')
  const given = node.inputs.length
  if (given !== xs.length + zs.length)
    fail('wrong-input-count', `${given} inputs are given; xs and zs name ${xs.length + zs.length}`)
  if (node.inputs.includes(undefined)) fail('wrong-input-count', `input ${node.inputs.indexOf(undefined)} is left out`)
  if (node.outputs.length > xs.length)
    fail('wrong-output-count', `${node.outputs.length} outputs are listed; xs names ${xs.length}`)
  return { xs, zs, y: y.value }
}

function expand(node: Node, scope: ExpandScope): readonly Node[] {
  const { xs, zs, y } = namesOf(node)
  const rules: Rules = {
    attribute: scope.attribute,
    derivativeOf: each => (isGradient(each) ? HANDED_ON : derivativeOf(each))
  }
  const w = new Writer(node, scope.count)
  const forward = between(y, new Set([...xs, ...zs]), scope)
  const at = fedBy(w, [...xs, ...zs], node.inputs as readonly ValueId[])
  const run = forward.map(each => (readsAny(each, at) ? replayed(w, each, at) : each))
  const [outcome, ...variables] = [y, ...xs].map(id => at.get(id) ?? id)
  const found = backward(w, run, new Map([[outcome, w.filled(1, outcome)]]), new Set(variables), rules)
  const derivatives = variables.map(x => found.get(x) ?? w.filled(0, x))
  return [...w.nodes, { ...node, place: node.place, inputs: [...node.inputs, ...derivatives] }]
}

const isGradient = ({ domain, type }: Node): boolean => domain === DOMAIN && type === TYPE

/** A Gradient hands on its last inputs: they are what the derivative of a derivative goes through. */
const HANDED_ON: ReturnType<Rules['derivativeOf']> = {
  kind: 'rule',
  rule(_, { node, dy }) {
    const first = stringsOf(node, 'xs').length + stringsOf(node, 'zs').length
    return [...new Array<undefined>(first).fill(undefined), ...dy]
  }
}

/**
 * The nodes from which a value is computed, producers first, up to the values that end the search.
 * @throws NodewiseError `invalid-graph` where the value is none of the graph, `unsupported-op` where it may depend on a
 *   variable in ways that the graph does not show
 */
function between(y: ValueId, ends: ReadonlySet<ValueId>, scope: ExpandScope): Node[] {
  const hasOuter = [...ends].some(id => !scope.isOwn(id))
  const order: Node[] = []
  const seen = new Set<Node>()
  // Depth first with a path of its own: a chain may be as long as the graph.
  const path: { node: Node; pending: ValueId[] }[] = []
  const visit = (id: ValueId): void => {
    if (ends.has(id)) return
    const node = scope.makerOf(id)
    if (node === undefined) requireKnown(id, hasOuter, scope)
    else if (!seen.has(node)) {
      scope.count()
      seen.add(node)
      path.push({ node, pending: [...node.inputs, ...node.captures].filter(each => each !== undefined) })
    }
  }
  if (!ends.has(y) && !scope.isOwn(y)) fail('invalid-graph', `"${y}", which y names, is no value of this graph`)
  visit(y)
  while (path.length > 0) {
    const top = path[path.length - 1]
    const next = top.pending.pop()
    if (next !== undefined) visit(next)
    else order.push(path.pop()!.node)
  }
  return order
}

function requireKnown(id: ValueId, hasOuter: boolean, scope: ExpandScope): void {
  if (hasOuter && !scope.isOwn(id))
    fail('unsupported-op', `"${id}" of an enclosing graph may depend on a variable; name it in zs if it does not`)
}

/** Values in the place of the named ones, where others are fed to them. */
function fedBy(w: Writer, names: readonly ValueId[], inputs: readonly ValueId[]): Map<ValueId, ValueId> {
  const at = new Map<ValueId, ValueId>()
  names.forEach((name, i) => {
    // A name of its own for each, since one value may be fed to several.
    if (inputs[i] !== name && !at.has(name)) at.set(name, w.call('Identity', [inputs[i]]))
  })
  return at
}

const readsAny = ({ inputs, captures }: Node, at: ReadonlyMap<ValueId, ValueId>): boolean =>
  inputs.some(id => id !== undefined && at.has(id)) || captures.some(id => at.has(id))

/** A node once more, at the values that are fed. */
function replayed(w: Writer, node: Node, at: Map<ValueId, ValueId>): Node {
  if (node.captures.length > 0)
    fail('unsupported-op', `${node.type} has a body, which cannot run again at other values`, { operator: node.type })
  const inputs = node.inputs.map(id => (id === undefined ? undefined : (at.get(id) ?? id)))
  const outputs = node.outputs.map(id => (id === undefined ? undefined : w.fresh()))
  node.outputs.forEach((id, i) => {
    if (id !== undefined) at.set(id, outputs[i]!)
  })
  const again = { ...node, place: node.place, inputs, outputs }
  w.push(again)
  return again
}
