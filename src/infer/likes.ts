import type { Call } from '../bind/call.ts'

/** Longer lists are not compared. */
const MAX_LIST = 64

/** Numbers for objects, so that keys can name them. */
export class Numbers {
  private readonly own = new Map<object, number>()
  private readonly shared = new Map<object, number>()
  private readonly byContents = new Map<string, number>()

  /** The number of this object alone. */
  of(object: object): number {
    const number = this.own.get(object) ?? this.own.size
    this.own.set(object, number)
    return number
  }

  /** The number of all lists and plain objects that hold the same: operators and their parts are objects in objects. */
  ofContents(object: object): number {
    let number = this.shared.get(object)
    if (number !== undefined) return number
    const isList = Array.isArray(object)
    const texts = Object.entries(object).map(([name, value]) => [name, textOf(value, this)])
    const contents = JSON.stringify([isList, isList ? object.length : undefined, texts])
    number = this.byContents.get(contents) ?? this.byContents.size
    this.byContents.set(contents, number)
    this.shared.set(object, number)
    return number
  }
}

/** Parameters as text; functions, long lists and what has a class of its own are the same only where they are one. */
export function textOf(known: unknown, numbers: Numbers): string {
  if (known === undefined) return 'undefined'
  if (typeof known === 'number' || typeof known === 'bigint')
    return Object.is(known, -0) ? '-0' : `${typeof known} ${String(known)}`
  if (typeof known === 'function') return `#${numbers.of(known)}`
  if (typeof known !== 'object' || known === null) return JSON.stringify(known)
  const isPlain = Array.isArray(known) ? known.length <= MAX_LIST : Object.getPrototypeOf(known) === Object.prototype
  return isPlain ? `=${numbers.ofContents(known)}` : `#${numbers.of(known)}`
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
