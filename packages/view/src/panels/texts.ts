const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

/** A number of bytes for a person. */
export function bytesText(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toFixed(1)} ${UNITS[power]}`
}

/** A count for a person: `12,345`, `86.4 M`. */
export const countText = (count: number): string =>
  count < 1e6
    ? count.toLocaleString('en')
    : `${(count / (count < 1e9 ? 1e6 : 1e9)).toFixed(1)} ${count < 1e9 ? 'M' : 'B'}`

/** A number of a tensor for a person: four digits, or an integer of up to seven. */
export function numberText(number: number | undefined): string {
  if (number === undefined) return '–'
  if (Number.isInteger(number) && Math.abs(number) < 1e7) return `${number}`
  const [digits, power] = number.toPrecision(4).split('e')
  // Zeros say nothing after the point; before it, and in the power, they do.
  const short = digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits
  return power === undefined ? short : `${short}e${power}`
}

/** Milliseconds for a person. */
export const timeText = (milliseconds: number): string =>
  milliseconds >= 1000
    ? `${(milliseconds / 1000).toFixed(2)} s`
    : milliseconds >= 10
      ? `${milliseconds.toFixed(0)} ms`
      : `${milliseconds.toFixed(milliseconds >= 1 ? 1 : 2)} ms`

/** Dims as they are written at edges. */
export const dimsText = (dims: readonly number[]): string => (dims.length === 0 ? 'scalar' : dims.join('×'))

/** `1 node`, `2 nodes`. */
export const counted = (count: number, word: string, words = `${word}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? word : words}`
