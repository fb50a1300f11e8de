import { NodewiseError } from '../../errors.ts'
import type { Model, Node } from '../../graph/graph.ts'
import { badUsage } from '../failure.ts'
import { isPattern, namePattern } from '../name-pattern.ts'

/** Nodes of IR that compute nothing: a pattern does not mean them, their own names do. */
const IS_GIVEN: ReadonlySet<string> = new Set(['Const', 'Parameter'])

/**
 * The values that `--fetch` names: names separated by commas, of values or of nodes, which stand for all that they
 * make; `*` and `?` in a name match those of values that nodes make and of nodes. A name that holds such signs itself
 * is one that the model has. Other names are left as they are, for the session to refuse.
 * @throws NodewiseError `unexpected-input` for a pattern that matches nothing, `bad-usage` where nothing is named
 */
export function fetchedNames(model: Model, texts: readonly string[]): string[] {
  const { outputs, values } = model.graph
  const known = new Set([
    ...outputs.flatMap(({ name, aliases }) => [name, ...aliases]),
    ...[...values.values()].flatMap(({ name, names }) => [name, ...names])
  ])
  const nodes = new Map(model.graph.nodes.filter(({ name }) => name !== '').map(node => [node.name, node]))
  const isKnown = (name: string): boolean => known.has(name) || nodes.has(name)
  const names = texts.flatMap(text => (isKnown(text) ? [text] : text.split(',').map(name => name.trim())))
  const found = names.flatMap(name => {
    if (name === '') return []
    if (known.has(name)) return [name]
    const node = nodes.get(name)
    return node ? madeBy(model, node) : isPattern(name) ? matches(model, name) : [name]
  })
  if (found.length === 0) badUsage('--fetch names no value; a run would compute nothing')
  return [...new Set(found)]
}

/** Names of the values that a node makes. */
const madeBy = ({ graph: { values } }: Model, { outputs }: Node): string[] =>
  outputs.flatMap(id => (id === undefined ? [] : (values.get(id)?.name ?? [])))

function matches(model: Model, pattern: string): string[] {
  const test = namePattern(pattern)
  const found = model.graph.nodes
    .filter(({ dialect, type }) => dialect === 'onnx' || !IS_GIVEN.has(type))
    .flatMap(node => {
      const made = madeBy(model, node)
      return test(node.name) ? made : made.filter(test)
    })
  if (found.length > 0) return found
  throw new NodewiseError('unexpected-input', `--fetch ${pattern}: no node and no value that one makes has such a name`)
}
