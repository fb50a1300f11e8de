/* eslint-disable no-control-regex -- the first bytes of formats hold control characters */
import { NodewiseError } from '../errors.ts'
import { pointerIn, PULL } from './lfs-pointer.ts'

/** What a file is that is none of those that are read: in words, and what to do with it. */
export interface FileKind {
  /** `a GGUF file`, to follow "is". */
  readonly what: string
  /** What to do where a model was wanted. */
  readonly asModel: string
  /** What to do where a tensor was wanted. */
  readonly asTensor: string
  /** The option of the command that makes a tensor of it. */
  readonly option?: '--image' | '--audio'
  /** Names of files that are read as such, so that their reader says more of a fault. */
  readonly names?: RegExp
}

/** Bytes from the start of a file that {@link kindOf} looks at. */
export const KIND_BYTES = 4096

const NO_MODEL = 'name an .onnx or an .xml with its .bin beside it'
const NO_TENSOR = 'a tensor is read from .npy, .pb or .json, or from .bin with its elements alone'
const EXPORT = 'export the model to ONNX (torch.onnx.export, optimum-cli export onnx)'
const PIXELS = 'save its pixels as the model wants them: numpy.save("x.npy", numpy.asarray(PIL.Image.open("x.png")))'
const SAMPLES = 'save its samples: numpy.save("x.npy", soundfile.read("x.wav")[0])'
const PICTURE = { asModel: NO_MODEL, asTensor: PIXELS, option: '--image' } as const
const weights = (what: string): FileKind => ({
  what: `${what}: weights without a graph that could be run`,
  asModel: EXPORT,
  asTensor: NO_TENSOR
})
const packed = (what: string): FileKind => ({ what, asModel: 'unpack it first', asTensor: 'unpack it first' })
const converted = (what: string, how: string): FileKind => ({
  what,
  asModel: `convert it to ONNX: ${how}`,
  asTensor: NO_TENSOR
})
const KERAS = 'python -m tf2onnx.convert --keras model.h5 --output model.onnx, or model.export(…, format="onnx")'

