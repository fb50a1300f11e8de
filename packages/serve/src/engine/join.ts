import { Refusal } from '../refusal.ts'
import type { PlainTensor } from '../tensors/datatypes.ts'
import type { Item, PlainFeeds } from './messages.ts'

/** Size of the first dim that all inputs of a request share; undefined where they share none. */
export function rowsOf(feeds: PlainFeeds): number | undefined {
  let rows: number | undefined
  for (const name in feeds) {
    const { dims } = feeds[name]
    if (dims.length === 0 || (rows !== undefined && dims[0] !== rows)) return undefined
    rows = dims[0]
  }
  return rows
}

/** What requests must have in common to be joined: names, types and all dims but the first, and what they ask for. */
export function joinKey({ feeds, fetches }: Item): string {
  let key = ''
  for (const name of Object.keys(feeds).sort()) {
    const { type, dims } = feeds[name]
    key += `${quoted(name)} ${type} ${dims.slice(1).join()};`
  }
  for (const name of fetches) key += quoted(name)
  return key
}

/** A name behind its length: no other names look the same one after the other. */
const quoted = (name: string): string => `${name.length} ${name}`

/** The inputs of several requests as those of one, one after the other along the first dim. */
export function joinFeeds(items: readonly Item[]): PlainFeeds {
  const [{ feeds }] = items
  return Object.fromEntries(Object.keys(feeds).map(name => [name, joined(items.map(item => item.feeds[name]))]))
}

function joined(tensors: readonly PlainTensor[]): PlainTensor {
  const [{ type, dims, data: first }] = tensors
  const rows = tensors.reduce((sum, tensor) => sum + tensor.dims[0], 0)
  const joinedDims = [rows, ...dims.slice(1)]
  if (Array.isArray(first)) return { type, dims: joinedDims, data: tensors.flatMap(({ data }) => data as string[]) }
  const size = tensors.reduce((sum, { data }) => sum + data.length, 0)
  const data = new (first.constructor as Float32ArrayConstructor)(size)
  let at = 0
  for (const tensor of tensors) {
    data.set(tensor.data as Float32Array, at)
    at += tensor.data.length
  }
  return { type, dims: joinedDims, data }
}

/**
 * The outputs of a joined run, a set for each request.
 * @param rows of each request
 * @throws Refusal `internal` where an output has not as many rows as the requests
 */
export function splitOutputs(
  outputs: Readonly<Record<string, PlainTensor>>,
  rows: readonly number[]
): Record<string, PlainTensor>[] {
  const all = rows.reduce((sum, count) => sum + count, 0)
  const starts = rows.map((_, i) => rows.slice(0, i).reduce((sum, count) => sum + count, 0))
  return rows.map((count, i) =>
    Object.fromEntries(
      Object.entries(outputs).map(([name, { type, dims, data }]) => {
        if (dims[0] !== all) throw new Refusal('internal', `output "${name}" has no row for each row of the inputs`)
        const each = all === 0 ? 0 : data.length / all
        const part = data.slice(starts[i] * each, (starts[i] + count) * each) as PlainTensor['data']
        return [name, { type, dims: [count, ...dims.slice(1)], data: part }]
      })
    )
  )
}
