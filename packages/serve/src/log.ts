/** What takes lines of the log: `process.stdout`, or a test. */
export interface Lines {
  write(text: string): unknown
}

/** Characters that are kept at most until they are written. */
const MAX_KEPT = 2 ** 16

/**
 * Writes the lines of one turn of the event loop at once: a call of the system a line takes as long as a small request.
 * @returns what a logger writes to, and what writes that which is kept
 */
export function linesOfTurn(to: Lines): { write(line: string): void; flush(): void } {
  let kept = ''
  let isDue = false
  const flush = (): void => {
    isDue = false
    const text = kept
    kept = ''
    if (text !== '') to.write(text)
  }
  return {
    write(line) {
      kept += line
      if (kept.length >= MAX_KEPT) flush()
      else if (!isDue) setImmediate(flush)
      isDue = kept !== ''
    },
    flush
  }
}

/** The time of a line as ISO 8601 has it; worked out once a millisecond. */
export function clock(): () => string {
  let last = 0
  let text = ''
  return () => {
    const now = Date.now()
    if (now !== last) text = `,"time":"${new Date(now).toISOString()}"`
    last = now
    return text
  }
}
