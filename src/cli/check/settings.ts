import { resolve } from 'node:path'
import type { DeclaredDim, Finding, Model } from '../../graph/graph.ts'
import { badUsage } from '../failure.ts'
import { inputShapes } from '../inputs/input-shapes.ts'
import { inputNames } from '../inputs/inputs.ts'
import { dimNames } from '../inputs/shapes.ts'
import { openDims, splitNamed } from '../options.ts'
import type { OpsFlags } from '../own-ops.ts'
import { pathTest } from '../places.ts'
import type { FoundConfig, InputShapes } from '../project/config.ts'
import type { ProjectFlags } from '../project/project.ts'
import { Baseline } from './baseline.ts'
import { type Filter, ignored } from './ignore.ts'
import type { Format } from './report.ts'

export interface CheckFlags extends ProjectFlags, OpsFlags {
  readonly inputShape?: readonly string[]
  readonly format?: Format
  readonly values?: boolean
  readonly strict?: boolean
  readonly quiet?: boolean
  readonly ignore?: readonly string[]
  readonly baseline?: string
  readonly updateBaseline?: boolean
  readonly fix?: string
  readonly json?: boolean
  readonly debug?: boolean
}

/** The format that is asked for, or else the one that the name of the report tells. */
export function formatOf({ format, json, output = '' }: CheckFlags): Format {
  if (json)
    return format === undefined || format === 'json' ? 'json' : badUsage(`--json contradicts --format ${format}`)
  const suffix = /\.(sarif|html?|json)$/i.exec(output.replace(/\.sarif\.json$/i, '.sarif'))?.[1].toLowerCase()
  return format ?? (suffix === undefined ? 'text' : suffix.startsWith('htm') ? 'html' : (suffix as Format))
}

/** @throws NodewiseError `bad-usage` where options contradict each other */
export function refuseContradictions(
  { values, quiet, updateBaseline, baseline, fix, inputShape }: CheckFlags,
  format: Format
): void {
  if (values && (format === 'sarif' || format === 'github')) badUsage(`--values: ${format} has no place for values`)
  if (fix !== undefined && inputShape)
    badUsage('--fix contradicts --input-shape: nodewise convert --input-shape --infer-shapes declares other dims')
  if (values && quiet) badUsage('--values contradicts --quiet')
  if (updateBaseline && baseline === undefined)
    badUsage('--update-baseline: which file? --baseline, or "baseline" in nodewise.config.json, names it')
}

/** The baseline that the command or the configuration names. */
export const baselinePath = (flags: CheckFlags, { config, folder }: FoundConfig): string | undefined =>
  flags.baseline ?? (config.check?.baseline === undefined ? undefined : resolve(folder, config.check.baseline))

export const openBaseline = ({ baseline, updateBaseline = false }: CheckFlags): Baseline | undefined =>
  baseline === undefined ? undefined : new Baseline(baseline, updateBaseline)

/** All that is to be ignored, by the command and by the configuration. */
export function ignoredIn(flags: CheckFlags, { config: { check = {} }, folder }: FoundConfig, cwd: string): Filter {
  const filters: Filter[] = [
    ignored(flags.ignore ?? [], cwd),
    ignored(check.ignore ?? [], folder),
    ...(check.overrides ?? []).map(({ files, ignore = [] }): Filter => {
      const [isMeant, isIgnored] = [pathTest(files, folder), ignored(ignore, folder)]
      return (finding, file) => isMeant(file) && isIgnored(finding, file)
    })
  ]
  return (finding: Finding, file: string) => filters.some(filter => filter(finding, file))
}

/** Dims of inputs by the command and by the configuration. */
export class Shapes {
  private readonly texts: readonly string[]
  private readonly unused: Set<string>
  private readonly isMany: boolean
  private readonly configured: readonly { readonly isMeant: (file: string) => boolean; readonly shapes: InputShapes }[]

  /** @param isMany dims are for the models that have such an input; one of the command must be for some */
  constructor({ inputShape = [] }: CheckFlags, { config: { check = {} }, folder }: FoundConfig, isMany: boolean) {
    this.texts = inputShape
    this.unused = new Set(inputShape)
    this.isMany = isMany
    this.configured = [
      { isMeant: () => true, shapes: check.inputShapes ?? {} },
      ...(check.overrides ?? []).map(({ files, inputShapes = {} }) => ({
        isMeant: pathTest(files, folder),
        shapes: inputShapes
      }))
    ]
  }

  /** Dims of inputs of a model. */
  of(model: Model): Map<string, readonly DeclaredDim[]> {
    const names = inputNames(model)
    const shapes = new Map<string, readonly DeclaredDim[]>()
    for (const { isMeant, shapes: configured } of this.configured)
      if (isMeant(model.file))
        for (const [name, dims] of Object.entries(configured))
          if (names.includes(name)) shapes.set(name, openDims(`"inputShapes" of ${name}`, `[${dims.join(',')}]`))
    const known = [...names, ...dimNames(model)]
    const meant = this.isMany
      ? this.texts.filter(text => known.includes(splitNamed('--input-shape', text, known).name))
      : this.texts
    for (const [name, dims] of inputShapes(model, meant)) shapes.set(name, dims)
    for (const text of meant) this.unused.delete(text)
    return shapes
  }

  /** @throws NodewiseError `bad-usage` where no model has an input that the command names */
  refuseUnused(): void {
    for (const text of this.unused) badUsage(`--input-shape ${text}: none of the models has such an input or dim`)
  }
}