/** Files that are known by the bytes that they begin with, as text of one byte a character. */
const BY_BYTES: readonly (readonly [RegExp, FileKind])[] = [
  [/^GGUF|^(?:lmgg|fmgg|tjgg)/, { ...weights('a GGUF file'), asModel: `run it with llama.cpp, or ${EXPORT}` }],
  [/^[^]{4}\0\0\0\0\{\s*"/, weights('a safetensors file')],
  [
    /^[^]{4}TFL3/,
    converted('a TensorFlow Lite model', 'python -m tf2onnx.convert --tflite model.tflite --output model.onnx')
  ],
  [
    /^[^]{4}ORTM/,
    {
      what: "a model in ONNX Runtime's own format",
      asModel: 'name the .onnx that it was made from',
      asTensor: NO_TENSOR
    }
  ],
  [/^\x89HDF\r\n\x1a\n/, converted('an HDF5 file, such as Keras writes', KERAS)],
  [
    /^\x80[\x02-\x05]/,
    {
      what: 'a pickle of Python, such as PyTorch and scikit-learn write',
      asModel: 'export the model to ONNX (torch.onnx.export, skl2onnx)',
      asTensor: 'save the array with numpy.save'
    }
  ],
  [/^\x89PNG\r\n\x1a\n/, { what: 'a PNG picture', ...PICTURE }],
  [/^\xff\xd8\xff/, { what: 'a JPEG picture', ...PICTURE }],
  [/^RIFF[^]{4}WEBP/, { what: 'a WebP picture', ...PICTURE }],
  [/^BM[^]{4}\0\0\0\0/, { what: 'a BMP picture', ...PICTURE }],
  [/^II\*\0|^MM\0\*/, { what: 'a TIFF picture', ...PICTURE }],
  [/^GIF8/, { what: 'a GIF picture', asModel: NO_MODEL, asTensor: PIXELS }],
  [/^RIFF[^]{4}WAVE|^RF64/, { what: 'a WAV recording', asModel: NO_MODEL, asTensor: SAMPLES, option: '--audio' }],
  [
    /^ID3|^\xff[\xfb\xf3\xf2]|^OggS|^fLaC/,
    {
      what: 'a recording in a packed format',
      asModel: NO_MODEL,
      asTensor: 'make it a WAV (ffmpeg), then as samples an .npy'
    }
  ],
  [
    /^\x93NUMPY/,
    {
      what: 'an array of NumPy (.npy)',
      asModel: 'an array is an input: -i name=file',
      asTensor: 'call it .npy',
      names: /\.npy$/i
    }
  ],
  [/^\x1f\x8b/, packed('packed with gzip')],
  [/^7z\xbc\xaf/, packed('a 7z archive')],
  [/^BZh|^\xfd7zXZ|^\x28\xb5\x2f\xfd|^Rar!/, packed('packed')],
  [/^[^]{257}ustar/, packed('a tar archive')],
  [/^%PDF/, { what: 'a PDF', asModel: NO_MODEL, asTensor: NO_TENSOR }],
  [/^\x7fELF|^MZ\x90|^\xcf\xfa\xed\xfe/, { what: 'a program', asModel: NO_MODEL, asTensor: NO_TENSOR }],
  [/^7767517\s/, converted('a model of ncnn', 'export it from where it came from')]
]

/** Models of others that no byte tells apart, by their suffixes. */
const BY_SUFFIX: readonly (readonly [RegExp, FileKind])[] = [
  [
    /(?:^|[\\/])saved_model\.pb$/,
    converted('a SavedModel of TensorFlow', 'python -m tf2onnx.convert --saved-model folder --output model.onnx')
  ],
  [/\.mlmodel$/i, converted('a model of Core ML', 'coremltools and onnxmltools')],
  [/\.(?:pdmodel|pdiparams)$/i, converted('a model of PaddlePaddle', 'paddle2onnx')],
  [/\.(?:caffemodel|prototxt)$/i, converted('a model of Caffe', 'caffe2onnx')],
  [
    /\.(?:engine|plan|trt)$/i,
    { what: 'an engine of TensorRT', asModel: 'name the .onnx that it was built from', asTensor: NO_TENSOR }
  ],
  [
    /\.bin$/i,
    { what: 'no model', asModel: 'if it has the weights of an IR, name the .xml beside it', asTensor: NO_TENSOR }
  ]
]

/** The archive by its first file (APPNOTE 6.3.10, 4.3.7: the length of the name is at byte 26, the name at 30). */
function archive(text: string): FileKind {
  const name = text.slice(30, 30 + text.charCodeAt(26) + 256 * text.charCodeAt(27))
  if (name.endsWith('.npy'))
    return {
      what: 'an archive of arrays (.npz)',
      asModel: 'its arrays are inputs: --inputs file',
      asTensor: 'give all its arrays with --inputs file',
      names: /\.npz$/i
    }
  if (/(?:^|\/)(?:data\.pkl|byteorder|version|\.format_version|constants\.pkl)$/.test(name))
    return weights('a PyTorch file')
  if (/^(?:metadata\.json|config\.json|model\.weights\.h5)$/.test(name)) return converted('a Keras model', KERAS)
  return packed(/\.(?:onnx|xml)$/i.test(name) ? `a zip archive with ${JSON.stringify(name)} in it` : 'a zip archive')
}

/** What is text, by how it begins. */
function textKind(text: string): FileKind | undefined {
  const start = text.replace(/^\xef\xbb\xbf/, '').trimStart()
  const pointer = pointerIn(start)
  if (pointer !== undefined) return { what: pointer, asModel: PULL, asTensor: PULL }
  if (/^<(?:!doctype html|html|head|body)\b/i.test(start)) {
    const title = /<title[^>]*>([^<]{1,80})/i.exec(start)?.[1].trim()
    const what = `an HTML page${title === undefined ? '' : ` ("${title}")`}`
    const how = 'take the address of the file itself (/resolve/ in place of /blob/ at Hugging Face, /raw/ at GitHub)'
    return { what, asModel: how, asTensor: how }
  }
  // Other XML is an IR with a fault, of which its reader says more.
  if (start === '' || start.startsWith('<') || /[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(text)) return undefined
  if (/^[[{]/.test(start))
    return {
      what: 'JSON text',
      asModel: `it may say things about a model; ${NO_MODEL}`,
      asTensor: 'call it .json',
      names: /\.json$/i
    }
  const asNumbers = 'numbers: numpy.save("x.npy", numpy.loadtxt("x.txt"))'
  return {
    what: 'a text',
    asModel: NO_MODEL,
    asTensor: `${asNumbers}; the text itself, for an input of strings: -i 'name=text'`,
    names: /\.json$/i
  }
}

/**
 * What a file is, by its first bytes, then by the suffix of its name; undefined where nothing tells. For files that
 * could not be read as what they were given for: some of these are no rarer than the right ones.
 * @param head the first {@link KIND_BYTES} of the file, or all of it
 */
export function kindOf(head: Uint8Array, name: string): FileKind | undefined {
  if (head.length === 0) return { what: 'empty', asModel: 'was it cut off?', asTensor: 'was it cut off?' }
  const text = String.fromCharCode(...head.subarray(0, KIND_BYTES))
  const found = BY_BYTES.find(([pattern]) => pattern.test(text)) ?? BY_SUFFIX.find(([pattern]) => pattern.test(name))
  if (text.startsWith('PK\x03\x04')) return archive(text)
  // A graph of TensorFlow begins with its first node, an ONNX model with a number.
  if (head[0] === 0x0a && /\.pb$/i.test(name) && !found)
    return {
      ...converted('a frozen graph of TensorFlow, or a tensor', 'python -m tf2onnx.convert --graphdef model.pb …'),
      names: /\.pb$/i
    }
  return found?.[1] ?? textKind(text)
}

/**
 * The failure of reading tensors from a file, with what the file is where it is not what its name says, such as the
 * pointer that a clone without Git LFS has in its place.
 */
export function withTensorKind(error: unknown, bytes: Uint8Array, name: string): unknown {
  if (!(error instanceof NodewiseError) || error.code !== 'invalid-file') return error
  const kind = kindOf(bytes.subarray(0, KIND_BYTES), name)
  if (kind === undefined || kind.names?.test(name)) return error
  return new NodewiseError('invalid-file', `this is ${kind.what}; ${kind.asTensor}`, {}, {}, { cause: error })
}
