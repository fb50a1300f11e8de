import { spawn } from 'node:child_process'
import { basename, dirname, join, relative } from 'node:path'
import { NodewiseError } from '../../errors.ts'
import { dataFolders, findInside } from '../../files/folder.ts'
import { allGraphs, type Constant, type Graph, type Model } from '../../graph/graph.ts'
import { companionFile } from '../companion.ts'
import { badUsage, EXIT } from '../failure.ts'
import { type ModelFlags, openModel } from '../model.ts'
import { isUrl } from '../places.ts'
import { statOf } from '../stat.ts'
import { isStream } from '../streams.ts'
import { print, type Terminal } from '../terminal.ts'
import { type ServedFile, type ServedModel, servePage } from './page-server.ts'

export interface ViewFlags extends ModelFlags {
  readonly port?: number
  /** False with `--no-open`. */
  readonly open?: boolean
  readonly json?: boolean
  /** A report of `nodewise check`, shown with the model. */
  readonly report?: string
}

/** `nodewise view`: serves the page of the package `nodewise-view`, with a model if one is named, until Ctrl-C. */
export async function view(path: string | undefined, flags: ViewFlags, terminal: Terminal): Promise<number> {
  refuseOthers(path, flags)
  const folder = pageFolder(terminal)
  const model = path === undefined ? undefined : await servedModel(path, flags)
  const { url, close } = await servePage(folder, model, flags.port ?? 0)
  print(terminal, flags.json ? JSON.stringify({ url }) : `${url}\nCtrl-C ends it.`)
  if (flags.open !== false) openBrowser(url)
  await new Promise<void>(resolve => {
    terminal.onInterrupt?.(resolve)
  })
  close()
  return EXIT.interrupted
}

const MAX_PORT = 65_535

/** The page reads parts of files when it needs them: what a shell hands over, and other hosts, have no such parts. */
function refuseOthers(path: string | undefined, { port = 0, report }: ViewFlags): void {
  if (path === undefined && report !== undefined) badUsage('--report is shown with a model: name it, too')
  if (port > MAX_PORT) badUsage(`--port ${port}: ports end at ${MAX_PORT}`)
  if (path !== undefined && isStream(path)) badUsage('view shows a file; stdin is none')
  if (path !== undefined && isUrl(path))
    badUsage('view shows a file of this machine; nodewise view alone opens the page, which takes addresses')
}

/** Where the page lies, in the package nodewise-view. */
const pageFolder = (terminal: Terminal): string =>
  join(dirname(companionFile('view', terminal, '/package.json')), 'dist')

/** The file of a model and those that it names: no other file is served. */
async function servedModel(path: string, flags: ViewFlags): Promise<ServedModel> {
  const model = await openModel(path, flags)
  const main = basename(path)
  const folders = dataFolders(path, flags.dataRoot)
  const files = [{ path: main, file: path }]
  const names = model.dialect === 'openvino' ? [main.replace(/\.xml$/i, '.bin')] : externalNames(model)
  for (const name of names) {
    const file = findInside(name, folders, `"${name}"`)
    if (file !== undefined) files.push({ path: relative('.', name).replaceAll('\\', '/'), file })
  }
  return { main, files, ...(flags.report !== undefined && { report: reportAt(flags.report) }) }
}

function reportAt(file: string): ServedFile {
  if (!statOf(file)?.isFile()) throw new NodewiseError('missing-file', 'there is no such report', { file })
  return { path: basename(file), file }
}

/** The locations of a model's external data. */
function externalNames(model: Model): string[] {
  const names = new Set<string>()
  for (const graph of allGraphs(model))
    for (const { raw } of constantsIn(graph))
      if (raw !== undefined && raw.source.name !== model.source?.name) names.add(raw.source.name)
  return [...names]
}

function* constantsIn({ initializers, nodes }: Graph): Generator<Constant> {
  yield* initializers.values()
  for (const { attributes } of nodes)
    for (const attribute of attributes.values()) {
      if (attribute.kind === 'tensor') yield attribute.value
      else if (attribute.kind === 'tensors') yield* attribute.value
    }
}

/** Opens an address in the user's browser. Where there is none, the address has been printed. */
function openBrowser(url: string): void {
  const [command, args] =
    process.platform === 'darwin'
      ? ['open', [url]]
      : process.platform === 'win32'
        ? ['cmd', ['/c', 'start', '', url]]
        : ['xdg-open', [url]]
  spawn(command, args, { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref()
}
