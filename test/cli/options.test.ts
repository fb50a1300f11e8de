import { expect, test } from 'vitest'
import { byteSize, duration, openDims, seconds, splitNamed, wholeNumber } from '../../src/cli/options.ts'

test.each([
  ['0', 0],
  ['4096', 4096],
  ['2GB', 2e9],
  ['2gb', 2e9],
  ['512MiB', 512 * 2 ** 20],
  ['1.5k', 1500],
  ['1 KiB', 1024],
  ['3T', 3e12],
  ['7b', 7]
])('%s is a size of %d bytes', (text, bytes) => expect(byteSize('--x')(text)).toBe(bytes))

test.each(['', 'GB', '2 apples', '-1', '1e9', '2GiBB', '99999999TB'])('"%s" is no size', text =>
  expect(() => byteSize('--x')(text)).toThrow(`--x ${text}: a size such as 2GB`)
)

test('a name may hold = when the model has such an input', () => {
  expect(splitNamed('-i', 'a=b=1', ['a', 'a=b'])).toEqual({ name: 'a=b', value: '1' })
  expect(splitNamed('-i', 'a=b=1', ['a'])).toEqual({ name: 'a', value: 'b=1' })
  expect(splitNamed('-i', 'c=1', ['a'])).toEqual({ name: 'c', value: '1' })
  expect(() => splitNamed('-i', 'c', ['c'])).toThrow(/name=value/)
})

test('dims are written with x or in brackets, none for a scalar', () => {
  expect(openDims('--shape x', '2x3')).toEqual([2, 3])
  expect(openDims('--shape x', '[2, 3]')).toEqual([2, 3])
  expect(openDims('--shape x', '7')).toEqual([7])
  expect(openDims('--shape x', '[]')).toEqual([])
  for (const text of ['', '2x', 'axb', '[2', '2,3', '[-2]', '[2,*]', '99999999999999999999'])
    expect(() => openDims('--shape x', text)).toThrow(/--shape x: /)
})

test('open dims may be names, intervals and unknown', () => {
  expect(openDims('--input-shape x', '[2,batch,1..10,5..,..7,?,-1]')).toEqual([
    2,
    'batch',
    { min: 1, max: 10 },
    { min: 5, max: Infinity },
    { min: 0, max: 7 },
    null,
    null
  ])
  for (const text of ['[9..1]', '[a b]', '[1...3]', '[2*n]', 'batch'])
    expect(() => openDims('--input-shape x', text)).toThrow(/--input-shape x: /)
})

test('numbers of options are whole and large enough', () => {
  expect(wholeNumber('--jobs', 1)('12')).toBe(12)
  for (const text of ['0', '-1', '1.5', 'two', '', '99999999999999999999'])
    expect(() => wholeNumber('--jobs', 1)(text)).toThrow(/--jobs/)
})

test('a time in seconds is above 0 and may have a fraction', () => {
  expect(seconds('--timeout')('1.5')).toBe(1.5)
  expect(seconds('--timeout')('.25')).toBe(0.25)
  for (const text of ['0', '-1', '1e9', 'soon', '']) expect(() => seconds('--timeout')(text)).toThrow(/seconds above 0/)
})

test('a duration is in seconds, or in the unit that it names', () => {
  expect(['5s', '500ms', '2m', '1.5', '1min'].map(duration('--time'))).toEqual([5000, 500, 120_000, 1500, 60_000])
  for (const text of ['0', '-1s', '5 days', '', 's']) expect(() => duration('--time')(text)).toThrow(/--time .*5s/)
})
