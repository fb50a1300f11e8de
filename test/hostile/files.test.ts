import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, symlinkSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { fileSource } from '../../src/files/byte-source.ts'
import { load } from '../../src/load.ts'
import { temporaryFolder } from '../cli/command.ts'
import { TYPE } from '../onnx/encode.ts'
import { type Answer, holdAll, type Hostile, put } from './hold.ts'
import { encodeModel, node } from './models.ts'

const entries = (fields: Readonly<Record<string, string>>): object[] =>
  Object.entries(fields).map(([key, value]) => ({ key, value }))
/** A model that adds two floats of another file to its input. */
const modelOf = (fields: Readonly<Record<string, string>>, more: object = {}): Uint8Array =>
  encodeModel([node('Add', ['x', 'w'], ['y'])], {
    initializer: [
      { name: 'w', dims: [2], dataType: TYPE.FLOAT, dataLocation: 1, externalData: entries(fields), ...more }
    ]
  })
/** A model in `inner/`, whose data are at `location`; `prepare` makes what there is to find. */
const external = (
  name: string,
  location: string,
  prepare: (folder: string, inner: string) => void,
  ...answers: readonly Answer[]
): Hostile => ({
  name,
  make(folder) {
    const inner = join(folder, 'inner')
    mkdirSync(inner)
    put(folder, 'secret.bin', new Uint8Array(8))
    prepare(folder, inner)
    return put(inner, 'model.onnx', modelOf({ location: location.replaceAll('{folder}', folder) }))
  },
  answers
})
const RUN = 'run --fill zeros'
const OUTSIDE: readonly Answer[] = [
  ['inspect', 0],
  ['check', 1, 'outside-folder'],
  [RUN, 2, 'outside-folder']
]
const FINE: readonly Answer[] = [
  ['check', 0],
  [RUN, 0]
]
const nothing = (): void => undefined
const weights = (folder: string): string => put(folder, 'w.bin', new Uint8Array(8))

