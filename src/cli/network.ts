import type { NetworkOptions, ReadProgress } from '../load.ts'
import { badUsage } from './failure.ts'
import { grouped, startProgress, type Terminal } from './terminal.ts'

/** Options of how models at URLs are read. */
export interface NetworkFlags {
  /** `Authorization: Bearer …` */
  readonly header?: readonly string[]
  /** Origins to which redirects may lead. */
  readonly allowOrigin?: readonly string[]
}

export function networkOf({ header = [], allowOrigin = [] }: NetworkFlags): NetworkOptions {
  const headers = header.map((text): [string, string] => {
    const [, name, value] =
      /^([\w!#$%&'*+.^`|~-]+):\s*(.*)$/.exec(text) ?? badUsage(`--header ${text.slice(0, 20)}…: name: value is needed`)
    return [name, value]
  })
  return { origins: allowOrigin, headers: Object.fromEntries(headers) }
}

/** Cells of the bar. */
const CELLS = 24

/** What says on stderr how far reading over a network has come. */
export interface ReadingBar {
  readonly onProgress: (progress: ReadProgress) => void
  /** Removes it. */
  end(): void
}

/** A bar; only on a terminal, and where reading takes long. */
export function readingBar(terminal: Pick<Terminal, 'stderr' | 'env'>): ReadingBar {
  const progress = startProgress(terminal)
  return {
    onProgress(read) {
      progress.show(() => barText(read))
      if (read.bytes >= read.total) progress.end()
    },
    end: () => progress.end()
  }
}

/** `w.bin [======>          ] 27 % of 1,024 KiB` */
export function barText({ file, bytes, total }: ReadProgress): string {
  const share = total === 0 ? 1 : bytes / total
  const done = Math.floor(share * CELLS)
  const bar = `${'='.repeat(done)}${done < CELLS ? '>' : ''}`.padEnd(CELLS)
  const name = file.slice(file.lastIndexOf('/') + 1)
  return `${name} [${bar}] ${Math.floor(100 * share)} % of ${grouped(Math.ceil(total / 1024))} KiB`
}
