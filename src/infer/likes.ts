import type { Call } from '../bind/call.ts'

/** Numbers for objects, so that keys can name them. */
export class Numbers {
  private readonly numbers = new Map<object, number>()

  of(object: object): number {
    const number = this.numbers.get(object) ?? this.numbers.size
    this.numbers.set(object, number)
    return number
  }
}

/** Longer lists are not compared. */
const MAX_LIST = 64

/** Parameters as text; functions, long lists and what has a class of its own are the same only where they are one. */
export function textOf(known: unknown, numbers: Numbers): string {
  if (known === undefined) return 'undefined'
  if (typeof known === 'number' || typeof known === 'bigint')
    return Object.is(known, -0) ? '-0' : `${typeof known} ${String(known)}`
  if (typeof known === 'function') return `#${numbers.of(known)}`
  if (typeof known !== 'object' || known === null) return JSON.stringify(known)
  const isList = Array.isArray(known)
  const isPlain = isList ? known.length <= MAX_LIST : Object.getPrototypeOf(known) === Object.prototype
  if (!isPlain) return `#${numbers.of(known)}`
  return JSON.stringify([isList, ...Object.entries(known).map(([name, value]) => [name, textOf(value, numbers)])])
}

/** What calls keep together that work out the same from the same inputs. */
export interface Like<K> {
  kept: K | undefined
}

/**
 * The calls of a plan by what they work out of their inputs, whose values they are apart from: the layers of a decoder
 * have the same calls, and each token has them prepared for other dims.
 */
export class Likes<K> {
  private readonly numbers = new Numbers()
  private readonly byKey = new Map<string, Like<K>>()

  of(call: Call): Like<K> {
    const key = this.keyOf(call)
    const like = this.byKey.get(key) ?? { kept: undefined }
    this.byKey.set(key, like)
    return like
  }

  private keyOf({ op, opVersion, dialect, version, outputCount, maxRank, schema, ...call }: Call): string {
    const { numbers } = this
    const given = [call.inputs, call.outputs].map(ids => ids.map(id => id !== undefined))
    const objects = [op, opVersion, schema ?? opVersion].map(object => numbers.of(object))
    const parts = [call.known, call.dataDependent, call.operands, call.inputTypes].map(part => textOf(part, numbers))
    return JSON.stringify([objects, dialect, version, outputCount, maxRank, given, parts])
  }
}