describe("external data stay in the model's folder", () =>
  holdAll([
    external(
      'beside the model: fine',
      'w.bin',
      (_, inner) => {
        weights(inner)
      },
      ...FINE
    ),
    external(
      'in a folder below: fine',
      'sub/w.bin',
      (_, inner) => {
        mkdirSync(join(inner, 'sub'))
        weights(join(inner, 'sub'))
      },
      ...FINE
    ),
    external('one folder up', '../secret.bin', nothing, ...OUTSIDE),
    external(
      'up after going down',
      'sub/../../secret.bin',
      (_, inner) => {
        mkdirSync(join(inner, 'sub'))
      },
      ...OUTSIDE
    ),
    external('up from a folder that is not there', 'none/../../secret.bin', nothing, ...OUTSIDE),
    external('with backslashes', '..\\secret.bin', nothing, [RUN, 2]),
    external('at an absolute path', '{folder}/secret.bin', nothing, ...OUTSIDE),
    external(
      'at an absolute path within the folder',
      '{folder}/inner/w.bin',
      (_, inner) => {
        weights(inner)
      },
      ...OUTSIDE
    ),
    external('at a drive of Windows', 'C:\\secret.bin', nothing, ...OUTSIDE),
    external('at a share of Windows', '\\\\server\\share\\w.bin', nothing, ...OUTSIDE),
    external('at /dev/zero', '/dev/zero', nothing, ...OUTSIDE),
    external('at /etc/passwd', '../../../../../../../../etc/passwd', nothing, ...OUTSIDE),
    external('at a URL', 'file:///etc/passwd', nothing, [RUN, 2, 'missing-file']),
    external(
      'behind a link that leads out',
      'w.bin',
      (folder, inner) => symlinkSync(join(folder, 'secret.bin'), join(inner, 'w.bin')),
      ...OUTSIDE
    ),
    external(
      'behind two links that lead out',
      'w.bin',
      (_, inner) => {
        symlinkSync('v.bin', join(inner, 'w.bin'))
        symlinkSync('../secret.bin', join(inner, 'v.bin'))
      },
      ...OUTSIDE
    ),
    external(
      'behind a folder that is a link out',
      'sub/secret.bin',
      (_, inner) => symlinkSync('..', join(inner, 'sub')),
      ...OUTSIDE
    ),
    external(
      'behind a link in a folder of a name that begins as this one',
      '../inner2/w.bin',
      folder => {
        mkdirSync(join(folder, 'inner2'))
        weights(join(folder, 'inner2'))
      },
      ...OUTSIDE
    ),
    external(
      'behind a link within the folder: fine',
      'w.bin',
      (_, inner) => {
        put(inner, 'v.bin', new Uint8Array(8))
        symlinkSync('v.bin', join(inner, 'w.bin'))
      },
      ...FINE
    ),
    external(
      'behind a hard link: accepted, as package stores make them',
      'w.bin',
      (folder, inner) => linkSync(join(folder, 'secret.bin'), join(inner, 'w.bin')),
      ...FINE
    ),
    external(
      'in the data root: fine',
      'secret.bin',
      nothing,
      [RUN, 2, 'missing-file'],
      [`${RUN} --data-root {folder}`, 0],
      ['check --data-root {folder}', 0]
    ),
    external('outside the data root too', '../../etc/passwd', nothing, [
      `${RUN} --data-root {folder}`,
      2,
      'outside-folder'
    ]),
    external('with a data root that is not there', 'w.bin', nothing, [
      `${RUN} --data-root {folder}/none`,
      2,
      'missing-file'
    ]),
    {
      name: 'a model reached through a link, with its data beside the real file: fine, as caches do it',
      make(folder) {
        mkdirSync(join(folder, 'blobs'))
        mkdirSync(join(folder, 'snapshot'))
        weights(join(folder, 'blobs'))
        put(join(folder, 'blobs'), 'abc123', modelOf({ location: 'w.bin' }))
        symlinkSync('../blobs/abc123', join(folder, 'snapshot', 'model.onnx'))
        return join(folder, 'snapshot', 'model.onnx')
      },
      answers: FINE
    },
    {
      name: 'a model and its data, both links into a cache: fine, both lie in one folder',
      make(folder) {
        mkdirSync(join(folder, 'blobs'))
        mkdirSync(join(folder, 'snapshot'))
        put(join(folder, 'blobs'), 'def456', new Uint8Array(8))
        put(join(folder, 'blobs'), 'abc123', modelOf({ location: 'w.bin' }))
        symlinkSync('../blobs/abc123', join(folder, 'snapshot', 'model.onnx'))
        symlinkSync('../blobs/def456', join(folder, 'snapshot', 'w.bin'))
        return join(folder, 'snapshot', 'model.onnx')
      },
      answers: FINE
    },
    {
      name: 'a model that is a link, with data that are a link to somewhere else',
      make(folder) {
        for (const name of ['blobs', 'snapshot', 'elsewhere']) mkdirSync(join(folder, name))
        weights(join(folder, 'elsewhere'))
        put(join(folder, 'blobs'), 'abc123', modelOf({ location: 'w.bin' }))
        symlinkSync('../blobs/abc123', join(folder, 'snapshot', 'model.onnx'))
        symlinkSync('../elsewhere/w.bin', join(folder, 'snapshot', 'w.bin'))
        return join(folder, 'snapshot', 'model.onnx')
      },
      answers: OUTSIDE
    }
  ]))

