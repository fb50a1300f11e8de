import { type Place, placeText } from '../../errors.ts'
import { printable } from '../../io/print.ts'
import { pathFrom } from '../places.ts'
import { PLAIN } from '../terminal.ts'
import { isChecked, type Reporter, type ReportOptions } from './report.ts'
import { totalsLine } from './text.ts'

const COMMANDS = { error: 'error', warning: 'warning', note: 'notice' } as const

/**
 * The report as workflow commands of GitHub Actions, which shows them at the lines that they name.
 * @param root the folder of the repository; paths are given from there
 */
export function githubReport({ isQuiet }: ReportOptions, root: string): Reporter {
  const lines: string[] = []
  return {
    add(outcome) {
      if (!isChecked(outcome)) {
        const { code, reason, place } = outcome.error
        lines.push(command('error', code, reason, { ...place, file: place.file ?? outcome.file }, root))
        return
      }
      for (const { severity, code, message, place } of outcome.result.findings)
        lines.push(command(COMMANDS[severity], code, message, { ...place, file: place.file ?? outcome.file }, root))
    },
    end: totals => [...lines, ...(isQuiet ? [] : [totalsLine(totals, PLAIN)])].join('\n')
  }
}

function command(name: string, code: string, message: string, { file = '', ...place }: Place, root: string): string {
  const { line, column } = place
  // A file without lines has its place in words.
  const where = printable(placeText(place))
  const properties = [
    `file=${property(pathFrom(root, file))}`,
    ...(line === undefined ? [] : [`line=${line}`]),
    ...(column === undefined ? [] : [`col=${column}`]),
    `title=${property(code)}`
  ]
  return `::${name} ${properties.join(',')}::${data((where === '' ? '' : `${where}: `) + printable(message))}`
}

/** Texts as the runner reads them back: https://github.com/actions/toolkit, packages/core/src/command.ts. */
const data = (text: string): string => text.replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A')
const property = (text: string): string => data(text).replace(/:/g, '%3A').replace(/,/g, '%2C')
