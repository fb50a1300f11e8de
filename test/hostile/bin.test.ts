import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe } from 'vitest'
import { layer, net } from '../openvino/ir.ts'
import { type Answer, holdAll, type Hostile, put } from './hold.ts'

describe('constants and their .bin', () => {
  const withBin = (
    name: string,
    data: string,
    bin: Uint8Array | undefined,
    ...answers: readonly Answer[]
  ): Hostile => ({
    name,
    make(folder) {
      if (bin) put(folder, 'model.bin', bin)
      return put(
        folder,
        'model.xml',
        net([layer(0, 'Const', { data, out: ['0:FP32[2]'] }), layer(1, 'Result', { in: ['0:FP32[2]'] })], ['0:0>1:0'])
      )
    },
    answers
  })
  const eight = new Uint8Array(8)
  holdAll([
    withBin(
      'a .bin that is missing',
      'element_type="f32" shape="2" offset="0" size="8"',
      undefined,
      ['inspect', 0],
      ['run', 2, 'missing-file']
    ),
    withBin('a .bin that is too short', 'element_type="f32" shape="2" offset="4" size="8"', eight, [
      'run',
      2,
      'invalid-file'
    ]),
    withBin('an offset beyond the .bin', 'element_type="f32" shape="2" offset="9007199254740991" size="8"', eight, [
      'run',
      2,
      'invalid-file'
    ]),
    withBin(
      'an offset whose sum overflows',
      'element_type="f32" shape="2" offset="9007199254740990" size="9007199254740990"',
      eight,
      ['run', 2, 'invalid-file']
    ),
    withBin(
      'a size that is too small',
      'element_type="f32" shape="2" offset="0" size="4"',
      eight,
      ['check', 1, 'constant-size'],
      ['run', 2]
    ),
    withBin('a size of terabytes', 'element_type="f32" shape="1099511627776" offset="0" size="4398046511104"', eight, [
      'run',
      2
    ]),
    withBin('an unaligned offset, which is fine', 'element_type="f32" shape="1" offset="3" size="4"', eight, [
      'run',
      0
    ]),
    withBin('a packed type with an odd count', 'element_type="u4" shape="3" offset="0" size="2"', eight, ['run', 0]),
    withBin(
      'a packed type with a byte too few',
      'element_type="u4" shape="3" offset="0" size="1"',
      eight,
      ['check', 1, 'constant-size'],
      ['run', 2]
    ),
    withBin(
      'a shape that is negative',
      'element_type="f32" shape="-2" offset="0" size="8"',
      eight,
      ['check', 1, 'bad-shape'],
      ['run', 2]
    ),
    withBin(
      'strings whose packing claims billions',
      'element_type="string" shape="2" offset="0" size="24"',
      Uint8Array.from({ length: 24 }, () => 0x7f),
      ['run', 2, 'invalid-file']
    ),
    withBin(
      'strings that lie outside of their packing',
      'element_type="string" shape="1" offset="0" size="16"',
      new Uint8Array(Int32Array.of(1, 0, 1000, 0).buffer),
      ['run', 2, 'invalid-file']
    ),
    withBin(
      'strings that end before they begin',
      'element_type="string" shape="1" offset="0" size="16"',
      new Uint8Array(Int32Array.of(1, 4, 0, 0).buffer),
      ['run', 2, 'invalid-file']
    ),
    withBin(
      'a literal in the XML',
      'element_type="f32" shape="2" value="1,2"',
      eight,
      ['check', 1, 'constant-literal'],
      ['run', 2]
    )
  ])
})

describe('the .bin of an IR', () => {
  const xml = net(
    [
      layer(0, 'Const', { data: 'element_type="f32" shape="2" offset="0" size="8"', out: ['0:FP32[2]'] }),
      layer(1, 'Result', { in: ['0:FP32[2]'] })
    ],
    ['0:0>1:0']
  )
  const withBin = (
    name: string,
    prepare: (folder: string, inner: string) => void,
    ...answers: readonly Answer[]
  ): Hostile => ({
    name,
    make(folder) {
      const inner = join(folder, 'inner')
      mkdirSync(inner)
      prepare(folder, inner)
      return put(inner, 'model.xml', xml)
    },
    answers
  })
  const bin = (folder: string): string => put(folder, 'model.bin', new Uint8Array(8))
  holdAll([
    withBin(
      'is a link that leads out',
      (folder, inner) => symlinkSync(bin(folder), join(inner, 'model.bin')),
      ['inspect', 0],
      ['run', 2, 'outside-folder']
    ),
    withBin(
      'is a link within the folder: fine',
      (_, inner) => {
        put(inner, 'other.bin', new Uint8Array(8))
        symlinkSync('other.bin', join(inner, 'model.bin'))
      },
      ['run', 0]
    ),
    withBin('is a hard link: accepted', (folder, inner) => linkSync(bin(folder), join(inner, 'model.bin')), ['run', 0]),
    withBin(
      'is in the data root: fine',
      folder => {
        bin(folder)
      },
      ['run', 2, 'missing-file'],
      ['run --data-root {folder}', 0]
    ),
    withBin('is a folder', (_, inner) => mkdirSync(join(inner, 'model.bin')), ['run', 2, 'invalid-file', 'folder']),
    withBin(
      'is a pipe',
      (_, inner) => {
        execFileSync('mkfifo', [join(inner, 'model.bin')])
      },
      ['run', 2, 'invalid-file', 'pipe']
    ),
    withBin('is a link to /dev/zero', (_, inner) => symlinkSync('/dev/zero', join(inner, 'model.bin')), [
      'run',
      2,
      'outside-folder'
    ]),
    withBin('is a link to nothing', (_, inner) => symlinkSync('none.bin', join(inner, 'model.bin')), [
      'run',
      2,
      'missing-file'
    ]),
    {
      name: 'lies beside the file to which the model is a link, under its name: fine',
      make(folder) {
        mkdirSync(join(folder, 'real'))
        put(join(folder, 'real'), 'graph.xml', xml)
        put(join(folder, 'real'), 'graph.bin', new Uint8Array(8))
        symlinkSync('real/graph.xml', join(folder, 'model.xml'))
        return join(folder, 'model.xml')
      },
      answers: [['run', 0]]
    }
  ])
})
