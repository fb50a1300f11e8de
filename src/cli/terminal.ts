import type { WriteStream } from 'node:tty'
import { printable } from '../io/print.ts'

const isPlain = (): boolean => (process.env.NO_COLOR ?? '') !== ''

/** Results are lines on stdout. */
export const print = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

/** Words on stderr that are no failure. */
export const warn = (text: string): void => {
  process.stderr.write(`warning: ${printable(text)}\n`)
}

const colored =
  (code: number) =>
  (text: string): string =>
    process.stdout.isTTY && !isPlain() ? `\x1b[${code}m${text}\x1b[0m` : text

export const bold = colored(1)
export const dim = colored(2)
export const red = colored(31)
export const green = colored(32)
export const yellow = colored(33)
export const cyan = colored(36)

/** Rows as text in columns that line up; columns named in `right` are aligned right. */
export function table(rows: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const widths: number[] = []
  for (const row of rows)
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cell.length)
    })
  return rows.map(row =>
    row
      .map((cell, i) => (right.includes(i) ? cell.padStart(widths[i]) : cell.padEnd(widths[i])))
      .join('  ')
      .trimEnd()
  )
}

/** `1,234,567` */
export const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',')

/** `1 node`, `2 nodes` */
export const counted = (count: number, what: string): string => `${grouped(count)} ${what}${count === 1 ? '' : 's'}`

/** When work is long enough to be worth a line, and how often the line changes, in milliseconds. */
const PATIENCE = 1000
const PAUSE = 100

/** A line on stderr that says how far long work has come; only on a terminal, and never with NO_COLOR. */
export interface Progress {
  /** Whether anybody sees it. */
  readonly isOn: boolean
  /** Call it as often as you like: the text is made only when it is shown. */
  show(text: () => string): void
  /** Takes the line away. */
  end(): void
}

export function startProgress(stream: WriteStream = process.stderr): Progress {
  if (!stream.isTTY || isPlain()) return { isOn: false, show: () => undefined, end: () => undefined }
  let next = performance.now() + PATIENCE
  let isShown = false
  return {
    isOn: true,
    show(text) {
      if (performance.now() < next) return
      next = performance.now() + PAUSE
      isShown = true
      stream.write(`\r\x1b[K${printable(text()).slice(0, Math.max(20, (stream.columns || 80) - 1))}`)
    },
    end() {
      if (isShown) stream.write('\r\x1b[K')
      isShown = false
    }
  }
}
