import type { Finding } from '../../graph/graph.ts'
import { badUsage } from '../failure.ts'
import { codeNamed } from '../help/explain.ts'
import { namePattern } from '../name-pattern.ts'
import { graphPlace, pathFrom, wholePath } from '../places.ts'

/** Says of a finding of a file whether it is to be left out. */
export type Filter = (finding: Finding, file: string) => boolean

/**
 * `dead-layer`, or `dims-mismatch:/layer.3/*`: findings of a code, everywhere or at places whose file, file and line,
 * node, value or place in the graph is like the pattern. `*` as the code stands for all.
 * @param folder from which patterns name files
 * @throws NodewiseError `bad-usage`
 */
export function ignored(texts: readonly string[], folder: string): Filter {
  const filters = texts.map(text => ignoredBy(text, folder))
  return (finding, file) => filters.some(filter => filter(finding, file))
}

function ignoredBy(text: string, folder: string): Filter {
  const at = text.indexOf(':')
  const name = at < 0 ? text : text.slice(0, at)
  const pattern = at < 0 ? undefined : text.slice(at + 1)
  if (pattern === '') badUsage(`--ignore ${text}: a place is needed after the colon`)
  if (name === '*' && pattern === undefined) badUsage('--ignore *: a place is needed, as in *:/layer.3/*')
  const code = name === '*' ? undefined : codeNamed(name)
  const matches = pattern === undefined ? undefined : namePattern(pattern)
  return (finding, file) =>
    (code === undefined || finding.code === code) &&
    (matches === undefined || namesOf(finding, pathFrom(folder, wholePath(file))).some(matches))
}

function namesOf({ place }: Finding, file: string): string[] {
  const base = file.slice(file.lastIndexOf('/') + 1)
  const lines = place.line === undefined ? [] : [`${file}:${place.line}`, `${base}:${place.line}`]
  return [file, base, ...lines, place.node, place.value, graphPlace(place)].filter(
    name => name !== undefined && name !== ''
  ) as string[]
}
