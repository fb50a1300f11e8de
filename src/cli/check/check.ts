import type { Registry } from '../../bind/registry.ts'
import { check as checkModel } from '../../check/check.ts'
import type { CheckResult } from '../../check/result.ts'
import { fileSource } from '../../files/byte-source.ts'
import type { Finding } from '../../graph/graph.ts'
import { badUsage, EXIT, failureIn, failureOf, reportFailure } from '../failure.ts'
import { type ModelFlags, openModel } from '../model.ts'
import { isUrl } from '../places.ts'
import { deliver, type Project, projectOf } from '../project/project.ts'
import { isStream } from '../streams.ts'
import { counted, reportStyle, startProgress, type Terminal, warn } from '../terminal.ts'
import type { Baseline } from './baseline.ts'
import { fingerprints } from './fingerprint.ts'
import type { Filter } from './ignore.ts'
import { type Checked, type Format, isChecked, type Outcome, type Reporter, Tally } from './report.ts'
import {
  baselinePath,
  type CheckFlags,
  formatOf,
  ignoredIn,
  openBaseline,
  refuseContradictions,
  Shapes
} from './settings.ts'
import { shortened } from './shorten.ts'
import { textReport } from './text.ts'

/** Put in when the program is bundled: that of package.json. */
declare const NODEWISE_VERSION: string

/** What every file is checked with. */
interface Settings {
  readonly flags: CheckFlags
  readonly opening: ModelFlags
  readonly registry: Registry
  readonly shapes: Shapes
  readonly isIgnored: Filter
  readonly baseline: Baseline | undefined
}

/** `nodewise check <models…>` */
export async function check(args: readonly string[], given: CheckFlags, terminal: Terminal): Promise<number> {
  const format = formatOf(given)
  const project = await projectOf(args, given, terminal)
  const { config, selection } = project
  const path = baselinePath(given, project)
  const flags: CheckFlags = {
    ...given,
    strict: given.strict ?? config.check?.strict ?? false,
    ...(path !== undefined && { baseline: path })
  }
  refuseContradictions(flags, format)
  if (flags.fix !== undefined && selection.isMany) badUsage('--fix writes one model')
  const settings = await settingsOf(flags, project, terminal)
  const reporter = await reporterFor(format, flags, selection.isMany, terminal)
  const { totals } = await checkFiles(project, settings, reporter, format, terminal)
  settings.shapes.refuseUnused()
  await deliver(reporter.end(totals), flags.output, terminal)
  const { baseline } = settings
  if (flags.updateBaseline && baseline) await deliver(baseline.text().trimEnd(), baseline.path, terminal)
  if (totals.failed > 0) return EXIT.failed
  return totals.errors > 0 || (flags.strict && totals.warnings > 0) ? EXIT.no : EXIT.yes
}

async function settingsOf(flags: CheckFlags, project: Project, terminal: Terminal): Promise<Settings> {
  const { rulesOf } = await import('../own-ops.ts')
  return {
    flags,
    opening: project.opening,
    registry: rulesOf(flags),
    shapes: new Shapes(flags, project, project.selection.isMany),
    isIgnored: ignoredIn(flags, project, terminal.cwd),
    baseline: openBaseline(flags)
  }
}

async function reporterFor(
  format: Format,
  { values = false, quiet = false, output }: CheckFlags,
  isMany: boolean,
  terminal: Terminal
): Promise<Reporter> {
  const options = {
    isMany,
    withValues: values,
    isQuiet: quiet,
    version: NODEWISE_VERSION,
    folder: terminal.cwd
  }
  switch (format) {
    case 'json':
      return (await import('./json.ts')).jsonReport(options)
    case 'sarif':
      return (await import('./sarif.ts')).sarifReport(options)
    case 'html':
      return (await import('./page.ts')).pageReport(options)
    case 'github':
      return (await import('./github.ts')).githubReport(options, terminal.env.GITHUB_WORKSPACE || terminal.cwd)
    case 'text':
      return textReport(options, reportStyle(terminal, output))
  }
}

