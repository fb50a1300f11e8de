import { describe, expect, it } from 'vitest'
import type { DeclaredType } from '../../src/graph/graph.ts'
import { dataToJson, type JsonOptions, tensorFromJson } from '../../src/io/json-tensor.ts'
import { type Json, parseJsonExact, stringifyExact } from '../../src/io/json-text.ts'
import { valueFromJson, valueToJson } from '../../src/io/json.ts'
import type { DType } from '../../src/tensor/dtype.ts'
import { mapOf } from '../../src/tensor/map.ts'
import { Tensor, type Value } from '../../src/tensor/tensor.ts'

const literal = (text: string, options?: JsonOptions): Tensor => tensorFromJson(parseJsonExact(text), options)

describe('parseJsonExact', () => {
  it('agrees with JSON.parse but for integers', () => {
    const text =
      '{"a": [1.5, true, false, null, "x\\u00e9\\n\\"\\\\"], "b": {}, "c": [], "d": [ [ ] , {"e":-2.5e-3} ]\r\n\t}'
    expect(parseJsonExact(text)).toEqual(JSON.parse(text))
    expect(parseJsonExact(' "" ')).toBe('')
  })

  it('keeps integers exact and other numbers apart from them', () => {
    expect(
      parseJsonExact('[9223372036854775807, -9223372036854775808, 18446744073709551615, 0, -0, 1.0, 1e3, 1E+2]')
    ).toEqual([9223372036854775807n, -9223372036854775808n, 18446744073709551615n, 0n, -0, 1, 1000, 100])
    expect(parseJsonExact('1'.repeat(400))).toBe(Infinity)
  })

  it('takes no key for part of the object itself', () => {
    const value = parseJsonExact('{"__proto__": 1, "constructor": 2}') as { readonly [key: string]: Json }
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor'])
    expect('toString' in value).toBe(false)
  })

  it.each([
    ['', 'it ends too early (line 1, column 1)'],
    ['[1,', 'it ends too early (line 1, column 4)'],
    ['[1 2]', '"," or "]" is missing (line 1, column 4)'],
    ['[1,]', 'a value is missing'],
    ['{"a" 1}', '":" is missing'],
    ['{a: 1}', 'a key in double quotes is missing'],
    ['{"a": 1', '"," or "}" is missing'],
    ['{"a": 1, "a": 2}', 'the key "a" is given twice'],
    ['01', 'a number is malformed'],
    ['1.', 'a number is malformed'],
    ['-', 'a number is malformed'],
    ['.5', 'a value is missing'],
    ['1x', 'a number is malformed'],
    ['"a', 'a string is not closed'],
    ['"\n"', 'a character that must be escaped'],
    ['"\\x"', 'must be escaped'],
    ['truth', 'a value is missing'],
    ['NaN', 'written "NaN", "Infinity"'],
    ['[1]\n x', 'text follows its end (line 2, column 2)'],
    ["'a'", 'a value is missing'],
    ['\ufeff1', 'a value is missing']
  ])('refuses %j', (text, message) => {
    expect(() => parseJsonExact(text)).toThrow(
      expect.objectContaining({ code: 'invalid-file', message: expect.stringContaining(message) as string })
    )
  })

  it('writes every character as JSON.stringify does, or as its code where a terminal might act upon it', () => {
    const wrong: number[] = []
    for (let code = 0; code < 0x10000; code++) {
      const text = `a${String.fromCharCode(code)}b`
      const plain = JSON.stringify(text)
      const asCode = `"a\\u${code.toString(16).padStart(4, '0')}b"`
      const isRisky = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(plain)
      if (stringifyExact(text) !== (isRisky ? asCode : plain)) wrong.push(code)
    }
    expect(wrong).toEqual([])
  })

  it('refuses deep nesting and does not crash on it', () => {
    expect(parseJsonExact('['.repeat(100) + ']'.repeat(100))).toHaveLength(1)
    expect(() => parseJsonExact('['.repeat(1_000_000))).toThrow('nested deeper than 128 levels')
  })
})

describe('stringifyExact', () => {
  it('writes what JSON.parse reads, and integers in full', () => {
    expect(stringifyExact([9223372036854775807n, -0, 0.1, NaN, -Infinity, true, null, 'a"\n'])).toBe(
      '[9223372036854775807,-0,0.1,"NaN","-Infinity",true,null,"a\\"\\n"]'
    )
    expect(stringifyExact({ a: [], b: {}, c: [{ d: 1n }] })).toBe('{"a":[],"b":{},"c":[{"d":1}]}')
  })

  it('indents objects and leaves lists of elements on one line', () => {
    expect(stringifyExact({ a: [1n, [2n]], b: [{ c: {} }] }, 2)).toBe(
      '{\n  "a": [1,[2]],\n  "b": [\n    {\n      "c": {}\n    }\n  ]\n}'
    )
  })

  it('is undone by the parser', () => {
    const value: Json = { a: [1n, -0, 0.5, 'x'], b: { c: null }, d: [{ e: [] }, [true]] }
    expect(parseJsonExact(stringifyExact(value))).toEqual(value)
    expect(parseJsonExact(stringifyExact(value, 2))).toEqual(value)
  })
})

