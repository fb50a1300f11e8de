// Values for the inputs of a mutant: those that its base was tested with, changed ones, or made up as its declarations
// ask.
import { FLOATS, integer, randomFrom } from './random.mjs'

/** More elements than this are no test of anything but patience. */
const MAX_ELEMENTS = 50_000
const TEXTS = ['', 'a', 'b', 'é😀', '\0', '__proto__', 'a b c', ' ', '1', '-1.5', 'x'.repeat(300)]

const product = dims => dims.reduce((a, b) => a * b, 1)

/**
 * Feeds for a session of the model; undefined where the inputs would be too large.
 * @param target the bundle of what is fuzzed
 * @param given values of the base's inputs in order, as far as there are any
 * @param fill `{ how, seed }`
 */
export function feedsFor(target, model, given, fill) {
  const random = randomFrom(fill.seed, fill.how)
  const sizes = new Map()
  const feeds = Object.create(null)
  for (const [i, port] of target.neededInputs(model).entries()) {
    const declared = target.callerType(model, 'input', port)
    const value =
      declared === undefined || declared.kind === 'tensor'
        ? tensorFor(target, declared, given[i], fill.how, random, sizes)
        : otherValue(declared, given[i])
    if (value === undefined) return undefined
    feeds[port.name] = value
  }
  return feeds
}

function otherValue(declared, given) {
  if (given?.type === declared.kind) return given
  return declared.kind === 'sequence' ? { type: 'sequence', values: [] } : { type: 'optional', value: undefined }
}

function tensorFor(target, declared, given, how, random, sizes) {
  const isGiven = given !== undefined && 'dims' in given
  const type = declared?.type ?? (isGiven ? given.type : 'float32')
  const dims =
    declared?.dims === undefined
      ? isGiven
        ? given.dims
        : []
      : declared.dims.map((dim, i) => sizeOf(dim, isGiven ? given.dims[i] : undefined, random, sizes))
  // A session must say itself what is wrong with such a rank.
  if (dims.length > 64 || product(dims) > MAX_ELEMENTS) return undefined
  const isSame = isGiven && given.type === type && String(given.dims) === String(dims)
  if (isSame && how === 'given') return given
  const data = isSame ? given.data.slice() : target.allocate(type, dims).data
  if (!isSame || how === 'changed')
    change(target, data, type, how === 'given' || how === 'changed' ? 'small' : how, random, isSame ? 0.1 : 1)
  else change(target, data, type, how, random, 1)
  return new target.Tensor(type, data, dims)
}

function sizeOf(dim, given, random, sizes) {
  if (typeof dim === 'number') return dim
  if (typeof dim === 'string') {
    if (!sizes.has(dim)) sizes.set(dim, given ?? random.between(1, 3))
    return sizes.get(dim)
  }
  return given ?? (dim === null ? random.between(1, 3) : Math.max(dim.min, Math.min(2, dim.max)))
}

function change(target, data, type, how, random, share) {
  const { kind, bits } = target.DTYPES[type]
  const next = {
    string: () => random.pick(TEXTS),
    bool: () => (how === 'zeros' ? 0 : how === 'ones' ? 1 : random.below(2)),
    int: () => whole(how, random),
    uint: () => whole(how, random),
    // 16-bit and smaller floats are codes.
    float: bits < 32 ? () => (how === 'zeros' ? 0 : random.below(2 ** bits)) : () => real(how, random),
    complex: () => real(how, random)
  }[kind]
  const isBig = data instanceof BigInt64Array || data instanceof BigUint64Array
  const isSmall = bits < 8 && bits > 0 && kind !== 'bool'
  for (let i = 0; i < data.length; i++) {
    if (share < 1 && !random.chance(share)) continue
    const value = next()
    if (typeof value !== 'bigint') data[i] = value
    else if (isBig) data[i] = value
    else
      data[i] = Number(
        isSmall ? (kind === 'int' ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value)) : BigInt.asIntN(32, value)
      )
  }
}

const whole = (how, random) =>
  how === 'zeros' ? 0n : how === 'ones' ? 1n : how === 'small' ? BigInt(random.below(3)) : integer(random)
const real = (how, random) =>
  how === 'zeros' ? 0 : how === 'ones' ? 1 : how === 'small' ? random.below(2000) / 1000 - 0.5 : random.pick(FLOATS)
