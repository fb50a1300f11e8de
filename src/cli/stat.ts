import { type Stats, statSync } from 'node:fs'

/** What the system says of a path; undefined where nothing can be there, a path that is too long included. */
export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