/** Checks one file after the other and hands what comes out to the report; what cannot be checked is told at once. */
async function checkFiles(
  { selection: { files, failures, isMany } }: Project,
  settings: Settings,
  reporter: Reporter,
  format: Format,
  terminal: Terminal
): Promise<Tally> {
  const { flags } = settings
  // A single file that cannot be checked ends the command as it ends others, unless the report has a form for it.
  const throws = !isMany && (format === 'text' || format === 'json')
  const tally = new Tally()
  const add = (outcome: Outcome): void => {
    if (!isChecked(outcome)) {
      if (throws) throw outcome.error
      reportFailure(outcome.error, { json: false, debug: flags.debug === true }, terminal)
    }
    reporter.add(outcome)
    tally.add(outcome)
  }
  for (const error of failures) add({ file: error.place.file ?? '', error })
  const progress = startProgress(terminal)
  let gone = 0
  for (const [i, file] of files.entries()) {
    progress.show(() => `${i} of ${counted(files.length, 'file')} checked, now ${file}`)
    const outcome = await checkFile(file, settings)
    progress.end()
    if (isChecked(outcome)) gone += outcome.gone
    add(outcome)
  }
  if (gone > 0 && !flags.updateBaseline && !flags.quiet)
    warn(terminal, `${counted(gone, 'known finding')} no longer there; --update-baseline takes out what is gone`)
  return tally
}

async function checkFile(file: string, settings: Settings): Promise<Outcome> {
  try {
    const model = await openModel(file, settings.opening, { whole: settings.flags.fix !== undefined })
    try {
      const { strict = false } = settings.flags
      const inputShapes = settings.shapes.of(model)
      const result = shortened(checkModel(model, settings.registry, { inputShapes, strict }))
      // What came through a pipe is gone once it has been read.
      const isFile = !isUrl(file) && !isStream(file)
      const source = model.dialect === 'openvino' && isFile ? fileSource(file) : undefined
      const { fix } = settings.flags
      const changed =
        fix === undefined ? undefined : await (await import('./fix.ts')).writeFixed(model, fix, settings.registry)
      return { file, model, source, ...reported(file, result, settings), ...(changed && { changed }) }
    } catch (error) {
      throw failureIn(model, error)
    }
  } catch (error) {
    return { file, error: failureOf(error) }
  }
}

/** What is left of the findings of a file once those that are ignored or known are left out. */
function reported(
  file: string,
  result: CheckResult,
  { flags: { strict, quiet, updateBaseline }, isIgnored, baseline }: Settings
): Omit<Checked, 'file' | 'model' | 'source'> {
  const named = fingerprints(result.findings).map((fingerprint, i) => ({ fingerprint, finding: result.findings[i] }))
  const wanted = named.filter(({ finding }) => !isIgnored(finding, file))
  if (updateBaseline) baseline?.replace(file, wanted)
  const fresh = wanted.filter(({ fingerprint }) => !baseline?.has(file, fingerprint))
  const count = (severity: Finding['severity']): number =>
    fresh.filter(({ finding }) => finding.severity === severity).length
  const counts = (finding: Finding): boolean =>
    finding.severity === 'error' || (strict === true && finding.severity === 'warning')
  const shown = quiet ? fresh.filter(({ finding }) => counts(finding)) : fresh
  return {
    result: {
      findings: shown.map(({ finding }) => finding),
      summary: { ...result.summary, errors: count('error'), warnings: count('warning') },
      get values() {
        return result.values
      }
    },
    fingerprints: shown.map(({ fingerprint }) => fingerprint),
    ignored: named.length - fresh.length,
    gone: baseline?.goneFrom(file, new Set(named.map(({ fingerprint }) => fingerprint))) ?? 0
  }
}
