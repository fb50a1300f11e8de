/** Reads WebAssembly modules out of the text that scripts/pack-binaries.mjs made of them. */

/** How bytes are written: a value by its index in `order`, as one character of `alphabet` or as a pair. */
export interface Coding {
  /** Its last two characters begin a pair. */
  readonly alphabet: string
  /** All values of a byte, the most frequent first. */
  readonly order: readonly number[]
}

/** Two modules in one text. */
export interface Pair {
  readonly text: string
  /** Of three parts the first is in both modules, the second in the first module, the third in the second. */
  readonly lengths: readonly number[]
}

/** The text of one module of two. */
export function textOf({ text, lengths }: Pair, which: 'first' | 'second'): string {
  const other = which === 'first' ? 2 : 1
  let at = 0
  let found = ''
  lengths.forEach((length, i) => {
    if (i % 3 !== other) found += text.slice(at, at + length)
    at += length
  })
  return found
}

/** The bytes that a text stands for. */
export function bytesOf(text: string, { alphabet, order }: Coding): Uint8Array<ArrayBuffer> {
  const singles = alphabet.length - 2
  const codes = new Uint8Array(128)
  for (let i = 0; i < alphabet.length; i++) codes[alphabet.charCodeAt(i)] = i
  const values = Uint8Array.from(order)
  const bytes = new Uint8Array(text.length)
  let count = 0
  for (let i = 0; i < text.length; i++) {
    let code = codes[text.charCodeAt(i)]
    if (code >= singles) code = singles + (code - singles) * alphabet.length + codes[text.charCodeAt(++i)]
    bytes[count++] = values[code]!
  }
  return bytes.subarray(0, count)
}
