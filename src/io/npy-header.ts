import { fail } from '../errors.ts'

/** The header of an `.npy` file. */
export interface NpyHeader {
  /** Byte order, kind and item size as NumPy writes them: `<f4`, `|b1`, `>U12`. */
  readonly descr: string
  readonly fortranOrder: boolean
  readonly shape: readonly number[]
  /** Byte offset of the elements. */
  readonly dataOffset: number
}

/** Maximum length of a header in bytes. Headers of plain element types are far shorter; NumPy warns beyond 10,000. */
const MAX_HEADER = 65536
const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]

/**
 * Reads the header of format version 1, 2 or 3 (numpy.lib.format): a length and a Python dictionary literal.
 * @throws NodewiseError `invalid-file`; `type-not-allowed` for structured types
 */
export function parseNpyHeader(bytes: Uint8Array): NpyHeader {
  if (bytes.length < 10 || MAGIC.some((byte, i) => bytes[i] !== byte))
    fail('invalid-file', 'its first bytes are not those of an .npy file')
  const [major, minor] = [bytes[6], bytes[7]]
  if (major < 1 || major > 3 || minor !== 0) {
    fail('unsupported-version', `.npy format version ${major}.${minor} is not known; 1.0, 2.0 and 3.0 are`)
  }
  const start = major === 1 ? 10 : 12
  if (bytes.length < start) fail('invalid-file', 'the .npy header is cut off')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const length = major === 1 ? view.getUint16(8, true) : view.getUint32(8, true)
  if (length > bytes.length - start)
    fail('invalid-file', `the .npy header of ${length} bytes is cut off after ${bytes.length - start}`)
  if (length > MAX_HEADER) fail('limit-exceeded', `the .npy header of ${length} bytes is longer than ${MAX_HEADER}`)
  const text = new TextDecoder(major === 3 ? 'utf-8' : 'latin1').decode(bytes.subarray(start, start + length))
  return { ...parseDictionary(text), dataOffset: start + length }
}

/** A header of format version 1, padded so that the elements start at a multiple of 64 bytes. */
export function npyHeader(descr: string, shape: readonly number[]): Uint8Array {
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`
  const dictionary = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${tuple}, }`
  const length = Math.ceil((10 + dictionary.length + 1) / 64) * 64
  const bytes = new Uint8Array(length).fill(0x20)
  bytes.set([...MAGIC, 1, 0, (length - 10) & 255, (length - 10) >> 8])
  bytes.set(new TextEncoder().encode(dictionary), 10)
  bytes[length - 1] = 0x0a
  return bytes
}

/** Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`, keys in any order, each exactly once. */
function parseDictionary(text: string): Omit<NpyHeader, 'dataOffset'> {
  const tokens = new Tokens(text)
  let descr: string | undefined
  let fortranOrder: boolean | undefined
  let shape: number[] | undefined
  tokens.demand('{')
  while (!tokens.accept('}')) {
    const key = tokens.string()
    tokens.demand(':')
    if (key === 'descr' && descr === undefined) descr = tokens.typeName()
    else if (key === 'fortran_order' && fortranOrder === undefined) fortranOrder = tokens.boolean()
    else if (key === 'shape' && shape === undefined) shape = tokens.tuple()
    else fail('invalid-file', `the .npy header has an unexpected key ${JSON.stringify(key)}`)
    if (!tokens.accept(',')) {
      tokens.demand('}')
      break
    }
  }
  tokens.end()
  if (descr === undefined || fortranOrder === undefined || shape === undefined) {
    fail('invalid-file', 'the .npy header must have the keys descr, fortran_order and shape')
  }
  return { descr, fortranOrder, shape }
}

/** Reads the Python literals that a header may have. */
class Tokens {
  private readonly text: string
  private at = 0

  constructor(text: string) {
    this.text = text
  }

  private match(pattern: RegExp): string | undefined {
    const sticky = new RegExp(`\\s*(?:${pattern.source})`, 'y')
    sticky.lastIndex = this.at
    const found = sticky.exec(this.text)
    if (found === null) return undefined
    this.at = sticky.lastIndex
    return found[0].trim()
  }

  private broken(expected: string): never {
    fail(
      'invalid-file',
      `the .npy header is malformed: ${expected} expected at ${JSON.stringify(this.text.slice(this.at, this.at + 20))}`
    )
  }

  accept(mark: ',' | ')' | '}'): boolean {
    return this.match(new RegExp(`\\${mark}`)) !== undefined
  }

  demand(mark: '{' | '}' | ':' | '('): void {
    if (this.match(new RegExp(`\\${mark}`)) === undefined) this.broken(mark)
  }

  string(): string {
    return this.match(/'[^'\\\n]*'|"[^"\\\n]*"/)?.slice(1, -1) ?? this.broken('a string')
  }

  typeName(): string {
    if (this.match(/\[/) !== undefined)
      fail('type-not-allowed', 'the .npy file holds a structured array, not plain elements')
    return this.string()
  }

  boolean(): boolean {
    return (this.match(/True|False/) ?? this.broken('True or False')) === 'True'
  }

  /** A tuple of sizes. Python 2 wrote an L after large ones. */
  tuple(): number[] {
    const sizes: number[] = []
    this.demand('(')
    while (!this.accept(')')) {
      const size = Number((this.match(/\d+L?/) ?? this.broken('a size')).replace('L', ''))
      if (!Number.isSafeInteger(size)) fail('invalid-file', `the .npy header has a dimension of ${size}`)
      sizes.push(size)
      if (!this.accept(',')) {
        if (sizes.length === 1) this.broken('a comma')
        if (!this.accept(')')) this.broken(')')
        break
      }
    }
    return sizes
  }

  end(): void {
    if (this.text.slice(this.at).trim() !== '') this.broken('the end')
  }
}