describe('tensorFromJson', () => {
  it('takes dims from the nesting', () => {
    expect(literal('[[1, 2, 3], [4, 5, 6]]')).toEqual(new Tensor('int64', [1, 2, 3, 4, 5, 6], [2, 3]))
    expect(literal('7')).toEqual(new Tensor('int64', [7n], []))
    expect(literal('[[], []]')).toEqual(new Tensor('float32', [], [2, 0]))
    expect(literal('[[["a"]]]').dims).toEqual([1, 1, 1])
  })

  it('chooses the type that the elements are of', () => {
    expect(
      ['[1]', '[1.0]', '[1, 0.5]', '[-0]', '[true]', '["a"]', '["NaN"]', '[1, "NaN"]', '[]'].map(
        text => literal(text).type
      )
    ).toEqual(['int64', 'float32', 'float32', 'float32', 'bool', 'string', 'string', 'float32', 'float32'])
  })

  it.each<[DType, string, readonly (number | bigint | string)[]]>([
    ['float32', '[1, 0.5, "NaN", "Infinity", "-Infinity"]', [1, 0.5, NaN, Infinity, -Infinity]],
    ['float16', '[1.5, 70000]', [0x3e00, 0x7c00]],
    ['bfloat16', '[1]', [0x3f80]],
    ['float8e4m3fn', '[448, 1000]', [0x7e, 0x7f]],
    ['float4e2m1', '[-6]', [15]],
    ['int64', '[9223372036854775807]', [2n ** 63n - 1n]],
    ['uint64', '[18446744073709551615]', [2n ** 64n - 1n]],
    ['int4', '[-8, 7]', [-8, 7]],
    ['uint1', '[0, 1]', [0, 1]],
    ['bool', '[true, false]', [1, 0]],
    ['string', '["NaN", ""]', ['NaN', '']],
    ['int32', '[1e2, 3.0]', [100, 3]]
  ])('reads elements of type %s from %s', (type, text, data) => {
    expect(literal(text, { type })).toEqual(new Tensor(type, data as never))
  })

  it('reads complex elements as pairs', () => {
    expect(literal('[[1, 2], [0.5, "NaN"]]', { type: 'complex64' })).toEqual(
      new Tensor('complex64', [1, 2, 0.5, NaN], [2])
    )
    expect(literal('[1, 2]', { type: 'complex128' })).toEqual(new Tensor('complex128', [1, 2], []))
    expect(() => literal('[1, 2, 3]', { type: 'complex64' })).toThrow('1 is no element of type complex64')
  })

  it('reads the flat form', () => {
    expect(literal('{"type": "f16", "dims": [1, 2], "data": [1, 2]}')).toEqual(
      new Tensor('float16', [0x3c00, 0x4000], [1, 2])
    )
    expect(literal('{"dims": [2, 0], "data": []}', { type: 'int8' })).toEqual(new Tensor('int8', [], [2, 0]))
    expect(literal('{"type": "complex64", "dims": [1], "data": [[1, 2]]}')).toEqual(
      new Tensor('complex64', [1, 2], [1])
    )
    expect(literal('{"data": [true]}')).toEqual(new Tensor('bool', [true]))
  })

  it('takes the dims that are asked for', () => {
    expect(literal('[1, 2, 3, 4]', { dims: [2, 2] }).dims).toEqual([2, 2])
    expect(() => literal('[1, 2, 3]', { dims: [2, 2] })).toThrow('dims [2, 2] hold 4 elements, the literal 3')
  })

  it.each([
    ['[[1, 2], [3]]', '[1]'],
    ['[[1, 2], 3]', '[1]'],
    ['[1, [2]]', '[1]'],
    ['[[], [1]]', '[1]'],
    ['[[[1], [2]], [[3], 4]]', '[1, 1]']
  ])('refuses the ragged %s', (text, place) => {
    expect(() => literal(text)).toThrow(
      expect.objectContaining({
        code: 'shape-mismatch',
        message: expect.stringContaining(`the one at ${place}`) as string
      })
    )
  })

  it.each<[string, DType, string]>([
    ['[1.5]', 'int64', '1.5 is no element of type int64'],
    ['[true]', 'int8', 'true is no element'],
    ['["x"]', 'float32', '"x" is no element'],
    ['[1]', 'bool', '1 is no element'],
    ['[1]', 'string', '1 is no element'],
    ['[null]', 'float32', 'null is no element'],
    ['[{}]', 'float32', 'an object is no element']
  ])('refuses %s as %s', (text, type, message) => {
    expect(() => literal(text, { type })).toThrow(
      expect.objectContaining({ code: 'type-mismatch', message: expect.stringContaining(message) as string })
    )
  })

  it.each<[string, DType]>([
    ['[128]', 'int8'],
    ['[-1]', 'uint64'],
    ['[9223372036854775808]', 'int64'],
    ['[16]', 'uint4'],
    ['[-9]', 'int4'],
    ['[1e30]', 'int64']
  ])('refuses %s, which %s cannot hold', (text, type) => {
    expect(() => literal(text, { type })).toThrow(expect.objectContaining({ code: 'value-out-of-range' }))
  })

  it('refuses mixed elements and odd objects', () => {
    expect(() => literal('[1, true]')).toThrow('true is no element of type float32')
    expect(() => literal('{"type": "int7", "data": []}')).toThrow('"int7" is no element type')
    expect(() => literal('{"type": "int8"}')).toThrow('as nested arrays or as {"type", "dims", "data"}')
    expect(() => literal('{"data": [], "shape": [0]}')).toThrow('not with the key "shape"')
    expect(() => literal('{"data": [1], "dims": [-1]}')).toThrow('dims are written as an array of sizes')
    expect(() => literal('{"type": "int8", "data": []}', { type: 'int16' })).toThrow(
      'the literal is of type int8, int16 was asked for'
    )
    expect(() => literal('['.repeat(70) + '1' + ']'.repeat(70))).toThrow('rank above 64')
  })
})

