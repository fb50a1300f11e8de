/** An element of an {@link XmlTree}: its index in document order. */
export type Element = number

/** Texts up to this length are stored once: names, numbers and types recur often. */
const MAX_SHARED_LENGTH = 12

/**
 * The elements of an XML document in document order, as columns of numbers. A file of 100,000 layers has two million
 * elements; collecting as many objects as garbage would take longer than reading the file.
 */
export class XmlTree {
  private readonly strings: string[] = ['']
  private readonly known = new Map<string, number>([['', 0]])
  private readonly names = new Column()
  private readonly texts = new Column()
  private readonly offsets = new Column()
  /** By element: index after its last descendant. */
  private readonly ends = new Column()
  /** By element: index of its first attribute in `attributes`. They end where those of the next element start. */
  private readonly starts = new Column()
  /** Name, value, name, value … of all attributes, as indices into `strings`. */
  private readonly attributes = new Column()

  /** The root element. */
  readonly root: Element = 0

  get size(): number {
    return this.names.length
  }

  /** Adds an element, inside those that are not closed yet. */
  open(name: string, offset: number): Element {
    this.starts.push(this.attributes.length)
    this.offsets.push(offset)
    this.texts.push(0)
    this.ends.push(0)
    this.names.push(this.keep(name))
    return this.names.length - 1
  }

  /** Adds an attribute to the element that was opened last. */
  addAttribute(name: string, value: string): void {
    this.attributes.push(this.keep(name))
    this.attributes.push(this.keep(value))
  }

  addText(element: Element, text: string): void {
    this.texts.values[element] = this.keep(this.text(element) + text)
  }

  close(element: Element): void {
    this.ends.values[element] = this.names.length
  }

  name(element: Element): string {
    return this.strings[this.names.values[element]]
  }

  /** Text of the element without that of its children; empty where it is all blanks. */
  text(element: Element): string {
    return this.strings[this.texts.values[element]]
  }

  /** Byte offset of the element's `<`. */
  offset(element: Element): number {
    return this.offsets.values[element]
  }

  /** Value of an attribute, or undefined. */
  attribute(element: Element, name: string): string | undefined {
    const { values } = this.attributes
    const end = this.attributesEnd(element)
    for (let i = this.starts.values[element]; i < end; i += 2)
      if (this.strings[values[i]] === name) return this.strings[values[i + 1]]
    return undefined
  }

  /** Names and values of all attributes, in order. */
  attributePairs(element: Element): [string, string][] {
    const { values } = this.attributes
    const pairs: [string, string][] = []
    const end = this.attributesEnd(element)
    for (let i = this.starts.values[element]; i < end; i += 2)
      pairs.push([this.strings[values[i]], this.strings[values[i + 1]]])
    return pairs
  }

  /** The children in order; only those of a name where one is given. */
  children(element: Element | undefined, name?: string): Element[] {
    const found: Element[] = []
    if (element === undefined) return found
    const { values: ends } = this.ends
    for (let child = element + 1; child < ends[element]; child = ends[child]) {
      if (name === undefined || this.name(child) === name) found.push(child)
    }
    return found
  }

  /** The first child of a name, which is the one that OpenVINO reads where there are several. */
  child(element: Element, name: string): Element | undefined {
    const { values: ends } = this.ends
    for (let child = element + 1; child < ends[element]; child = ends[child])
      if (this.name(child) === name) return child
    return undefined
  }

  firstChild(element: Element): Element | undefined {
    return element + 1 < this.ends.values[element] ? element + 1 : undefined
  }

  /** The next child of `parent` after `child`. */
  nextSibling(child: Element, parent: Element): Element | undefined {
    const next = this.ends.values[child]
    return next < this.ends.values[parent] ? next : undefined
  }

  private attributesEnd(element: Element): number {
    return element + 1 < this.starts.length ? this.starts.values[element + 1] : this.attributes.length
  }

  private keep(text: string): number {
    if (text.length > MAX_SHARED_LENGTH) return this.strings.push(text) - 1
    const known = this.known.get(text)
    if (known !== undefined) return known
    this.known.set(text, this.strings.length)
    return this.strings.push(text) - 1
  }
}

/** A growing list of numbers below 2^32. */
export class Column {
  values = new Uint32Array(1024)
  length = 0

  push(value: number): void {
    if (this.length === this.values.length) {
      const grown = new Uint32Array(2 * this.length)
      grown.set(this.values)
      this.values = grown
    }
    this.values[this.length++] = value
  }
}
