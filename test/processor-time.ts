import { readFileSync } from 'node:fs'

/**
 * Seconds of processor time that this process takes for some work: a bound that fails where work grows with the square
 * of a size, and not where other processes have the processors.
 */
export async function processorSeconds(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

/** Ticks in a second of /proc, on every machine that Node runs on. */
const TICKS = 100

/** Seconds of processor time that another process has taken so far; undefined where it has ended, or not on Linux. */
export function secondsTaken(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The program's name, in brackets, may have blanks; after it and the state, the 11th and 12th are user and system.
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
    return (Number(user) + Number(system)) / TICKS
  } catch {
    return undefined
  }
}
