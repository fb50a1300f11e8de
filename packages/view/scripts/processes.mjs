// What the system tells of a browser's processes.
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** Whether the system tells of processes (Linux). */
export const isTold = existsSync('/proc/self/smaps_rollup')

/** The fields of a `stat` of the system from the state on: what stands before may have any sign in it. */
const fieldsOf = path => textOf(path).split(') ').at(-1).split(' ')

/** A process and those that it started. */
function familyOf(root) {
  const children = new Map()
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    const parent = Number(fieldsOf(`/proc/${pid}/stat`)[1])
    children.set(parent, [...(children.get(parent) ?? []), Number(pid)])
  }
  const all = [root]
  for (const pid of all) all.push(...(children.get(pid) ?? []))
  return all
}

/** MiB of a process and those that it started, each page counted once. */
export function memoryOf(root) {
  const kib = familyOf(root).map(pid => Number(/^Pss:\s+(\d+)/m.exec(textOf(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0))
  return Math.round(kib.reduce((sum, each) => sum + each, 0) / 1024)
}

/** Milliseconds of the processor that all threads of a process and of those that it started took, by their names. */
export function processorTimeOf(root) {
  const times = new Map()
  for (const pid of familyOf(root))
    for (const thread of foldersIn(`/proc/${pid}/task`)) {
      const path = `/proc/${pid}/task/${thread}`
      const name = textOf(`${path}/comm`).trim()
      // In hundredths of a second.
      const [user, system] = fieldsOf(`${path}/stat`).slice(11, 13).map(Number)
      times.set(name, (times.get(name) ?? 0) + 10 * ((user || 0) + (system || 0)))
    }
  return times
}

function foldersIn(path) {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

/** What threads took more than before, those that took most first. */
export const differenceOf = (before, after) =>
  Object.fromEntries(
    [...after]
      .map(([name, time]) => [name, time - (before.get(name) ?? 0)])
      .filter(([, time]) => time >= 20)
      .sort(([, a], [, b]) => b - a)
  )

/** The text of a file of the system, which may just have gone. */
function textOf(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
