import { describe, expect, test } from 'vitest'
import { integer, unsigned } from '../../src/openvino/numbers.ts'
import { parsePartialShape, parsePortDim, parseStaticShape, splitNames } from '../../src/openvino/shapes.ts'
import { typeFromName, typeFromPrecision, typeOfConstant } from '../../src/openvino/types.ts'

describe('numbers', () => {
  test.each([
    ['0', 0],
    ['007', 7],
    [' 12\n', 12],
    ['9007199254740991', 9007199254740991]
  ])('%j is unsigned', (text, value) => {
    expect(unsigned(text)).toBe(value)
    expect(integer(text)).toBe(value)
  })

  test.each([
    undefined,
    '',
    ' ',
    '-1',
    '+1',
    '0x10',
    '2.5',
    '1e3',
    '1 2',
    '12a',
    '١',
    '9007199254740992',
    '9'.repeat(400)
  ])('%j is not unsigned', text => {
    expect(unsigned(text)).toBeUndefined()
  })

  test('signed ones may have a minus', () => {
    expect(integer(' -3 ')).toBe(-3)
    expect(Object.is(integer('-0'), 0)).toBe(true)
    for (const text of ['-', '- 1', '--1', '-1.5', '+1', undefined]) expect(integer(text)).toBeUndefined()
  })
})

describe('the shape of a Parameter', () => {
  test.each([
    ['1,?,3..10,..5,2..', [1, null, { min: 3, max: 10 }, { min: 0, max: 5 }, { min: 2, max: Infinity }]],
    ['', []],
    ['[]', []],
    [' ', []],
    ['[ 1 , 2..3 ]', [1, { min: 2, max: 3 }]],
    ['-1', [null]],
    ['..', [null]],
    ['0..0', [0]],
    ['007', [7]],
    ['3..3', [3]]
  ])('%j', (text, dims) => {
    expect(parsePartialShape(text)).toEqual({ dims })
  })

  test.each(['...', ' ... ', '[...]'])('%j is of unknown rank', text => {
    expect(parsePartialShape(text)).toEqual({})
  })

  test.each([
    '1,',
    ',1',
    '1 .. 10',
    '+2',
    '2.0',
    '- 1',
    '-2',
    '10..1',
    '1..-1',
    '1,...',
    '[1,2',
    '1,2]',
    '{2,3}',
    'a',
    '99999999999999999999'
  ])('%j is none', text => {
    expect(parsePartialShape(text).problem).toMatch('is no dimension')
  })
})

describe('the shape of a Const', () => {
  test.each([
    ['3, 4', [3, 4]],
    ['3,4,', [3, 4]],
    ['', []],
    ['0', [0]],
    [' 2 ', [2]]
  ])('%j', (text, dims) => {
    expect(parseStaticShape(text)).toEqual({ dims })
  })

  test.each(['?', '-1', '[2]', '2,,3', '1..2'])('%j is none', text => {
    expect(parseStaticShape(text).problem).toMatch('is no dimension')
  })
})

test('a dim of a port is an integer from -1, which is unknown', () => {
  expect([' 3 ', '0', '-1', ' -1 '].map(parsePortDim)).toEqual([3, 0, null, null])
  for (const text of ['', '?', '1..4', '-2', '2.5', '+1', '99999999999999999999'])
    expect(parsePortDim(text)).toBeUndefined()
})

test('names are separated by commas that no backslash precedes', () => {
  expect(splitNames('a,b')).toEqual(['a', 'b'])
  expect(splitNames('a\\,b,,c')).toEqual(['a,b', 'c'])
  expect(splitNames('a\\\\,b')).toEqual(['a\\,b'])
  expect(splitNames(' a , b')).toEqual([' a ', ' b'])
  expect(splitNames('')).toEqual([])
  expect(splitNames(undefined)).toEqual([])
})

describe('element types', () => {
  test('a port names them in lower case or as older files did', () => {
    const types = [
      'f32',
      'FP32',
      'BOOL',
      'boolean',
      'BIN',
      'bin',
      'U1',
      'u1',
      'BF16',
      'nf4',
      'F8E4M3',
      'I64',
      'STRING'
    ].map(typeFromPrecision)
    expect(types).toEqual([
      'float32',
      'float32',
      'bool',
      'bool',
      'uint1',
      'uint1',
      'uint1',
      'uint1',
      'bfloat16',
      'nf4',
      'float8e4m3fn',
      'int64',
      'string'
    ])
    expect(['UNSPECIFIED', 'dynamic', 'undefined'].map(typeFromPrecision)).toEqual(['dynamic', 'dynamic', 'dynamic'])
    for (const text of ['F32', 'fp32', 'INT64', '', 'DYNAMIC', 'UNDEFINED', ' f32', 'int4', 'complex64'])
      expect(typeFromPrecision(text)).toBeUndefined()
  })

  test('<data> names them in any case, a Const in lower case only', () => {
    expect(['f32', 'F32', 'Boolean', 'dynamic'].map(typeFromName)).toEqual(['float32', 'float32', 'bool', 'dynamic'])
    for (const text of ['FP32', 'BOOL', 'float', ' f32', '']) expect(typeFromName(text)).toBeUndefined()
    expect(typeOfConstant('i64')).toBe('int64')
    expect(typeOfConstant('I64')).toBeUndefined()
  })
})
