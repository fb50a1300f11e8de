import { type Columns, countOf, KIND } from './columns.ts'

/**
 * Position of each record in a topological order: that of the file where it is one, else by Kahn's algorithm. What lies
 * on a cycle comes last, in the order of the file.
 */
export function orderOf(columns: Columns): Int32Array {
  const count = countOf(columns)
  const { from, to, kind } = columns
  if (isSorted(columns)) return fileOrder(kind, count)
  const waiting = new Int32Array(count)
  const start = new Int32Array(count + 1)
  for (let i = 0; i < from.length; i++) {
    waiting[to[i]]++
    start[from[i] + 1]++
  }
  for (let i = 0; i < count; i++) start[i + 1] += start[i]
  const next = Int32Array.from(start.subarray(0, count))
  const targets = new Int32Array(from.length)
  for (let i = 0; i < from.length; i++) targets[next[from[i]]++] = to[i]
  const order = new Int32Array(count).fill(-1)
  const queue: number[] = []
  for (let i = 0; i < count; i++) if (waiting[i] === 0) queue.push(i)
  let done = 0
  for (let at = 0; at < queue.length; at++) {
    const record = queue[at]
    order[record] = done++
    for (let i = start[record]; i < start[record + 1]; i++) if (--waiting[targets[i]] === 0) queue.push(targets[i])
  }
  for (let i = 0; i < count; i++) if (order[i] < 0) order[i] = done++
  return order
}

/** Whether every edge of the file already leads forward: then its own order is the better one, as it is the maker's. */
function isSorted({ from, to, kind }: Columns): boolean {
  for (let i = 0; i < from.length; i++)
    if (from[i] >= to[i] && kind[from[i]] === KIND.node && kind[to[i]] === KIND.node) return false
  return true
}

/** Inputs first, outputs last, nodes as the file has them. */
function fileOrder(kind: Uint8Array, count: number): Int32Array {
  const order = new Int32Array(count)
  for (let i = 0; i < count; i++)
    order[i] = kind[i] === KIND.input ? i - count : kind[i] === KIND.output ? i + count : i
  return order
}
