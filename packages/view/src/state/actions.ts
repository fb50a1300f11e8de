import { batch } from '@preact/signals'
import { countOf, nameOf as recordName, recordNamed } from '../graph/columns.ts'
import { ancestorsOf, isGroup, labelOf, openedAtFirst, recordOf, rootOf } from '../graph/tree.ts'
import { CallFailure, type Failure } from '../worker/rpc.ts'
import type { GivenFile } from '../worker/sources.ts'
import { download, isReport, modelAmong } from './files.ts'
import { readLink, writeLink } from './link.ts'
import * as store from './store.ts'
import { workers } from './workers.ts'

const failureOf = (error: unknown): Failure =>
  error instanceof CallFailure
    ? error.failure
    : { code: 'missing-file', message: error instanceof Error ? error.message : String(error), place: '' }

/** Counts openings: what comes late from an earlier one is left aside. */
let turn = 0

/** Opens the model among files. What is wrong with it is shown; the page goes on. */
export async function openFiles(files: readonly GivenFile[], name?: string): Promise<void> {
  store.failure.value = undefined
  if (files.length > 0 && files.every(isReport) && store.opened.value) return openReport(files[0])
  const mine = ++turn
  const main = name === undefined ? modelAmong(files.filter(file => !isReport(file))) : at(files, name)
  if (!main) {
    store.failure.value = {
      code: 'missing-file',
      message: files.length === 0 ? 'nothing was given' : 'none of the files is a model (.onnx, .xml or .onnxtxt)',
      place: files
        .map(({ path }) => path)
        .slice(0, 5)
        .join(', ')
    }
    return
  }
  if (store.phase.value === 'start') store.phase.value = 'loading'
  store.busy.value = `Reading ${main.path}`
  const { engine, layout } = workers()
  try {
    const opened = await engine.call.open(files, main.path)
    const grouped = await layout.call.group('own', opened.handed)
    if (mine !== turn) return
    batch(() => {
      forget()
      store.files.value = files
      store.opened.value = opened
      store.tree.value = grouped.tree
      store.open.value = grouped.open
      store.scene.value = grouped.changes
      store.phase.value = 'open'
      store.busy.value = 'Working out shapes'
    })
    document.title = `${opened.overview.file} · Nodewise`
    const facts = await engine.call.facts()
    if (mine !== turn) return
    batch(() => {
      store.facts.value = facts
      store.ownFacts.value = facts
      store.busy.value = ''
    })
    followLink()
    await openReportAmong(files)
  } catch (error) {
    if (mine !== turn) return
    batch(() => {
      store.failure.value = failureOf(error)
      store.busy.value = ''
      if (!store.opened.value) store.phase.value = 'start'
    })
  }
}

const at = (files: readonly GivenFile[], name: string): GivenFile | undefined => files.find(({ path }) => path === name)

/** Shows the findings of a report in place of the page's own. */
export async function openReport(file: GivenFile): Promise<void> {
  const mine = turn
  try {
    const report = await workers().engine.call.report(file)
    if (mine !== turn) return
    batch(() => {
      store.report.value = report
      store.isReportShown.value = true
      store.tab.value = 'findings'
    })
  } catch (error) {
    store.failure.value = failureOf(error)
  }
}

/** Of files that came with a model: a report that says so by its name, or a JSON that is one. */
async function openReportAmong(files: readonly GivenFile[]): Promise<void> {
  const sarif = files.find(({ path }) => /\.sarif(\.json)?$/i.test(path))
  if (sarif) return openReport(sarif)
  for (const file of files.filter(each => isReport(each) && each.content.size < MAX_TRIED)) {
    await openReport(file)
    if (store.report.value) return
    // Folders have settings in JSON beside a model.
    store.failure.value = undefined
  }
}

/** Bytes of a JSON beside a model that is tried as a report. */
const MAX_TRIED = 4 << 20

function forget(): void {
  store.report.value = undefined
  store.selected.value = -1
  store.facts.value = undefined
  store.ownFacts.value = undefined
  store.sizes.value = new Map()
  store.steps.value = []
  store.cursor.value = -1
  store.breakpoints.value = new Set()
  store.runState.value = 'none'
  store.runFailure.value = undefined
  store.outcome.value = undefined
  store.heat.value = 'none'
  store.compared.value = undefined
  store.beside.value = undefined
  store.tab.value = 'model'
}

/** Downloads a model and what belongs to it, and opens it. */
export async function openAddress(text: string): Promise<void> {
  store.failure.value = undefined
  try {
    const address = new URL(text, document.baseURI)
    const name = decodeURIComponent(address.pathname.split('/').at(-1) ?? 'model')
    store.busy.value = `Downloading ${name}`
    const model = await download(address, part => {
      store.busy.value = `Downloading ${name}: ${Math.round(part * 100)} %`
    })
    const files: GivenFile[] = [{ path: name, content: model }]
    if (/\.xml$/i.test(name)) {
      const bin = new URL(address)
      bin.pathname = bin.pathname.replace(/\.xml$/i, '.bin')
      // A model may have no weights.
      const content = await download(bin, () => undefined).catch(() => undefined)
      if (content) files.push({ path: name.replace(/\.xml$/i, '.bin'), content })
    }
    await openFiles(files, name)
  } catch (error) {
    store.busy.value = ''
    store.failure.value = failureOf(error)
  }
}

/** Opens or closes groups, and has the layout worked out. */
async function setOpen(open: ReadonlySet<number>): Promise<void> {
  const mine = turn
  const changes = await workers().layout.call.arrange(open, 'own')
  if (mine !== turn) return
  batch(() => {
    store.scene.value = new Map([...store.scene.value, ...changes])
    store.open.value = open
  })
}

export async function toggle(group: number): Promise<void> {
  const open = new Set(store.open.value)
  if (!open.delete(group)) open.add(group)
  await setOpen(open)
}

export const openAll = async (): Promise<void> => {
  const { value: tree } = store.tree
  if (tree) await setOpen(openedAtFirst(tree, 3000))
}

export const closeAll = async (): Promise<void> => {
  const { value: tree } = store.tree
  if (tree) await setOpen(new Set([rootOf(tree)]))
}

/** Selects an item; the groups around it open. */
export async function select(item: number, show: 'node' | 'keep' = 'node'): Promise<void> {
  const { value: tree } = store.tree
  if (!tree) return
  if (item >= 0) {
    const closed = ancestorsOf(tree, item).filter(group => !store.open.value.has(group))
    if (closed.length > 0) await setOpen(new Set([...store.open.value, ...closed]))
  }
  batch(() => {
    store.selected.value = item
    if (item >= 0 && show === 'node') store.tab.value = 'node'
  })
  writeLink(item >= 0 ? nameOf(item) : undefined)
}

export const selectRecord = (record: number): Promise<void> => select(store.itemOf(record))

/** What a link calls an item: the name of its node, or `#` and its number where it has none. */
function nameOf(item: number): string {
  const { value: tree } = store.tree
  const record = recordOf(tree!, item)
  const name = record < 0 ? '' : recordName(store.columns.value!, record)
  return name !== '' ? name : record >= 0 ? `#${record}` : isGroup(tree!, item) ? `group:${labelOf(tree!, item)}` : ''
}

/** Goes to the node that the page's address names. */
export function followLink(): void {
  const name = readLink()
  const { value: columns } = store.columns
  if (name === undefined || !columns || !store.tree.value) return
  const record = /^#\d+$/.test(name) ? Number(name.slice(1)) : recordNamed(columns, name)
  if (record >= 0 && record < countOf(columns) && store.tree.value.parent[record] !== -2) void selectRecord(record)
}
