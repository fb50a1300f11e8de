import { describe, expect, test } from 'vitest'
import { decodeText } from '../../src/onnx/text.ts'
import { utf8 } from './encode.ts'

describe('decodeText', () => {
  test.each(['', 'plain', 'é€𝄞', '\ufeffmark', 'a\0b'])('gives %j back', text => {
    expect(decodeText(utf8(text))).toBe(text)
  })

  test.each([
    [[0xff], '\udcff'],
    [[0x61, 0x80, 0x62], 'a\udc80b'],
    [[0xc3, 0xa9, 0xc3], 'é\udcc3'],
    [[0xed, 0xa0, 0x80], '\udced\udca0\udc80'],
    [[0xc0, 0x80], '\udcc0\udc80'],
    [[0xf5, 0x80, 0x80, 0x80], '\udcf5\udc80\udc80\udc80'],
    [[0xe2, 0x82, 0x41], '\udce2\udc82A'],
    [[0xf0, 0x9d, 0x84, 0x9e, 0xf0, 0x8f, 0xbf, 0xbf], '𝄞\udcf0\udc8f\udcbf\udcbf']
  ])('keeps the bytes %j that are no UTF-8 as surrogates', (bytes, text) => {
    expect(decodeText(Uint8Array.from(bytes))).toBe(text)
  })
})
