import type { Writable } from 'node:stream'
import { clock } from '../host.ts'
import { printable } from '../io/print.ts'

export { counted, dimsText, grouped } from '../report/words.ts'

/** A stream that a command writes to. The fields of `tty.WriteStream` are there where it is a terminal. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number }

/** All that a command knows of the world around it besides files: nothing of `process` is read or set elsewhere. */
export interface Terminal {
  /** Results. */
  readonly stdout: Output
  /** Progress, warnings and failures. */
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  /** The folder that paths in a SARIF report start from. Files are opened relative to the process's own folder. */
  readonly cwd: string
  /** Calls a listener at the first Ctrl-C, in place of what else it does; the function that is returned forgets it. */
  readonly onInterrupt?: (listener: () => void) => () => void
  /** The file of the command, from which `nodewise test` starts its workers. */
  readonly program: URL
}

/** The terminal of this process. In the bundled program every module has the address of the command's file. */
export const processTerminal = (): Terminal => ({
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  onInterrupt: listener => {
    process.once('SIGINT', listener)
    return () => process.off('SIGINT', listener)
  },
  program: new URL(import.meta.url)
})

/** Whether a stream shows colors and takes lines back: a terminal, but a dumb one, and never with `NO_COLOR`. */
const isRich = ({ env }: Pick<Terminal, 'env'>, { isTTY = false }: Output): boolean =>
  isTTY && env.TERM !== 'dumb' && (env.NO_COLOR ?? '') === ''

/** `FORCE_COLOR` asks for colors where there is no terminal too, such as in the log of a build; `0` asks for none. */
function hasColors({ env }: Pick<Terminal, 'env'>, stream: Output): boolean {
  const force = env.FORCE_COLOR
  if (force === undefined || (env.NO_COLOR ?? '') !== '') return isRich({ env }, stream)
  return force !== '0' && force !== 'false'
}

/** Prints a result. */
export const print = ({ stdout }: Terminal, text: string): void => {
  stdout.write(`${text}\n`)
}

/** Prints a warning: what is said besides results and is no failure. */
export const warn = ({ stderr }: Terminal, text: string): void => {
  stderr.write(`warning: ${printable(text)}\n`)
}

/** Text with the escape sequences of a look around it, or as it is. */
export type Style = Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', (text: string) => string>>

const same = (text: string): string => text
const colored =
  (code: number) =>
  (text: string): string =>
    `\x1b[${code}m${text}\x1b[0m`

export const PLAIN: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same }
const COLORED: Style = {
  bold: colored(1),
  dim: colored(2),
  red: colored(31),
  green: colored(32),
  yellow: colored(33),
  cyan: colored(36)
}

/** The style of what goes to a stream, results where none is given: colors only where the stream shows them. */
export const styleOf = (terminal: Pick<Terminal, 'env' | 'stdout'>, stream: Output = terminal.stdout): Style =>
  hasColors(terminal, stream) ? COLORED : PLAIN

/** The style of a report that `-o` may put into a file, which has no colors, wherever the command runs. */
export const reportStyle = (terminal: Pick<Terminal, 'env' | 'stdout'>, output: string | undefined): Style =>
  output === undefined || output === '-' ? styleOf(terminal) : PLAIN

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

/** Columns that a cell keeps when a table is made narrower. */
const MIN_CELL = 6
const GAP = 2

/**
 * Rows whose cells are cut, in the middle, so that their table is at most as wide: each time the widest column of those
 * that may be cut.
 * @param columns those of the terminal; undefined: nothing is cut
 * @param kept columns that are not cut
 */
export function fitted(
  rows: readonly (readonly string[])[],
  columns: number | undefined,
  kept: readonly number[] = []
): readonly (readonly string[])[] {
  if (columns === undefined || rows.length === 0) return rows
  const widths = rows[0].map((_, i) => rows.reduce((widest, row) => Math.max(widest, row[i]?.length ?? 0), 0))
  let excess = widths.reduce((sum, width) => sum + width, GAP * (widths.length - 1)) - columns
  for (; excess > 0; excess--) {
    const cut = widths.reduce(
      (best, width, i) => (!kept.includes(i) && width > MIN_CELL && width > (widths[best] ?? 0) ? i : best),
      -1
    )
    if (cut < 0) break
    widths[cut]--
  }
  return rows.map(row => row.map((cell, i) => shortened(cell, widths[i])))
}

/** The text with its middle left out where it is longer. */
function shortened(text: string, length: number): string {
  if (text.length <= length) return text
  const head = Math.ceil((length - 1) / 2)
  return `${text.slice(0, head)}…${text.slice(text.length - (length - 1 - head))}`
}

/** Columns of the terminal that results are printed on; undefined where they go into a file or to a program. */
export const columnsOf = ({ stdout }: Pick<Terminal, 'stdout'>): number | undefined =>
  stdout.isTTY ? stdout.columns || DEFAULT_COLUMNS : undefined

/** Milliseconds after which work is worth a line, and between two changes of the line. */
const FIRST_SHOWN = 1000
const INTERVAL = 100
/** Columns of a terminal that does not say how many it has. */
export const DEFAULT_COLUMNS = 80
/** Columns that a line of progress may take on the narrowest terminal. */
const MIN_COLUMNS = 20

/** A line on stderr that says how far long work has come; only on a terminal, and never with `NO_COLOR`. */
export interface Progress {
  /** Whether anybody sees it. */
  readonly isOn: boolean
  /** May be called as often as one likes: the text is made only when it is shown. */
  show(text: () => string): void
  /** Removes the line. */
  end(): void
}

export function startProgress(terminal: Pick<Terminal, 'stderr' | 'env'>): Progress {
  const { stderr } = terminal
  if (!isRich(terminal, stderr)) return { isOn: false, show: () => undefined, end: () => undefined }
  let next = clock() + FIRST_SHOWN
  let isShown = false
  return {
    isOn: true,
    show(text) {
      if (clock() < next) return
      next = clock() + INTERVAL
      isShown = true
      const width = Math.max(MIN_COLUMNS, (stderr.columns || DEFAULT_COLUMNS) - 1)
      stderr.write(`\r\x1b[K${printable(text()).slice(0, width)}`)
    },
    end() {
      if (isShown) stderr.write('\r\x1b[K')
      isShown = false
    }
  }
}
