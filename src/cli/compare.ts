import { compareModels } from '../compare/compare.ts'
import type { Distance } from '../compare/measure.ts'
import type { ComparedOutput, ComparedPair, Comparison, FirstDifference, ValueStatistics } from '../compare/result.ts'
import { type Json, stringifyExact } from '../io/json-text.ts'
import { compareText } from './compare-text.ts'
import { EXIT, failureIn } from './failure.ts'
import { feedsFrom } from './fill.ts'
import type { InputFlags } from './inputs.ts'
import { type ModelFlags, openModel } from './model.ts'
import { splitNamed } from './options.ts'
import { type OpsFlags, registryOf } from './own-ops.ts'
import { print, styleOf, type Terminal } from './terminal.ts'

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
  readonly json?: boolean
}

/** `nodewise compare <a> <b>` */
export async function compare(
  [pathA, pathB]: readonly [string, string],
  flags: CompareFlags,
  terminal: Terminal
): Promise<number> {
  const [a, b] = [await openModel(pathA, flags), await openModel(pathB, flags)]
  const feeds = await feedsFrom(a, flags)
  const result = await compareModels([a, b], registryOf(flags), feeds, {
    ...(flags.rtol !== undefined && { rtol: flags.rtol }),
    ...(flags.atol !== undefined && { atol: flags.atol }),
    ...(flags.sqnr !== undefined && { sqnr: flags.sqnr }),
    inputs: namedPairs('--map-input', flags.mapInput),
    values: namedPairs('--map', flags.map),
    ...(flags.isolate === true && { isolate: true })
  }).catch((error: unknown) => {
    throw failureIn(a, error)
  })
  if (flags.json) print(terminal, stringifyExact(comparisonJson(result, flags.all === true), 2))
  else print(terminal, compareText(result, { a: pathA, b: pathB, all: flags.all === true }, styleOf(terminal)))
  return result.equal ? EXIT.yes : EXIT.no
}

const namedPairs = (option: string, texts: readonly string[] = []): ReadonlyMap<string, string> =>
  new Map(texts.map(text => splitNamed(option, text, [])).map(({ name, value }) => [name, value]))

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
  ...(distance && {
    maxAbsolute: number(distance.maxAbsolute),
    maxRelative: number(distance.maxRelative),
    sqnr: number(distance.sqnr)
  }),
  ...(problem !== undefined && { problem })
})

const distanceJson = ({
  maxAbsolute,
  maxRelative,
  sqnr,
  position,
  differing,
  elements
}: Distance): { readonly [key: string]: Json } => ({
  maxAbsolute: number(maxAbsolute),
  maxRelative: number(maxRelative),
  sqnr: number(sqnr),
  ...(position && { position }),
  differing,
  elements
})

/** JSON has no infinities: they are text, as in all documents of the command. */
const number = (value: number): Json => (Number.isFinite(value) ? value : String(value))
