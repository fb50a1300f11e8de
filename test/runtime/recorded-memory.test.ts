import { describe, expect, test } from 'vitest'
import { isPartOf, RecordedMemory } from '../../src/runtime/recorded-memory.ts'
import { Arena } from '../../src/wasm/arena.ts'

const floatsAt = ({ buffer, byteOffset }: Uint8Array, from: number, count: number): Float32Array =>
  new Float32Array(buffer, byteOffset + 4 * from, count)

describe('memory of recorded values', () => {
  test('serves later values once no slot holds a part of it', () => {
    const arena = new Arena(1 << 16)
    const memory = new RecordedMemory(arena)
    const piece = memory.take(400)!
    const behind = memory.take(400)!
    const parts = [floatsAt(piece, 0, 50), floatsAt(piece, 50, 50)]
    for (const part of [...parts, parts[0]]) memory.hold(part)
    memory.hold(floatsAt(behind, 0, 100))
    memory.release(parts[0])
    memory.release(parts[1])
    expect(memory.take(400)!.byteOffset).not.toBe(piece.byteOffset)
    memory.release(parts[0])
    expect(memory.take(400)!.byteOffset).toBe(piece.byteOffset)
    arena.freeAll()
  })

  test('has nothing to do with elements that lie elsewhere', () => {
    const arena = new Arena(1 << 16)
    const memory = new RecordedMemory(arena)
    for (const data of [new Float32Array(4), arena.take(64), ['text']]) {
      memory.hold(data)
      memory.release(data)
    }
    expect(memory.take(64)).toHaveLength(64)
    arena.freeAll()
  })
})

test('elements are part of others where these lie on the heap, and of themselves anywhere', () => {
  const arena = new Arena(1 << 16)
  const whole = arena.take(256)!
  expect(isPartOf(floatsAt(whole, 16, 16), whole)).toBe(true)
  expect(isPartOf(floatsAt(whole, 56, 16), whole)).toBe(false)
  const own = new Float32Array(16)
  expect(isPartOf(own, own)).toBe(true)
  expect(isPartOf(own.subarray(0, 4), own)).toBe(false)
  arena.freeAll()
})
