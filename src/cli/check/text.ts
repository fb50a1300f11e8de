import type { CheckedValue } from '../../check/result.ts'
import { placeText } from '../../errors.ts'
import type { ByteSource } from '../../files/byte-source.ts'
import type { Finding } from '../../graph/graph.ts'
import { printable } from '../../io/print.ts'
import { excerptAt } from '../../report/excerpt.ts'
import { type Box, type Line, neighbourFinder, type Neighbourhood, type Said } from '../../report/neighbours.ts'
import { valueText } from '../../report/words.ts'
import { counted, dimsText, grouped, PLAIN, type Style, table } from '../terminal.ts'
import { type Checked, isChecked, type Reporter, type ReportOptions, type Totals } from './report.ts'

const TINT = { error: 'red', warning: 'yellow', note: 'cyan' } as const
const SEVERITIES = ['error', 'warning', 'note'] as const
/** Notes of one code beyond these are only counted. */
const MAX_NOTES = 10
/** Findings beyond these are shown without what is around them. */
const MAX_EXCERPTS = 200
/** Inputs and readers of a node that are listed. */
const MAX_LINES = 6

/** The report for people: of each file its findings; then the summary of all. */
export function textReport({ withValues, isQuiet, isMany }: ReportOptions, style: Style = PLAIN): Reporter {
  const blocks: string[] = []
  return {
    add(outcome) {
      // What could not be checked is told where failures are.
      if (!isChecked(outcome)) return
      if (withValues && isMany) blocks.push(style.bold(printable(outcome.file)))
      blocks.push(...fileBlocks(outcome, withValues, style))
    },
    end: totals => [...blocks, ...(isQuiet ? [] : [totalsLine(totals, style)])].join('\n\n')
  }
}

/** Errors, warnings, notes of a file, each with what the file says there. */
function fileBlocks({ model, result, source, changed = [] }: Checked, withValues: boolean, style: Style): string[] {
  const { findings, values } = result
  const find = neighbourFinder(model, result)
  const around = (finding: Finding): string[] => {
    const excerpt = source && finding.place.file === model.file ? excerptLines(source, finding, style) : undefined
    return excerpt ?? neighbourLines(find(finding.place), finding, style)
  }
  const blocks = SEVERITIES.flatMap(severity => {
    const some = findings.filter(finding => finding.severity === severity)
    if (severity === 'note') return noteBlocks(some, style)
    return some.map((finding, i) => [findingLine(finding, style), ...(i < MAX_EXCERPTS ? around(finding) : [])])
  })
  const fixed = changed.map(({ node, how }) => printable(`fixed: ${node}: ${how}`))
  const last = fixed.length > 0 ? [fixed] : []
  return [...(withValues ? [valueLines(values)] : []), ...blocks, ...last].map(lines => lines.join('\n'))
}

function findingLine(finding: Finding, style: Style): string {
  const { severity, code, message, place } = finding
  const where = placeText(place)
  const head = printable(where)
  const text = valueText(finding, where)
  const value = text === '' ? '' : `${text}: `
  const tag = style[TINT[severity]](`[${severity}: ${code}]`)
  return `${style.bold(head)}${head === '' ? '' : ': '}${printable(value + message)} ${tag}`
}

function noteBlocks(notes: readonly Finding[], style: Style): string[][] {
  return [...new Set(notes.map(({ code }) => code))].map(code => {
    const some = notes.filter(note => note.code === code)
    const more = some.length - MAX_NOTES
    return [
      ...some.slice(0, MAX_NOTES).map(note => findingLine(note, style)),
      ...(more > 0 ? [style.dim(`and ${counted(more, 'more note')} ${code} (--format json lists all)`)] : [])
    ]
  })
}

function excerptLines(source: ByteSource, { place, severity }: Finding, style: Style): string[] | undefined {
  const excerpt = excerptAt(source, place)
  if (excerpt === undefined) return undefined
  const width = Math.max(...excerpt.lines.map(({ number }) => `${number}`.length))
  const gutter = (text: string): string => style.dim(`  ${text.padStart(width)} |`)
  return [
    ...excerpt.lines.map(({ number, text }) => `${gutter(`${number}`)} ${text}`.trimEnd()),
    `${gutter('')} ${style[TINT[severity]](excerpt.marker)}`
  ]
}

/** What a file without lines has in place of an excerpt: the node, what it reads and who reads it. */
function neighbourLines(neighbourhood: Neighbourhood | undefined, { place }: Finding, style: Style): string[] {
  if (!neighbourhood) return []
  const { box, inputs, outputs } = neighbourhood
  const { dim } = style
  const ends = (lines: readonly Line[], arrow: string, word: string): string[] =>
    shortened(
      lines.map(line => `${arrow} ${lineText(line, style)}  ${dim(`${word} ${boxText(line.box)}`)}`),
      style
    )
  const path = place.graphPath ? ` in ${place.graphPath}` : ''
  return [
    // The first line of the finding names its node already.
    ...(place.nodeIndex === undefined ? [`  ${dim('|')} ${printable(boxText(box) + path)}`] : []),
    ...ends(inputs, '<-', 'from'),
    ...ends(outputs, '->', 'to')
  ]
}

/** `Gather "emb"` */
export const boxText = ({ type, name }: Box): string => printable(name === '' ? type : `${type} "${name}"`)

/** A value with its type and dims, and what the file says of them where that differs. */
export function lineText({ value, inferred, declared, received }: Line, { red, dim }: Style): string {
  const said = (word: string, what: Said | undefined): string =>
    what ? `, ${(what.isFalse ? red : dim)(printable(`${word} ${what.text}`))}` : ''
  return `${printable(value)}: ${printable(inferred)}${said('declared', declared)}${said('read as', received)}`
}

function shortened(lines: readonly string[], { dim }: Style): string[] {
  const more = lines.length - MAX_LINES
  return [...lines.slice(0, MAX_LINES), ...(more > 0 ? [dim(`… ${more} more`)] : [])].map(
    line => `  ${dim('|')}   ${line}`
  )
}

/** The last line of a report for people. */
export function totalsLine(totals: Totals, { red, yellow, green }: Style): string {
  const { files, failed, ignored, errors, warnings, nodes, values, unknownShapes, unverified } = totals
  const counts = [
    counted(nodes, 'node'),
    counted(values, 'value'),
    `${counted(unknownShapes, 'value')} of unknown rank`,
    ...(unverified > 0 ? [`${counted(unverified, 'value')} not verified`] : [])
  ]
  const tint = errors + failed > 0 ? red : warnings > 0 ? yellow : green
  const found = [
    counted(errors, 'error'),
    counted(warnings, 'warning'),
    ...(ignored > 0 ? [`${grouped(ignored)} ignored`] : []),
    ...(failed > 0 ? [`${counted(failed, 'file')} not checked`] : [])
  ]
  const where = files === 1 ? '' : ` in ${counted(files, 'file')}`
  return `${tint(found.join(', '))}${where} (${counts.join(', ')})`
}

function valueLines(values: readonly CheckedValue[]): string[] {
  return table(
    values.map(({ name, graphPath, type, dims, declaredDims, note }) => {
      const declared =
        declaredDims !== undefined && dimsText(declaredDims) !== dimsText(dims)
          ? `declared ${dimsText(declaredDims)}`
          : ''
      const path = graphPath === '' ? '' : `${graphPath}/`
      return [
        path + name,
        type ?? '?',
        dimsText(dims, type),
        [declared, note ?? ''].filter(text => text !== '').join('; ')
      ].map(printable)
    })
  )
}