describe('valueFromJson', () => {
  const floats: DeclaredType = { kind: 'tensor', type: 'float32' }
  const value = (text: string, declared?: DeclaredType): Value => valueFromJson(parseJsonExact(text), declared)

  it('reads literals as the declared type', () => {
    expect(value('[1]', floats)).toEqual(new Tensor('float32', [1]))
    expect(value('{"type": "int8", "data": [1]}', floats)).toEqual(new Tensor('int8', [1]))
    expect(value('[1]', { kind: 'tensor' })).toEqual(new Tensor('int64', [1]))
  })

  it('reads sequences and optionals where they are declared', () => {
    expect(value('[[1], [2, 3]]', { kind: 'sequence', element: floats })).toEqual({
      type: 'sequence',
      values: [new Tensor('float32', [1]), new Tensor('float32', [2, 3])]
    })
    expect(value('[]', { kind: 'sequence', element: floats })).toEqual({ type: 'sequence', values: [] })
    expect(value('null', { kind: 'optional', element: floats })).toEqual({ type: 'optional', value: undefined })
    expect(value('[1]', { kind: 'optional', element: floats })).toEqual({
      type: 'optional',
      value: new Tensor('float32', [1])
    })
    expect(() => value('1', { kind: 'sequence', element: floats })).toThrow('a sequence is written as an array')
  })

  it('knows an array of tensors and null by themselves', () => {
    expect(value('[{"data": [1]}, {"data": [true]}]')).toEqual({
      type: 'sequence',
      values: [new Tensor('int64', [1]), new Tensor('bool', [true])]
    })
    expect(value('null')).toEqual({ type: 'optional', value: undefined })
  })
})

