import { allGraphs, type Graph, type Model } from '../../graph/graph.ts'
import { didYouMean } from '../../suggest.ts'
import { badUsage } from '../failure.ts'
import { inputNames } from '../inputs/inputs.ts'
import { splitNamed } from '../options.ts'

/** Names that one of the two that are compared has, and how messages call it. */
export interface NamesOf {
  readonly path: string
  readonly names: ReadonlySet<string>
}

/** Every name of a value of a graph. */
export const namesIn = ({ inputs, outputs, values }: Graph): string[] => [
  ...[...inputs, ...outputs].flatMap(({ name, aliases }) => [name, ...aliases]),
  ...[...values.values()].flatMap(({ name, names }) => [name, ...names])
]

/** Every name of a value of a model, those of bodies included, and the names that were recorded. */
export const valueNames = (path: string, model: Model | undefined, recorded: readonly string[] = []): NamesOf => ({
  path,
  names: new Set([...recorded, ...(model ? [...allGraphs(model)].flatMap(namesIn) : [])])
})

/** Every name of an input of a model. */
export const namesOfInputs = (path: string, model: Model): NamesOf => ({ path, names: new Set(inputNames(model)) })

/**
 * What `--map a=b` or `--map-input a=b` says, by the name in `a`.
 * @param kind what is named
 * @throws NodewiseError `bad-usage` where one of the two has nothing of that name: it would be paired with nothing
 */
export function namedPairs(
  option: string,
  texts: readonly string[] = [],
  kind: 'value' | 'input',
  [a, b]: readonly [NamesOf, NamesOf]
): ReadonlyMap<string, string> {
  const pairs = texts.map(text => splitNamed(option, text, a.names))
  for (const { name, value } of pairs)
    for (const [side, given] of [
      [a, name],
      [b, value]
    ] as const)
      if (!side.names.has(given))
        badUsage(`${option} ${name}=${value}: ${side.path} has no ${kind} "${given}"${didYouMean(given, side.names)}`)
  return new Map(pairs.map(({ name, value }) => [name, value]))
}
