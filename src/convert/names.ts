/** Gives out names so that no two are the same: the wanted one, or that with a number. */
export class Names {
  private readonly taken = new Set<string>()
  private readonly copies = new Map<string, number>()

  unique(wanted: string): string {
    let name = wanted
    while (name === '' || this.taken.has(name)) {
      const copy = (this.copies.get(wanted) ?? 1) + 1
      this.copies.set(wanted, copy)
      name = `${wanted}_${copy}`
    }
    this.taken.add(name)
    return name
  }
}
