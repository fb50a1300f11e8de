// The most memory that this process has held since it was last asked, as the system counts it.
import { closeSync, openSync, readSync, writeSync } from 'node:fs'

const isLinux = process.platform === 'linux'

/** Bytes, of a file of /proc that stays open. */
function reader(path, label) {
  const file = openSync(path, 'r')
  const buffer = Buffer.alloc(4096)
  return () => {
    const text = buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0))
    return Number(new RegExp(`${label}:\\s*(\\d+)`).exec(text)?.[1] ?? 0) * 1024
  }
}

function reset() {
  const file = openSync('/proc/self/clear_refs', 'w')
  writeSync(file, '5')
  closeSync(file)
}

/**
 * A meter of growth. Where the system can forget a peak (Linux), `peak()` is that since `begin()`; elsewhere it is what
 * is held now, which misses what came and went.
 * @returns `{ begin(): void, peak(): number }` in bytes
 */
export function memoryMeter() {
  const now = () => process.memoryUsage.rss()
  if (!isLinux) return { begin: () => {}, peak: now, now }
  try {
    reset()
    return { begin: reset, peak: reader('/proc/self/status', 'VmHWM'), now }
  } catch {
    return { begin: () => {}, peak: now, now }
  }
}
