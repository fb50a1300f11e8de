/**
 * Type and dims of each value as text. Few of them differ, so values have numbers of texts: those of 100,000 values
 * come to the page without being copied.
 */
export interface KnownTexts {
  readonly texts: readonly string[]
  /** By value, an index into the texts; empty where it is not known. */
  readonly type: Uint32Array<ArrayBuffer>
  /** The same of dims, `2×batch×768`: empty for a scalar, {@link UNKNOWN} where the rank is not known. */
  readonly dims: Int32Array<ArrayBuffer>
}

/** Stands for dims of unknown rank. */
const UNKNOWN = -1

/** The type of a value; empty where it is not known. */
export const typeAt = ({ texts, type }: KnownTexts, value: number): string => texts[type[value]]

/** Dims of a value; empty for a scalar, undefined where the rank is not known. */
export const dimsAt = ({ texts, dims }: KnownTexts, value: number): string | undefined =>
  dims[value] === UNKNOWN ? undefined : texts[dims[value]]

/** Collects what is known of values. */
export class KnownTextsBuilder {
  private readonly list = ['']
  private readonly numbers = new Map([['', 0]])
  private readonly type: Uint32Array<ArrayBuffer>
  private readonly dims: Int32Array<ArrayBuffer>

  constructor(values: number) {
    this.type = new Uint32Array(values)
    this.dims = new Int32Array(values).fill(UNKNOWN)
  }

  set(value: number, type: string, dims: string | undefined): void {
    this.type[value] = this.numberOf(type)
    this.dims[value] = dims === undefined ? UNKNOWN : this.numberOf(dims)
  }

  private numberOf(text: string): number {
    let number = this.numbers.get(text)
    if (number === undefined) {
      number = this.list.length
      this.list.push(text)
      this.numbers.set(text, number)
    }
    return number
  }

  known(): KnownTexts {
    return { texts: this.list, type: this.type, dims: this.dims }
  }
}
