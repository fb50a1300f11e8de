import { describe, expect, test } from 'vitest'
import { kindOf } from '../../src/files/kinds.ts'
import { load } from '../../src/load.ts'

const bytes = (text: string): Uint8Array => Uint8Array.from(text, sign => sign.charCodeAt(0))
const zip = (name: string): string =>
  `PK\x03\x04${'\0'.repeat(22)}${String.fromCharCode(name.length)}\0\0\0${name}${'\0'.repeat(20)}`

const FILES: readonly (readonly [name: string, content: string, what: string])[] = [
  ['empty.onnx', '', 'empty; was it cut off?'],
  [
    'lfs.onnx',
    'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1234\n',
    'a pointer of Git LFS to a file of 1234'
  ],
  [
    'page.onnx',
    '<!DOCTYPE html>\n<html><head><title>Sign in</title>',
    'an HTML page ("Sign in"); take the address of the file'
  ],
  ['torch.pt', zip('archive/data.pkl'), 'a PyTorch file: weights without a graph that could be run; export the model'],
  ['model.keras', zip('metadata.json'), 'a Keras model; convert it'],
  ['arrays.npz', zip('x.npy'), 'an archive of arrays (.npz); its arrays are inputs'],
  ['model.zip', zip('model.onnx'), 'a zip archive with "model.onnx" in it; unpack it first'],
  ['model.gguf', 'GGUF\x03\0\0\0', 'a GGUF file: weights'],
  ['model.safetensors', '\x20\0\0\0\0\0\0\0{"w":{}}', 'a safetensors file: weights'],
  ['model.tflite', '\x1c\0\0\0TFL3', 'a TensorFlow Lite model; convert it'],
  ['model.h5', '\x89HDF\r\n\x1a\n', 'an HDF5 file, such as Keras writes; convert it'],
  ['model.pkl', '\x80\x04\x95', 'a pickle of Python'],
  ['model.onnx.gz', '\x1f\x8b\x08', 'packed with gzip; unpack it first'],
  ['README.md', '# A model\n\nText.', 'a text; name an .onnx'],
  ['config.json', '{"a": 1}', 'JSON text; it may say things about a model'],
  ['cat.png', '\x89PNG\r\n\x1a\n', 'a PNG picture; name an .onnx'],
  ['saved_model.pb', '\x08\x01\x12\x02', 'a SavedModel of TensorFlow; convert it'],
  ['model.bin', '\0\0\x80\x3f', 'no model; if it has the weights of an IR, name the .xml beside it']
]

describe('a file that is no model is told for what it is', () => {
  test.each(FILES)('%s', async (name, content, what) => {
    const error: unknown = await load(bytes(content), { name }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'invalid-file', place: { file: name } })
    expect((error as Error).message).toContain(`${name}: this is ${what}`)
  })
})

test('XML with a fault, and bytes of no known kind, keep the message of their reader', async () => {
  expect(kindOf(bytes('<?xml version="1.0"?><net'), 'model.xml')).toBeUndefined()
  expect(kindOf(bytes('\x08\x07\x12\x00\x01'), 'model.onnx')).toBeUndefined()
  await expect(load(bytes('<net><layers></net>'), { name: 'm.xml' })).rejects.toThrow(/^m\.xml:1:/)
})
