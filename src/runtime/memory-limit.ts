/** What Node tells of memory, in bytes; none of it elsewhere. */
export interface MemoryReport {
  availableMemory?(): number
  /** 0, or more than there can be, where nothing constrains the process. */
  constrainedMemory?(): number
  memoryUsage?: { rss(): number }
}

/** Bytes that are allowed before the process has been asked what is left: the answer takes 0.15 ms. */
const UNASKED = 2 ** 25

/** How many bytes a run may hold. */
export class MemoryLimit {
  private known: number | undefined
  private readonly report: MemoryReport | undefined

  /** @param given bytes; undefined: what the process may still take when that is first asked for */
  constructor(given?: number, report: MemoryReport | undefined = typeof process === 'object' ? process : undefined) {
    this.known = given
    this.report = report
  }

  get bytes(): number {
    return (this.known ??= leftFor(this.report))
  }

  allows(bytes: number): boolean {
    return bytes <= (this.known ?? UNASKED) || bytes <= this.bytes
  }
}

/**
 * Bytes that a process may still take; 4 GiB where that cannot be asked. In a control group `availableMemory` counts
 * cached files as taken, though the system drops them when memory is needed; a model that has just been read would seem
 * to leave no room for itself. So what the process holds is subtracted from the group's limit instead.
 */
function leftFor(report: MemoryReport | undefined): number {
  const available = report?.availableMemory?.() ?? 0
  const constrained = report?.constrainedMemory?.() ?? 0
  const isConstrained = constrained > 0 && constrained < Number.MAX_SAFE_INTEGER
  const most = isConstrained ? Math.max(available, constrained - (report?.memoryUsage?.rss() ?? 0)) : available
  return most > 0 ? most : 4 * 2 ** 30
}
