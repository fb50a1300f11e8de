import { fail } from '../errors.ts'
import { broadcastDim, type Dim, meetDims, printDim } from '../shapes/dim.ts'

/** A term for each operand, which is a list of labels; `...` stands for the dims that have no label. */
export interface Equation {
  readonly terms: readonly (readonly string[])[]
  /** Undefined in implicit mode, where the operands' labels determine it. */
  readonly output: readonly string[] | undefined
}

const ELLIPSIS = '...'

/**
 * Parses the equation of Einsum.
 * @throws NodewiseError `unknown-attribute-value`
 */
export function parseEquation(written: string): Equation {
  const [left, right, ...more] = written.replaceAll(' ', '').split('->')
  if (more.length > 0) fail('unknown-attribute-value', `equation "${written}" has more than one arrow`)
  const terms = left.split(',').map(term => parseTerm(term, written))
  if (right === undefined) return { terms, output: undefined }
  const output = parseTerm(right, written)
  const known = new Set(terms.flat())
  for (const label of output) {
    if (!known.has(label) && label !== ELLIPSIS) {
      fail('unknown-attribute-value', `equation "${written}": label "${label}" of the result is in no operand`)
    }
  }
  if (new Set(output).size !== output.length)
    fail('unknown-attribute-value', `equation "${written}": the result names a label twice`)
  return { terms, output }
}

function parseTerm(term: string, written: string): string[] {
  const labels = term.match(/\.\.\.|[A-Za-z]/g) ?? []
  if (labels.join('') !== term || labels.filter(label => label === ELLIPSIS).length > 1) {
    fail('unknown-attribute-value', `equation "${written}": "${term}" is no list of letters with at most one ellipsis`)
  }
  return labels
}

/**
 * A label for each dim of each operand; those under an ellipsis are numbered from the right: `.1` is the last of them.
 * @throws NodewiseError `rank-mismatch`
 */
export function labelDims(terms: readonly (readonly string[])[], shapes: readonly (readonly Dim[])[]): string[][] {
  return terms.map((term, i) => {
    const rank = shapes[i].length
    const covered = rank - term.filter(label => label !== ELLIPSIS).length
    if (covered < 0 || (covered > 0 && !term.includes(ELLIPSIS))) {
      fail('rank-mismatch', `operand ${i} has rank ${rank}; its term "${term.join('')}" names ${rank - covered} dims`)
    }
    return term.flatMap(label =>
      label === ELLIPSIS ? Array.from({ length: covered }, (_, k) => `.${covered - k}`) : [label]
    )
  })
}

/** Labels of the result. */
export function outputLabels({ output }: Equation, labels: readonly (readonly string[])[]): string[] {
  const all = labels.flat()
  const covered = [...new Set(all.filter(label => label.startsWith('.')))].sort(
    (a, b) => Number(b.slice(1)) - Number(a.slice(1))
  )
  const once = output ?? [
    ELLIPSIS,
    ...all.filter(label => !label.startsWith('.') && all.indexOf(label) === all.lastIndexOf(label)).sort()
  ]
  return once.flatMap(label => (label === ELLIPSIS ? covered : [label]))
}

/** The size of each label: dims of one operand with the same label must be equal, those of several are broadcast. */
export function labelSizes(
  labels: readonly (readonly string[])[],
  shapes: readonly (readonly Dim[])[]
): Map<string, Dim> {
  const sizes = new Map<string, Dim>()
  labels.forEach((own, i) => {
    const ofOperand = new Map<string, Dim>()
    own.forEach((label, axis) => join(ofOperand, label, shapes[i][axis], meetDims))
    for (const [label, dim] of ofOperand) join(sizes, label, dim, broadcastDim)
  })
  return sizes
}

function join(sizes: Map<string, Dim>, label: string, dim: Dim, merge: (a: Dim, b: Dim) => Dim | undefined): void {
  const before = sizes.get(label) ?? dim
  sizes.set(
    label,
    merge(before, dim) ?? fail('shape-mismatch', `label "${label}" has sizes ${printDim(before)} and ${printDim(dim)}`)
  )
}
