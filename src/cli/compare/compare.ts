import { extname } from 'node:path'
import { type Comparand, compareValues } from '../../compare/compare.ts'
import type { Distance } from '../../compare/measure.ts'
import type {
  ComparedOutput,
  ComparedPair,
  Comparison,
  FirstDifference,
  ValueStatistics
} from '../../compare/result.ts'
import { NodewiseError } from '../../errors.ts'
import type { Model } from '../../graph/graph.ts'
import { type Json, stringifyExact } from '../../io/json-text.ts'
import { declaredElement } from '../../io/read.ts'
import type { StoredValues } from '../../io/recording.ts'
import type { Value } from '../../tensor/tensor.ts'
import { badUsage, EXIT, failureIn } from '../failure.ts'
import { feedsFrom } from '../inputs/fill.ts'
import { callerType, type InputFlags, neededInputs } from '../inputs/inputs.ts'
import { type ModelFlags, openModel } from '../model.ts'
import { type OpsFlags, registryOf } from '../own-ops.ts'
import { statOf } from '../stat.ts'
import { forPeople, isStdout, writeTo } from '../streams.ts'
import { print, styleOf, type Terminal } from '../terminal.ts'
import type { Subjects } from './page.ts'
import { namedPairs, namesIn, namesOfInputs, valueNames } from './pair-names.ts'
import { compareText } from './text.ts'

export interface CompareFlags extends ModelFlags, InputFlags, OpsFlags {
  readonly fill?: string
  readonly shape?: readonly string[]
  readonly mapInput?: readonly string[]
  readonly map?: readonly string[]
  readonly rtol?: number
  readonly atol?: number
  readonly sqnr?: number
  readonly all?: boolean
  readonly isolate?: boolean
  readonly structure?: boolean
  readonly html?: string
  readonly json?: boolean
}

/** `nodewise compare <a> <b>` */
export async function compare(
  [pathA, pathB]: readonly [string, string],
  flags: CompareFlags,
  terminal: Terminal
): Promise<number> {
  const sides = [await openSide(pathA, flags, terminal), await openSide(pathB, flags, terminal)] as const
  try {
    if (flags.structure === true) return await compareStructures(sides, [pathA, pathB], flags, terminal)
    return await compareSides(sides, [pathA, pathB], flags, terminal)
  } finally {
    for (const { stored } of sides) stored?.close()
  }
}

/** A model, or values that were recorded. */
interface Opened {
  readonly model?: Model
  readonly stored?: StoredValues
}

async function openSide(path: string, flags: ModelFlags, terminal: Terminal): Promise<Opened> {
  const isFolder = statOf(path)?.isDirectory() ?? false
  if (!isFolder && extname(path).toLowerCase() !== '.npz')
    return { model: await openModel(path, flags, { terminal, whole: true }) }
  return { stored: (await import('../../io/recording.ts')).openRecording(path, isFolder) }
}

type Options = readonly (readonly [keyof CompareFlags, string])[]

/** Options that say what a model gets. */
const FEEDING: Options = [
  ['input', '--input'],
  ['inputs', '--inputs'],
  ['image', '--image'],
  ['audio', '--audio'],
  ['fill', '--fill'],
  ['shape', '--shape'],
  ['mapInput', '--map-input']
]

/** Options of a comparison that runs the models. */
const RUNNING: Options = [
  ...FEEDING,
  ['rtol', '--rtol'],
  ['atol', '--atol'],
  ['sqnr', '--sqnr'],
  ['isolate', '--isolate'],
  ['html', '--html'],
  ['all', '--all']
]

/** Which of these options are given, as what is not to be. */
const givenOf = (options: Options, flags: CompareFlags): string =>
  options.flatMap(([name, option]) => (flags[name] === undefined ? [] : [`no ${option}`])).join(', ')

async function compareStructures(
  [{ model: a }, { model: b }]: readonly [Opened, Opened],
  [pathA, pathB]: readonly [string, string],
  flags: CompareFlags,
  terminal: Terminal
): Promise<number> {
  if (!a || !b) return badUsage('--structure compares models, not recorded values')
  const running = givenOf(RUNNING, flags)
  if (running !== '') badUsage(`--structure runs nothing: ${running}`)
  const [{ compareStructure }, { structureJson, structureText }] = await Promise.all([
    import('../../compare/structure.ts'),
    import('./structure.ts')
  ])
  const known = [valueNames(pathA, a), valueNames(pathB, b)] as const
  const result = compareStructure([a, b], registryOf(flags), namedPairs('--map', flags.map, 'value', known))
  if (flags.json) print(terminal, stringifyExact(structureJson(result), 2))
  else print(terminal, structureText(result, { a: pathA, b: pathB }, styleOf(terminal)))
  return result.equal ? EXIT.yes : EXIT.no
}

