import { printable } from '../../io/print.ts'
import { counted, dimsText, grouped, PLAIN, type Style, table } from '../terminal.ts'
import type { DescribedPort, Inspection } from './inspection.ts'

/** An inspection for people. */
export function inspectText(model: Inspection, style: Style = PLAIN): string {
  const section = sectionIn(style)
  const metadata = Object.entries(model.metadata).map(([key, value]) => [key, shortened(value)])
  const missing = printable(model.unsupported.join(', '))
  return [
    section(model.file, facts(model)),
    section('inputs', portRows(model.inputs)),
    ...(model.overridable.length > 0
      ? [section('inputs with a default value (initializers)', portRows(model.overridable))]
      : []),
    section('outputs', portRows(model.outputs)),
    ...(model.functions.length > 0
      ? [
          section(
            'functions',
            model.functions.map(name => [name])
          )
        ]
      : []),
    section(
      'operators',
      Object.entries(model.ops).map(([name, count]) => [
        grouped(count),
        name,
        ...(model.unsupported.includes(name) ? ['(cannot be run)'] : [])
      ]),
      [0]
    ),
    ...(metadata.length > 0 ? [section('metadata', metadata)] : []),
    ...(model.notes.length > 0
      ? [
          section(
            'notes',
            model.notes.map(note => [note])
          )
        ]
      : []),
    model.unsupported.length === 0
      ? 'Every operator can be run.'
      : style.yellow(`${counted(model.unsupported.length, 'operator')} cannot be run: ${missing}`)
  ].join('\n')
}

function facts(model: Inspection): string[][] {
  const inside = [
    ...(model.bodies > 0 ? [model.bodies === 1 ? '1 body' : `${grouped(model.bodies)} bodies`] : []),
    ...(model.functions.length > 0 ? [counted(model.functions.length, 'function')] : [])
  ]
  const opsets = Object.entries(model.opsets).map(([name, version]) =>
    model.format === 'onnx' ? `${name} ${version}` : name
  )
  return [
    [
      'format',
      model.format === 'onnx'
        ? `ONNX, IR version ${model.irVersion}`
        : `OpenVINO IR, ${model.irVersion === 0 ? 'a bare layer' : `version ${model.irVersion}`}`
    ],
    ['opsets', opsets.join(', ') || 'none'],
    ['producer', model.producer || 'not named'],
    ...(model.modelVersion === undefined ? [] : [['version', String(model.modelVersion)]]),
    ...(model.domain === undefined ? [] : [['domain', model.domain]]),
    ...(model.doc === undefined ? [] : [['doc', shortened(model.doc)]]),
    ['graph', model.graph || 'not named'],
    ['nodes', `${grouped(model.nodes)}${inside.length > 0 ? `, those of ${inside.join(' and ')} included` : ''}`],
    ['weights', `${counted(model.parameters, 'parameter')}, ${counted(model.weightBytes, 'byte')}`],
    ...(model.fileBytes === undefined ? [] : [['file', counted(model.fileBytes, 'byte')]])
  ]
}

/** A title and rows below it in columns; nothing of the file reaches the terminal as a control. */
const sectionIn =
  ({ bold }: Style) =>
  (title: string, rows: readonly (readonly string[])[], right: readonly number[] = []): string => {
    const cells = rows.map(row => row.map(printable))
    return [bold(printable(title)), ...table(cells, right).map(line => `  ${line}`), ''].join('\n')
  }

const portRows = (ports: readonly DescribedPort[]): string[][] =>
  ports.length === 0 ? [['none']] : ports.map(({ name, type, dims }) => [name, type ?? '?', dimsText(dims, type)])

const MAX_LENGTH = 100

const shortened = (text: string): string => (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text)
