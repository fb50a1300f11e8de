import { NodewiseError, parseTensor, Tensor } from 'nodewise'

/** What a user writes in the place of a value, or of one of its elements. */
export interface Change {
  /** A literal of the value's type. */
  readonly text: string
  /** Which element, as its index of each axis: `0, 3`; empty for the whole value. */
  readonly element: string
}

/**
 * A value with a change in it.
 * @throws NodewiseError `bad-usage` for an element that is not there, `shape-mismatch` for a literal of other dims, and
 *   what reading a literal throws
 */
export function changed(tensor: Tensor, { text, element }: Change): Tensor {
  const { type, dims } = tensor
  const given = parseTensor(text, type)
  if (element.trim() === '') {
    if (given.dims.join() === dims.join()) return given
    throw new NodewiseError('shape-mismatch', `the value is [${dims.join(', ')}]; [${given.dims.join(', ')}] is given`)
  }
  if (given.size !== 1) throw new NodewiseError('shape-mismatch', `an element is one number; ${given.size} are given`)
  // Complex numbers have two slots.
  const slots = given.data.length
  const at = slots * positionOf(element, dims)
  const data = tensor.data.slice()
  for (let i = 0; i < slots; i++) data[at + i] = given.data[i]
  return new Tensor(type, data, dims)
}

/** Where an element is in row-major order; an index below 0 counts from the end. */
function positionOf(text: string, dims: readonly number[]): number {
  const indices = text
    .replace(/[[\]]/g, '')
    .split(',')
    .map(part => (/^\s*-?\d+\s*$/.test(part) ? Number(part) : NaN))
  const at = indices.map((index, axis) => (index < 0 ? index + dims[axis] : index))
  if (at.length === dims.length && at.every((index, axis) => index >= 0 && index < dims[axis]))
    return at.reduce((position, index, axis) => position * dims[axis] + index, 0)
  throw new NodewiseError('bad-usage', `there is no element ${text} in [${dims.join(', ')}]`)
}