async function compareSides(
  [{ model: a, stored: storedA }, { model: b, stored: storedB }]: readonly [Opened, Opened],
  [pathA, pathB]: readonly [string, string],
  flags: CompareFlags,
  given: Terminal
): Promise<number> {
  if (isStdout(flags.html) && flags.json) badUsage(`--html ${flags.html} and --json both write to stdout`)
  const terminal = forPeople(given, flags.html)
  const model = a ?? b
  const feeding = model ? '' : givenOf(FEEDING, flags)
  if (feeding !== '') badUsage(`recorded values are not run: ${feeding}`)
  const stored = storedA ?? storedB
  const named = model && stored && (await import('../../io/recording.ts')).underNames(stored, namesIn(model.graph))
  const feeds = model ? await feedsFrom(model, flags, await recordedInputs(model, named)) : {}
  const known = [
    valueNames(pathA, a, (named ?? storedA)?.names),
    valueNames(pathB, b, (named ?? storedB)?.names)
  ] as const
  const values = namedPairs('--map', flags.map, 'value', known)
  const inputs =
    a && b && namedPairs('--map-input', flags.mapInput, 'input', [namesOfInputs(pathA, a), namesOfInputs(pathB, b)])
  const comparands = [a ?? named ?? storedA, b ?? named ?? storedB] as [Comparand, Comparand]
  const result = await compareValues(comparands, registryOf(flags), feeds, {
    ...(flags.rtol !== undefined && { rtol: flags.rtol }),
    ...(flags.atol !== undefined && { atol: flags.atol }),
    ...(flags.sqnr !== undefined && { sqnr: flags.sqnr }),
    ...(inputs && { inputs }),
    values,
    ...(flags.isolate === true && { isolate: true })
  }).catch(async (error: unknown) => {
    throw model ? failureIn(model, await toldInputs(model, error, feeds)) : error
  })
  if (flags.html !== undefined) await savePage(flags.html, result, { a: pathA, b: pathB, modelA: a, modelB: b }, given)
  if (flags.json) print(terminal, stringifyExact(comparisonJson(result, flags.all === true), 2))
  else print(terminal, compareText(result, { a: pathA, b: pathB, all: flags.all === true }, styleOf(terminal)))
  return result.equal ? EXIT.yes : EXIT.no
}

/** The inputs of a model that were recorded with its values. */
async function recordedInputs(model: Model, stored: StoredValues | undefined): Promise<Map<string, Value>> {
  const values = new Map<string, Value>()
  const known = new Set(stored?.names)
  for (const port of neededInputs(model)) {
    const name = [port.name, ...port.aliases].find(one => known.has(one))
    if (stored && name !== undefined)
      values.set(port.name, await stored.read(name, declaredElement(callerType(model, 'input', port))))
  }
  return values
}

/** What says that an input is not given shows how to give it, as `nodewise run` does. */
async function toldInputs(model: Model, error: unknown, feeds: object): Promise<unknown> {
  if (!(error instanceof NodewiseError) || error.code !== 'missing-input') return error
  return (await import('../inputs/missing-input.ts')).withExample(model, error, new Set(Object.keys(feeds)))
}

async function savePage(path: string, result: Comparison, subjects: Subjects, { stdout }: Terminal): Promise<void> {
  const { comparePage } = await import('./page.ts')
  await writeTo(path, new TextEncoder().encode(await comparePage(result, subjects)), stdout)
}

function comparisonJson({ equal, first, pairs, outputs, unpaired, isolated }: Comparison, withAll: boolean): Json {
  return {
    equal,
    first: first === undefined ? null : firstJson(first),
    outputs: outputs.map(outputJson),
    pairs: pairs.length,
    unpaired,
    ...(isolated && {
      isolated: isolated.map(({ a, b, distance }) => ({ a: { ...a }, b: { ...b }, ...distanceJson(distance) }))
    }),
    ...(withAll && { all: pairs.map(pairJson) })
  }
}

const firstJson = (first: FirstDifference): Json => ({
  ...pairJson(first),
  inputsEqual: true,
  why: first.why,
  statistics: { a: statisticsJson(first.statistics.a), b: statisticsJson(first.statistics.b) }
})

const statisticsJson = ({ type, dims, min, max, mean, nans }: ValueStatistics): Json => ({
  type,
  dims,
  ...(min !== undefined && { min: number(min) }),
  ...(max !== undefined && { max: number(max) }),
  ...(mean !== undefined && { mean: number(mean) }),
  nans
})

const pairJson = ({ a, b, distance, iteration }: ComparedPair): { readonly [key: string]: Json } => ({
  a: { ...a },
  b: { ...b },
  value: distanceJson(distance),
  ...(iteration !== undefined && { iteration })
})

const outputJson = ({ a, b, distance, problem }: ComparedOutput): Json => ({
  a,
  b,
  equal: distance?.equal ?? false,
  ...(distance && errorsJson(distance)),
  ...(problem !== undefined && { problem })
})

const errorsJson = ({ maxAbsolute, maxRelative, sqnr }: Distance): { readonly [key: string]: Json } => ({
  maxAbsolute: number(maxAbsolute),
  maxRelative: number(maxRelative),
  sqnr: number(sqnr)
})

const distanceJson = (distance: Distance): { readonly [key: string]: Json } => {
  const { position, differing, elements, ties } = distance
  return {
    ...errorsJson(distance),
    ...(position && { position }),
    differing,
    elements,
    ...(ties !== undefined && { ties })
  }
}

/** JSON has no infinities: they are text, as in all documents of the command. */
const number = (value: number): Json => (Number.isFinite(value) ? value : String(value))
