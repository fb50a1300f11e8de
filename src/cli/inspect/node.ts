import type { Registry } from '../../bind/registry.ts'
import { check } from '../../check/check.ts'
import { allGraphs, type Model } from '../../graph/graph.ts'
import { type Line, neighbourFinder } from '../../report/neighbours.ts'
import { didYouMean } from '../../suggest.ts'
import { boxText, lineText } from '../check/text.ts'
import { badUsage } from '../failure.ts'
import type { Style } from '../terminal.ts'
import { operatorName } from './describe.ts'
import { attributesOf, type NodeInGraph, restLines, versionText } from './nodes.ts'

/** Nodes with what they read and who reads them. */
export function nodeText(model: Model, registry: Registry, found: readonly NodeInGraph[], style: Style): string {
  const { bold, dim } = style
  const find = neighbourFinder(model, check(model, registry))
  const blocks = found.map(({ graph: { path }, node }) => {
    const around = find({ ...node.place, ...(path !== '' && { graphPath: path }) })
    const end = (arrow: string, word: string, line: Line): string =>
      `  ${arrow} ${lineText(line, style)}  ${dim(`${word} ${boxText(line.box)}`)}`
    const title = bold(boxText({ type: operatorName(node), name: node.name }))
    const version = versionText(node.place.version ?? node.version, style)
    return [
      `node ${path === '' ? '' : `${path}/`}${node.index}  ${title}${version}`,
      ...(around?.inputs ?? []).map(line => end('<-', 'from', line)),
      ...(around?.outputs ?? []).map(line => end('->', 'to', line)),
      ...restLines(attributesOf(node), node.doc, style)
    ].join('\n')
  })
  return blocks.join('\n\n')
}

/**
 * Nodes by their name, the name of an output, or their index or layer id.
 * @throws NodewiseError `bad-usage` where there is none
 */
export function nodesNamed(model: Model, name: string): NodeInGraph[] {
  const all = [...allGraphs(model)].flatMap(graph => graph.nodes.map(node => ({ graph, node })))
  const namesOfOutputs = ({ graph: { values }, node: { outputs } }: NodeInGraph): string[] =>
    outputs.flatMap(id => (id === undefined ? [] : (values.get(id)?.names ?? [id])))
  const indexOf = ({ graph: { path }, node: { index, layer } }: NodeInGraph): string =>
    layer ?? `${path === '' ? '' : `${path}/`}${index}`
  const ways: ((one: NodeInGraph) => boolean)[] = [
    ({ node }) => node.name === name,
    place => namesOfOutputs(place).includes(name),
    place => indexOf(place) === name
  ]
  for (const way of ways) {
    const found = all.filter(way)
    if (found.length > 0) return found
  }
  const names = all.map(({ node }) => node.name)
  return badUsage(`--node: there is no node ${JSON.stringify(name)}${didYouMean(name, names)}`)
}