describe('external data are regular files of the right size', () =>
  holdAll([
    external('a folder', 'w.bin', (_, inner) => mkdirSync(join(inner, 'w.bin')), [RUN, 2, 'invalid-file', 'folder']),
    external("the model's own folder", '.', nothing, ['check', 1], [RUN, 2]),
    external(
      'a pipe',
      'w.bin',
      (_, inner) => {
        execFileSync('mkfifo', [join(inner, 'w.bin')])
      },
      ['check', 1, 'invalid-file'],
      [RUN, 2, 'invalid-file', 'pipe']
    ),
    external('a link to /dev/zero', 'w.bin', (_, inner) => symlinkSync('/dev/zero', join(inner, 'w.bin')), ...OUTSIDE),
    external('a device of the data root', 'zero', nothing, [`${RUN} --data-root /dev`, 2, 'invalid-file', 'device']),
    external('a link to itself', 'w.bin', (_, inner) => symlinkSync('w.bin', join(inner, 'w.bin')), [
      RUN,
      2,
      'missing-file'
    ]),
    external('a link to nothing', 'w.bin', (_, inner) => symlinkSync('none.bin', join(inner, 'w.bin')), [
      RUN,
      2,
      'missing-file'
    ]),
    external(
      "nothing: no fault of the model's own",
      'w.bin',
      nothing,
      ['inspect', 0],
      ['check', 0],
      [RUN, 2, 'missing-file']
    ),
    external(
      'an empty file',
      'w.bin',
      (_, inner) => {
        put(inner, 'w.bin', '')
      },
      ['check', 1, 'invalid-file'],
      [RUN, 2, 'invalid-file']
    ),
    external(
      'a file that is a byte too short',
      'w.bin',
      (_, inner) => {
        put(inner, 'w.bin', new Uint8Array(7))
      },
      ['check', 1, 'invalid-file'],
      [RUN, 2, 'invalid-file']
    ),
    external('a location of 100,000 characters', 'w/'.repeat(50_000), nothing, [RUN, 2, 'missing-file']),
    external('a location with a NUL', 'w.bin\0.txt', nothing, ['check', 1, 'invalid-file'], [RUN, 2, 'invalid-file']),
    external('a location of a prototype', '__proto__', nothing, [RUN, 2, 'missing-file']),
    external('no location', '', nothing, ['check', 1, 'external-data'], [RUN, 2, 'invalid-graph']),
    external(
      'a file that one may not read, or may if one is root',
      'w.bin',
      (_, inner) => {
        execFileSync('chmod', ['000', weights(inner)])
      },
      ['inspect', 0]
    ),
    ...(
      [
        ['offset', '8', 'invalid-file'],
        ['offset', '-1', 'invalid-graph'],
        ['offset', '9007199254740993', 'invalid-graph'],
        ['offset', '9007199254740990', 'invalid-file'],
        ['offset', '18446744073709551612', 'invalid-graph'],
        ['offset', '1e1', 'invalid-graph'],
        ['offset', '0x4', 'invalid-graph'],
        ['offset', '', 'invalid-graph'],
        ['length', '4', 'invalid-graph'],
        ['length', '16', 'invalid-graph'],
        ['length', '-8', 'invalid-graph'],
        ['length', '99999999999999999999', 'invalid-graph']
      ] as const
    ).map(([key, value, code]): Hostile => ({
      name: `${key} "${value}"`,
      make: folder => {
        weights(folder)
        return put(folder, 'model.onnx', modelOf({ location: 'w.bin', [key]: value }))
      },
      answers: [
        ['inspect', 0],
        ['check', 1],
        [RUN, 2, code]
      ]
    })),
    {
      name: 'data that claim terabytes',
      make: folder => {
        weights(folder)
        return put(folder, 'model.onnx', modelOf({ location: 'w.bin' }, { dims: [2 ** 40] }))
      },
      answers: [
        ['check', 1, 'invalid-file'],
        [RUN, 2]
      ]
    },
    {
      name: 'the model itself as its data: fine, it is in its folder',
      make: folder => put(folder, 'model.onnx', modelOf({ location: 'model.onnx' })),
      answers: FINE
    }
  ]))

describe('the model itself is a regular file', () => {
  const models: [string, (folder: string) => string, Answer][] = [
    ['a folder', folder => folder, ['run', 2, 'invalid-file']],
    ['a file that is not there', folder => join(folder, 'none.onnx'), ['inspect', 2, 'missing-file']],
    ['/dev/zero', () => '/dev/zero', ['inspect', 2, 'invalid-file']],
    [
      'a pipe',
      folder => {
        execFileSync('mkfifo', [join(folder, 'pipe.onnx')])
        return join(folder, 'pipe.onnx')
      },
      ['inspect', 2, 'invalid-file']
    ],
    ['a file below a file', folder => join(put(folder, 'a', ''), 'b.onnx'), ['inspect', 2, 'missing-file']],
    ['a name that is too long', folder => join(folder, 'n'.repeat(5000)), ['inspect', 2, 'missing-file']]
  ]
  holdAll(models.map(([name, make, answer]) => ({ name, make, answers: [answer] })))
})

describe('a file that changes while it is used is an error', () => {
  const top = temporaryFolder()

  test('when it shrinks between two reads', () => {
    const path = put(top, 'shrinks.bin', new Uint8Array(10_000))
    const source = fileSource(path)
    expect(source.read(9000, 1000)).toHaveLength(1000)
    truncateSync(path, 5000)
    expect(() => source.read(9000, 1000)).toThrow(expect.objectContaining({ code: 'invalid-file' }))
  })

  test('when it is written to between two reads', async () => {
    const path = put(top, 'written.bin', new Uint8Array(10_000))
    const source = fileSource(path)
    source.read(0, 10)
    await setTimeout(20)
    put(top, 'written.bin', new Uint8Array(10_000).fill(1))
    expect(() => source.read(0, 10)).toThrow(expect.objectContaining({ code: 'invalid-file' }))
  })

  test('when a model shrinks between loading and reading its weights', async () => {
    const bytes = encodeModel([node('Identity', ['w'], ['y'])], {
      input: [],
      initializer: [{ name: 'w', dims: [5000], dataType: TYPE.FLOAT, rawData: new Uint8Array(20_000) }]
    })
    const path = put(top, 'model.onnx', bytes)
    const model = await load(path)
    truncateSync(path, 10_000)
    expect(() => model.graph.initializers.get('w')?.read()).toThrow(expect.objectContaining({ code: 'invalid-file' }))
  })
})
