import type { Registry } from '../../bind/registry.ts'
import type { NodewiseError } from '../../errors.ts'
import type { Model } from '../../graph/graph.ts'
import { type Json, stringifyExact } from '../../io/json-text.ts'
import { printable } from '../../io/print.ts'
import { badUsage, EXIT, failureIn, failureJson, failureOf, reportFailure } from '../failure.ts'
import { openModel } from '../model.ts'
import { type OpsFlags, registryOf } from '../own-ops.ts'
import { deliver, type ProjectFlags, projectOf } from '../project/project.ts'
import { statOf } from '../stat.ts'
import { counted, reportStyle, startProgress, type Style, type Terminal } from '../terminal.ts'
import { describeModel } from './describe.ts'
import { inspectText } from './text.ts'

export interface InspectFlags extends ProjectFlags, OpsFlags {
  readonly graph?: 'dot' | 'mermaid' | 'svg'
  readonly plan?: boolean
  readonly text?: boolean
  readonly nodes?: boolean
  readonly attributes?: boolean
  readonly weights?: boolean
  readonly statistics?: boolean
  readonly filter?: readonly string[]
  readonly node?: string
  readonly json?: boolean
  readonly debug?: boolean
}

/** `nodewise inspect <models…>` */
export async function inspect(args: readonly string[], flags: InspectFlags, terminal: Terminal): Promise<number> {
  refuseContradictions(flags)
  const { selection, opening } = await projectOf(args, flags, terminal)
  const { files, failures, isMany } = selection
  if (isMany && flags.graph !== undefined) badUsage('--graph draws one model')
  const registry = registryOf(flags)
  const style = reportStyle(terminal, flags.output)
  const parts: string[] = []
  const documents: Json[] = []
  const fail = (error: NodewiseError): void => {
    if (!isMany) throw error
    documents.push({ file: error.place.file ?? '', ...(failureJson(error) as { error: Json }) })
    reportFailure(error, { json: false, debug: flags.debug === true }, terminal)
  }
  failures.forEach(fail)
  const progress = startProgress(terminal)
  for (const [i, file] of files.entries()) {
    progress.show(() => `${i} of ${counted(files.length, 'file')} read, now ${file}`)
    try {
      const model = await openModel(file, { ...opening, docs: true }, { terminal, whole: readsWeights(flags) })
      const found = await inspectModel(model, flags, registry, style, isMany).catch((error: unknown) => {
        throw failureIn(model, error)
      })
      parts.push(found.text)
      documents.push(found.document)
    } catch (error) {
      progress.end()
      fail(failureOf(error))
    }
  }
  progress.end()
  const failed = documents.length - parts.length
  const report = isMany ? { files: documents, summary: { files: documents.length, failed } } : documents[0]
  await deliver(flags.json ? stringifyExact(report, 2) : parts.join('\n\n'), flags.output, terminal)
  return failed > 0 ? EXIT.failed : EXIT.yes
}

/** What shows elements of weights needs them at hand. */
const readsWeights = ({ statistics, text, node }: InspectFlags): boolean =>
  statistics === true || text === true || node !== undefined

function refuseContradictions({
  graph,
  output,
  plan,
  text,
  nodes,
  attributes,
  weights,
  statistics,
  filter,
  node
}: InspectFlags): void {
  const others = Object.entries({ plan, text, nodes, attributes, weights, statistics, node }).filter(([, on]) => on)
  if (graph !== undefined && others.length > 0) badUsage(`--graph contradicts --${others[0][0]}`)
  const picture = /\.(png|jpe?g|webp|gif|pdf)$/i.exec(output ?? '')?.[1]
  if (picture !== undefined) badUsage(`-o: what is written is text, no .${picture}; --graph svg -o model.svg draws one`)
  if (filter && !nodes && !attributes && !weights && !statistics)
    badUsage('--filter goes with --nodes, --attributes, --weights or --statistics')
}

interface Inspected {
  readonly text: string
  readonly document: Json
}

/**
 * What is asked of a model: its overview, or else the parts that are named; JSON has both.
 * @param isTitled whether parts have the model's name above them, as overviews do
 */
async function inspectModel(
  model: Model,
  flags: InspectFlags,
  registry: Registry,
  style: Style,
  isTitled: boolean
): Promise<Inspected> {
  const { graph, filter = [], statistics = false } = flags
  const texts: string[] = []
  const overview = describeModel(model, registry, sizeOf(model.file))
  const document: Record<string, unknown> = { ...overview }
  if (graph !== undefined) {
    const { draw } = await import('../draw/draw.ts')
    const text = graph === 'svg' ? await (await import('../draw/svg.ts')).drawSvg(model) : draw(model, graph)
    document.graphText = text
    texts.push(text)
  }
  if (flags.text) {
    const { modelText } = await import('./source.ts')
    const text = modelText(model)
    document.modelText = text
    texts.push(text)
  }
  if (flags.plan) {
    const { describePlan, planText } = await import('./plan.ts')
    const plan = describePlan(model, registry)
    document.plan = plan
    texts.push(planText(plan, style))
  }
  if (flags.nodes || flags.attributes) {
    const { listNodes, nodesText } = await import('./nodes.ts')
    const list = listNodes(model, registry, { filter, withAttributes: flags.attributes === true })
    document.nodeList = list
    texts.push(nodesText(list, style))
  }
  if (flags.weights || statistics) {
    const { listWeights, weightsText } = await import('./weights.ts')
    const list = listWeights(model, filter, statistics)
    document.weights = list
    texts.push(weightsText(list, style))
  }
  if (flags.node !== undefined) {
    const [{ nodesNamed, nodeText }, { describeNodes }] = await Promise.all([import('./node.ts'), import('./nodes.ts')])
    const found = nodesNamed(model, flags.node)
    document.node = describeNodes(model, registry, found, true)
    texts.push(nodeText(model, registry, found, style))
  }
  if (texts.length > 0 && isTitled) texts.unshift(style.bold(printable(model.file)))
  const text = texts.length > 0 ? texts.join('\n\n') : inspectText(overview, style)
  return { text, document: document as Json }
}

const sizeOf = (path: string): number | undefined => statOf(path)?.size
