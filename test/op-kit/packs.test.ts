import { describe, expect, test } from 'vitest'
import type { Pack } from '../../src/op-kit/define.ts'
import { derivedPack, isSamePack, namedPack } from '../../src/op-kit/packs.ts'

const made = (): Pack => () => undefined
const again =
  (from: Pack): Pack =>
  (constants, parameters, context) =>
    from(constants, parameters, context)

describe('packs', () => {
  test('are the same where they are one, or have one name', () => {
    const pack = made()
    expect(isSamePack(pack, pack)).toBe(true)
    expect(isSamePack(pack, made())).toBe(false)
    expect(isSamePack(namedPack('a', made()), namedPack('a', made()))).toBe(true)
    expect(isSamePack(namedPack('a', made()), namedPack('b', made()))).toBe(false)
    expect(isSamePack(namedPack('a', made()), pack)).toBe(false)
  })

  test('that are made of others are the same where these are, and where they are made in the same way', () => {
    const pack = made()
    expect(isSamePack(derivedPack('wide', pack, again), derivedPack('wide', pack, again))).toBe(true)
    expect(isSamePack(derivedPack('wide', pack, again), derivedPack('narrow', pack, again))).toBe(false)
    expect(isSamePack(derivedPack('wide', pack, again), derivedPack('wide', made(), again))).toBe(false)
    expect(isSamePack(derivedPack('wide', pack, again), pack)).toBe(false)
    const [one, other] = [made(), made()].map(from => derivedPack('wide', namedPack('a', from), again))
    expect(isSamePack(one, other)).toBe(true)
  })
})
