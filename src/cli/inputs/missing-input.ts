import { printDeclared } from '../../check/compare.ts'
import { NodewiseError } from '../../errors.ts'
import type { DeclaredDim, DeclaredType, GraphPort, Model } from '../../graph/graph.ts'
import { DTYPES } from '../../tensor/dtype.ts'
import { product } from '../../tensor/tensor.ts'
import { dimsText } from '../terminal.ts'
import { callerType, neededInputs } from './inputs.ts'

/** Elements of an example that is written out. */
const MAX_ELEMENTS = 12

/**
 * The error of an input that is not given, with the type and dims of all that are not, and what can be typed.
 * @param given names of the inputs that are
 */
export function withExample(model: Model, error: NodewiseError, given: ReadonlySet<string>): NodewiseError {
  const missing = neededInputs(model).filter(({ name }) => !given.has(name))
  if (missing.length === 0) return error
  const types = missing.map(port => callerType(model, 'input', port))
  const described = missing.map((port, i) => `"${port.name}" (${typeText(types[i])})`)
  const literals = missing.map((port, i) => literalOption(port, types[i]))
  const example = literals.every(text => text !== undefined) ? `for example ${literals.join(' ')}, or ` : ''
  const what = missing.length === 1 ? `input ${described[0]} is` : `inputs ${described.join(', ')} are`
  return new NodewiseError(
    'missing-input',
    `${what} not given; ${example}${fillOptions(missing, types)} for values of no meaning`,
    error.place,
    { ...error.details, inputs: missing.map(port => port.name) }
  )
}

/** A size that a dim can have. */
const leastOf = (dim: DeclaredDim): number =>
  typeof dim === 'number' ? dim : typeof dim === 'object' && dim !== null ? Math.max(dim.min, Math.min(1, dim.max)) : 1

function typeText(declared: DeclaredType | undefined): string {
  if (declared === undefined) return 'of any type'
  if (declared.kind === 'tensor') {
    return `${declared.type ?? 'any type'} ${dimsText(declared.dims?.map(printDeclared))}`
  }
  return declared.kind === 'other' ? declared.text : declared.kind
}

/** `-i x=[[0.5,0.5]]`; undefined where that would be too long, or where JSON of such a value is no example. */
function literalOption({ name }: GraphPort, declared: DeclaredType | undefined): string | undefined {
  if (declared?.kind !== 'tensor' || declared.type === undefined || declared.dims === undefined) return undefined
  const { kind } = DTYPES[declared.type]
  const sizes = declared.dims.map(dim => (typeof dim === 'string' ? 2 : leastOf(dim)))
  if (product(sizes) > MAX_ELEMENTS || product(sizes) === 0 || kind === 'complex') return undefined
  if (kind === 'string' && product(sizes) === 1) return quoted(`${name}=text`)
  const element = kind === 'string' ? '"text"' : kind === 'bool' ? 'true' : kind === 'float' ? '0.5' : '1'
  const nested = sizes.reduceRight((text, size) => `[${new Array<string>(size).fill(text).join(',')}]`, element)
  return quoted(`${name}=${nested}`)
}

/** A text as a shell takes it. */
const quoted = (text: string, option = '-i'): string =>
  /^[\w=.,:/-]*$/.test(text) ? `${option} ${text}` : `${option} '${text.replaceAll("'", String.raw`'\''`)}'`

/** `--fill random --shape batch=1 --shape x=1x3`, with the dims that have to be said: of those without a name, all. */
function fillOptions(ports: readonly GraphPort[], types: readonly (DeclaredType | undefined)[]): string {
  const shapes = new Set<string>()
  ports.forEach(({ name }, i) => {
    const declared = types[i]
    if (declared?.kind !== 'tensor') return
    const { dims } = declared
    if (dims === undefined) shapes.add(`${name}=1`)
    else if (dims.some(dim => typeof dim === 'object')) shapes.add(`${name}=${dims.map(leastOf).join('x')}`)
    else for (const dim of dims) if (typeof dim === 'string') shapes.add(`${dim}=1`)
  })
  return ['--fill random', ...[...shapes].map(text => quoted(text, '--shape'))].join(' ')
}
