import { batch, effect } from '@preact/signals'
import { ancestorsOf, isGroup, itemsOf, recordOf } from '../graph/tree.ts'
import type { GivenFile } from '../worker/sources.ts'
import { select } from './actions.ts'
import { whileBusy } from './busy.ts'
import { modelAmong } from './files.ts'
import { requestOf } from './running.ts'
import * as store from './store.ts'
import { workers } from './workers.ts'

/** Compares the open model with another on the inputs of the run, and shows both graphs with the error on them. */
export async function compareWith(files: readonly GivenFile[]): Promise<void> {
  const main = modelAmong(files)
  if (!main) return
  await whileBusy(`Comparing with ${main.path}`, async () => {
    const { engine, layout } = workers()
    const { columns, handed, ...found } = await engine.call.compare(files, main.path, requestOf(false))
    const { tree, open, changes } = await layout.call.group('beside', handed)
    asked = -1
    batch(() => {
      store.compared.value = found
      store.heat.value = found.equal ? 'none' : 'error'
      store.beside.value = { columns, tree, open, scene: changes, selected: -1 }
    })
    if (found.first && found.first.record >= 0) await select(store.itemOf(found.first.record), 'keep')
  })
}

export const closeBeside = (): void => {
  store.beside.value = undefined
}

/** The item of the other graph that was asked for last: what is worked out for an earlier one comes late. */
let asked = -1

async function setOpen(open: ReadonlySet<number>): Promise<void> {
  const changes = await workers().layout.call.arrange(open, 'beside')
  const { value: now } = store.beside
  if (now) store.beside.value = { ...now, open, selected: asked, scene: new Map([...now.scene, ...changes]) }
}

/** Brings an item of the other graph into sight. */
async function show(item: number): Promise<void> {
  const { value: now } = store.beside
  if (!now || item === asked) return
  asked = item
  const closed = item < 0 ? [] : ancestorsOf(now.tree, item).filter(group => !now.open.has(group))
  if (closed.length > 0) await setOpen(new Set([...now.open, ...closed]))
  else store.beside.value = { ...now, selected: item }
}

/** Opens or closes a group of the other graph. */
export async function toggleBeside(group: number): Promise<void> {
  const { value: now } = store.beside
  if (!now || !isGroup(now.tree, group)) return
  const open = new Set(now.open)
  if (!open.delete(group)) open.add(group)
  await setOpen(open)
}

/** Selects an item of the other graph, and what belongs to it in the open one. */
export async function selectBeside(item: number): Promise<void> {
  const { value: now } = store.beside
  if (!now) return
  const record = item < 0 ? -1 : recordOf(now.tree, item)
  const pair = store.compared.value?.pairs.find(({ recordB }) => recordB === record && record >= 0)
  await show(item)
  if (pair && pair.record >= 0) await select(store.itemOf(pair.record), 'keep')
}

/** What is selected in the open graph is shown in the other one, too. */
export function followPairs(): void {
  effect(() => {
    const [{ value: item }, { value: tree }, { value: compared }] = [store.selected, store.tree, store.compared]
    const now = store.beside.peek()
    if (!now || !tree || !compared) return
    const record = item < 0 ? -1 : recordOf(tree, item)
    const pair = compared.pairs.find(each => each.record === record && each.recordB >= 0 && record >= 0)
    if (pair) void show(itemsOf(now.tree)[pair.recordB])
  })
}
