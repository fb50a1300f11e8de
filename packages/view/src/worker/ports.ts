/** What stands at the ports of each record, one list after the other: 200,000 lists of their own would fill memory. */
export interface Ports {
  /** Where the list of each record begins, and at last where the last one ends. */
  readonly starts: Uint32Array
  /** Values by port; {@link LEFT_OUT} for a port without one. */
  readonly values: Int32Array
}

/** Stands at a port to which the file gives no value. */
export const LEFT_OUT = -1

/** The values at the ports of a record, by position. */
export function portsOf({ starts, values }: Ports, record: number): (number | undefined)[] {
  const list: (number | undefined)[] = []
  for (let i = starts[record]; i < starts[record + 1]; i++) list.push(values[i] === LEFT_OUT ? undefined : values[i])
  return list
}

/** Puts lists together in the order of the records. */
export class PortsBuilder {
  private readonly starts: number[] = []
  private readonly values: number[] = []

  /** Begins the list of the next record. */
  begin(): void {
    this.starts.push(this.values.length)
  }

  /** Adds a port to the list that was begun last. */
  add(value: number | undefined): void {
    this.values.push(value ?? LEFT_OUT)
  }

  /** The value at a port of a record whose list is complete. */
  at(record: number, port: number): number | undefined {
    const start = this.starts[record]
    const end = this.starts[record + 1] ?? this.values.length
    const value = start + port < end ? this.values[start + port] : LEFT_OUT
    return value === LEFT_OUT ? undefined : value
  }

  ports(): Ports {
    this.begin()
    return { starts: Uint32Array.from(this.starts), values: Int32Array.from(this.values) }
  }
}
