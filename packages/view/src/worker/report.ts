import { type Finding, meaningOf, type Model, NodewiseError, type Place } from 'nodewise'
import { nameOf } from '../graph/columns.ts'
import { excerptOf, recordFinder, type ShownFinding } from './facts.ts'
import type { Flat } from './flatten.ts'

/** A report of `nodewise check`, as far as it is about the open model. */
export interface ShownReport {
  readonly name: string
  readonly findings: readonly ShownFinding[]
}

type Fields = Readonly<Record<string, unknown>>
/** What a report says of one file. */
interface Said {
  readonly file: string
  readonly findings: readonly ShownFinding[]
}

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : [])
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
const baseName = (path: string): string => path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)

/**
 * What `nodewise check --format json` or `sarif` wrote of the open model. A report on one file is taken whatever that
 * is called, of one on many that which has the model's name counts.
 * @throws NodewiseError `invalid-file` for what is no report, `missing-file` for one on other models
 */
export function readReport(bytes: Uint8Array, name: string, model: Model, flat: Flat): ShownReport {
  const document = fieldsOf(parsed(bytes, name))
  const said = Array.isArray(document.runs)
    ? saidBySarif(document, new Places(model, flat))
    : saidByJson(document, new Places(model, flat))
  if (said === undefined) throw new NodewiseError('invalid-file', 'this is no report of nodewise check', { file: name })
  const own = said.filter(({ file }) => baseName(file) === baseName(model.file))
  const files = [...new Set(said.map(({ file }) => baseName(file)))]
  if (own.length === 0 && files.length > 1)
    throw new NodewiseError('missing-file', `the report is about ${files.slice(0, 5).join(', ')}, not this model`, {
      file: name
    })
  return { name, findings: (own.length > 0 ? own : said).flatMap(({ findings }) => findings) }
}

function parsed(bytes: Uint8Array, name: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (error) {
    throw new NodewiseError('invalid-file', `this is no JSON: ${(error as Error).message}`, { file: name })
  }
}

/** Finds what places of reports are in the open model. */
class Places {
  readonly model: Model
  readonly recordAt: ReturnType<typeof recordFinder>
  private readonly flat: Flat
  private readonly byWay = new Map<string, number>()

  constructor(model: Model, flat: Flat) {
    this.model = model
    this.flat = flat
    this.recordAt = recordFinder(flat)
    const { columns, nodes } = flat
    nodes.forEach((node, record) => {
      if (!node) return
      const way = [columns.graphs[columns.graph[record]].path, node.layer ?? node.index, nameOf(columns, record)]
      this.byWay.set(way.filter(part => part !== '').join('/'), record)
    })
  }

  /** The record on the way that SARIF names: its graph, node and port or value, joined by slashes as names may be. */
  recordOn(way: string, value: string | undefined): number {
    for (let end = way.length; end > 0; end = way.lastIndexOf('/', end - 1)) {
      const record = this.byWay.get(way.slice(0, end))
      if (record !== undefined) return record
    }
    return this.recordAt({ ...(value !== undefined && { value }) })
  }

  /** A place as the model itself would have it. */
  placed(place: Place): Place {
    const isOwn = place.file !== undefined && baseName(place.file) === baseName(this.model.file)
    return isOwn ? { ...place, file: this.model.file } : place
  }

  nameOf(record: number): Pick<Place, 'node' | 'type'> {
    const { columns } = this.flat
    return record < 0 ? {} : { node: nameOf(columns, record), type: columns.types[columns.type[record]] }
  }
}

/** What a code means; a report may have codes that this version does not know. */
function knownMeaning(code: string): string {
  try {
    return meaningOf(code as Finding['code'])
  } catch {
    return ''
  }
}

const severityOf = (text: unknown): ShownFinding['severity'] => (text === 'error' || text === 'note' ? text : 'warning')

