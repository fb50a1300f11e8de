import { readFileSync } from 'node:fs'

/** The most bytes that this process has held; on Linux since the peak was last forgotten. */
export function peak() {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024
  } catch {
    return process.resourceUsage().maxRSS * 1024
  }
}
