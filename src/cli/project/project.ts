import { relative, resolve } from 'node:path'
import { badUsage } from '../failure.ts'
import type { ModelFlags } from '../model.ts'
import { pathTest } from '../places.ts'
import { print, type Terminal } from '../terminal.ts'
import { findConfig, type FoundConfig } from './config.ts'
import { selectFiles, type Selection } from './select.ts'

/** Options of the commands that take many files. */
export interface ProjectFlags extends ModelFlags {
  /** A path; `false` for no configuration. */
  readonly config?: string | false
  readonly onlyModels?: boolean
  readonly output?: string
}

/** What a command is about, by its arguments and the configuration. */
export interface Project extends FoundConfig {
  readonly selection: Selection
  /** How models are opened. */
  readonly opening: ModelFlags
}

/** @throws NodewiseError `bad-usage`, and what reading the configuration throws */
export async function projectOf(args: readonly string[], flags: ProjectFlags, terminal: Terminal): Promise<Project> {
  const found = findConfig(flags.config, terminal.cwd)
  const { config, folder } = found
  const files = args.length > 0 ? args : (config.files ?? [])
  if (files.length === 0) badUsage('which models? name files, folders or globs, or "files" in nodewise.config.json')
  const selection = await selectFiles(files, {
    ...(args.length === 0 && { folder: relative(terminal.cwd, folder) }),
    isExcluded: pathTest(config.exclude ?? [], folder),
    ...(flags.onlyModels !== undefined && { onlyModels: flags.onlyModels })
  })
  const { output } = flags
  const isInput = (file: string): boolean => output !== undefined && resolve(file) === resolve(output)
  if (selection.files.some(isInput)) badUsage(`-o ${output}: this is one of the models`)
  const dataRoot = flags.dataRoot ?? (config.dataRoot === undefined ? undefined : resolve(folder, config.dataRoot))
  const limit = [
    ...Object.entries(config.limits ?? {}).map(([name, value]) => `${name}=${value}`),
    ...(flags.limit ?? [])
  ]
  const { header = [], allowOrigin = [] } = flags
  const opening = { ...(dataRoot !== undefined && { dataRoot }), limit, header, allowOrigin }
  return { ...found, selection, opening }
}

/** Puts a report into a file, whole or not at all, or on stdout, where an empty one prints nothing. */
export async function deliver(report: string, output: string | undefined, terminal: Terminal): Promise<void> {
  if (output !== undefined && output !== '-') {
    const { writeTo } = await import('../streams.ts')
    await writeTo(output, new TextEncoder().encode(report === '' ? '' : `${report}\n`), terminal.stdout)
  } else if (report !== '') print(terminal, report)
}