function saidByJson(document: Fields, places: Places): Said[] | undefined {
  const files = Array.isArray(document.files) ? document.files.map(fieldsOf) : [document]
  if (files.some(({ model }) => typeof model !== 'string')) return undefined
  return files.map(file => ({
    file: textOf(file.model)!,
    findings: [...listOf(file.findings).map(fieldsOf), ...failureIn(file)].map(finding => findingOf(finding, places))
  }))
}

/** A file that could not be checked has a failure in place of findings. */
function failureIn({ error }: Fields): Fields[] {
  const failure = fieldsOf(error)
  return textOf(failure.code) === undefined ? [] : [{ ...failure, severity: 'error' }]
}

function findingOf(finding: Fields, places: Places): ShownFinding {
  const code = textOf(finding.code) ?? ''
  const [declared, inferred] = [textOf(finding.declared), textOf(finding.inferred)]
  const place = places.placed(placeOf(fieldsOf(finding.place)))
  return {
    code,
    severity: severityOf(finding.severity),
    message: textOf(finding.message) ?? '',
    meaning: knownMeaning(code),
    ...(declared !== undefined && { declared }),
    ...(inferred !== undefined && { inferred }),
    place,
    record: places.recordAt(place),
    ...excerptOf(places.model, place)
  }
}

const TEXTS = ['file', 'graph', 'graphPath', 'node', 'type', 'version', 'layer', 'port', 'value'] as const
const NUMBERS = ['line', 'column', 'offset', 'nodeIndex'] as const

function placeOf(fields: Fields): Place {
  const place: Place = {}
  for (const name of TEXTS) if (textOf(fields[name]) !== undefined) place[name] = textOf(fields[name])!
  for (const name of NUMBERS) if (numberOf(fields[name]) !== undefined) place[name] = numberOf(fields[name])!
  return place
}

function saidBySarif({ runs }: Fields, places: Places): Said[] {
  return listOf(runs).flatMap(run => {
    const { artifacts, results } = fieldsOf(run)
    const files = listOf(artifacts).map(artifact => ({ file: uriOf(fieldsOf(artifact).location), findings: [] }))
    return [...files, ...listOf(results).map(result => saidByResult(fieldsOf(result), places))]
  })
}

function uriOf(location: unknown): string {
  const uri = textOf(fieldsOf(location).uri) ?? ''
  try {
    return decodeURIComponent(uri)
  } catch {
    return uri
  }
}

function saidByResult(result: Fields, places: Places): Said {
  const { physicalLocation, logicalLocations } = fieldsOf(listOf(result.locations)[0])
  const { artifactLocation, region } = fieldsOf(physicalLocation)
  const { startLine, startColumn } = fieldsOf(region)
  const { fullyQualifiedName, name, kind } = fieldsOf(listOf(logicalLocations)[0])
  const { declared, inferred } = fieldsOf(result.properties)
  const [way, value] = [textOf(fullyQualifiedName) ?? '', kind === 'value' ? textOf(name) : undefined]
  const record = places.recordOn(way, value)
  const [line, column] = [numberOf(startLine), numberOf(startColumn)]
  const code = textOf(result.ruleId) ?? ''
  return {
    file: uriOf(artifactLocation),
    findings: [
      {
        code,
        severity: severityOf(result.level),
        message: plainText(textOf(fieldsOf(result.message).text) ?? ''),
        meaning: knownMeaning(code),
        ...(textOf(declared) !== undefined && { declared: textOf(declared)! }),
        ...(textOf(inferred) !== undefined && { inferred: textOf(inferred)! }),
        place: {
          ...(line !== undefined && { line }),
          ...(column !== undefined && { column }),
          ...(value !== undefined && { value }),
          ...(record < 0 && way !== '' && { node: way }),
          ...places.nameOf(record)
        },
        record
      }
    ]
  }
}

/** Braces stand twice in messages of SARIF, and brackets before a parenthesis are escaped. */
const plainText = (text: string): string => text.replace(/\{\{|\}\}/g, twice => twice[0]).replace(/\\\](?=\()/g, ']')