describe('a map from JSON', () => {
  const declared: DeclaredType = { kind: 'map', keyType: 'int64', valueType: 'float32' }
  const value = (text: string, type?: DeclaredType): Value => valueFromJson(parseJsonExact(text), type)
  const big = 9223372036854775807n

  it('is a list of pairs or an object, where it is declared', () => {
    expect(value(`[[${big}, 0.5], [-1, "NaN"]]`, declared)).toEqual(
      mapOf('int64', 'float32', [
        [big, 0.5],
        [-1n, NaN]
      ])
    )
    expect(value(`{"${big}": 0.5}`, declared)).toEqual(mapOf('int64', 'float32', [[big, 0.5]]))
    expect(value('{"type": "x", "": "y"}', { kind: 'map', keyType: 'string', valueType: 'string' })).toEqual(
      mapOf('string', 'string', [
        ['type', 'x'],
        ['', 'y']
      ])
    )
    expect(value('{}', declared)).toEqual(mapOf('int64', 'float32', []))
    expect(value('[{"1": 2}]', { kind: 'sequence', element: declared })).toEqual({
      type: 'sequence',
      values: [mapOf('int64', 'float32', [[1n, 2]])]
    })
    expect(value('{"a": 1}', { kind: 'map', keyType: 'string' })).toEqual(mapOf('string', 'int64', [['a', 1n]]))
  })

  it('may say its type, in our words or those of the standard', () => {
    const expected = mapOf('int64', 'float64', [[1n, 2]])
    expect(value('{"type": "map(int64,double)", "value": [[1, 2]]}')).toEqual(expected)
    expect(value('{"type": "map(int64, float64)", "value": [[1, 2]]}', declared)).toEqual(expected)
    for (const name of ['seq', 'sequence'])
      expect(value(`{"type": "${name}(map(int64,f64))", "value": [[[1, 2]], []]}`)).toEqual({
        type: 'sequence',
        values: [expected, mapOf('int64', 'float64', [])]
      })
  })

  it.each([
    ['[1, 2]', 'type-mismatch', 'a map is written as [[key, value], …] or as an object'],
    ['[[1, 2, 3]]', 'type-mismatch', 'a map is written as'],
    ['7', 'type-mismatch', 'a map is written as'],
    ['{"a": 1}', 'type-mismatch', '"a" is no element of type int64'],
    ['[[1.5, 1]]', 'type-mismatch', '1.5 is no element of type int64'],
    ['[[1, "x"]]', 'type-mismatch', '"x" is no element of type float32'],
    ['[[1, 1], [1, 2]]', 'value-out-of-range', 'the key 1 is there twice'],
    ['[[9223372036854775808, 1]]', 'value-out-of-range', 'does not fit int64'],
    ['{"type": "map(int32,float)", "value": []}', 'type-mismatch', 'map(int32,float) is no type of maps'],
    ['{"type": "map(int64,what)", "value": []}', 'type-mismatch', 'is no type of maps'],
    ['{"type": "map(int64,float))", "value": []}', 'type-mismatch', '"type" is no element'],
    ['{"type": "map(int64,constructor)", "value": []}', 'type-mismatch', 'is no type of maps'],
    ['[[1, [2, 3]]]', 'shape-mismatch', 'dims [1] hold 1 elements, the literal 2'],
    ['[[1, [2, 3]], [4, [5, 6]]]', 'shape-mismatch', 'dims [2] hold 2 elements, the literal 4'],
    ['[[[1, 2], 3]]', 'shape-mismatch', 'dims [1] hold 1 elements, the literal 2']
  ])('%s is refused', (text, code, message) => {
    expect(() => value(text, declared)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) as string })
    )
  })
})

describe('valueToJson', () => {
  it('writes flat, exact data', () => {
    expect(valueToJson(new Tensor('int64', [2n ** 63n - 1n], [1, 1]))).toEqual({
      type: 'int64',
      dims: [1, 1],
      data: [2n ** 63n - 1n]
    })
    expect(dataToJson(new Tensor('float16', [0x3c00, 0x7c00]))).toEqual([1, Infinity])
    expect(dataToJson(new Tensor('bool', [true]))).toEqual([true])
    expect(stringifyExact(valueToJson(new Tensor('complex64', [1, NaN])))).toBe(
      '{"type":"complex64","dims":[1],"data":[[1,"NaN"]]}'
    )
  })

  it('writes maps with their type, those of a sequence once', () => {
    const map = mapOf('int64', 'float32', [[2n, NaN]])
    expect(stringifyExact(valueToJson(map))).toBe('{"type":"map(int64,float32)","value":[[2,"NaN"]]}')
    expect(stringifyExact(valueToJson({ type: 'sequence', values: [map, map] }))).toBe(
      '{"type":"sequence(map(int64,float32))","value":[[[2,"NaN"]],[[2,"NaN"]]]}'
    )
    expect(valueToJson({ type: 'sequence', values: [] })).toEqual([])
    const other = mapOf('string', 'float32', [])
    expect(valueToJson({ type: 'sequence', values: [map, other] })).toHaveLength(2)
  })

  it('is undone by valueFromJson', () => {
    const values: Value[] = [
      new Tensor('float32', [0.1, -0, NaN, -Infinity], [2, 2]),
      new Tensor('uint64', [2n ** 64n - 1n]),
      new Tensor('complex128', [0.1, -0], [1]),
      new Tensor('string', ['a\u2028"']),
      new Tensor('float64', [5e-324, 1.7976931348623157e308]),
      { type: 'sequence', values: [new Tensor('bool', [true])] },
      { type: 'optional', value: undefined },
      mapOf('int64', 'float64', [[2n ** 62n, -Infinity]]),
      mapOf('string', 'complex64', [['a', [1, NaN]]]),
      mapOf('string', 'float16', []),
      { type: 'sequence', values: [mapOf('string', 'bool', [['a', true]]), mapOf('string', 'bool', [])] }
    ]
    for (const value of values) expect(valueFromJson(parseJsonExact(stringifyExact(valueToJson(value))))).toEqual(value)
  })
})
