import { type Command, Option } from 'commander'
import { collect } from './options.ts'
import type { Terminal } from './terminal.ts'

/** What the commands share: the terminal, and a function that takes the exit code. */
export interface Context {
  readonly terminal: Terminal
  readonly end: (code: number) => void
}

/** Options of every command, added last so that they stand last in the help. */
export const common = (command: Command): Command =>
  command
    .option('--json', 'print one JSON document, also when the command fails')
    .option('--debug', 'print the stack of a failure too')

export const DATA_ROOT = ['--data-root <folder>', "where external data may lie besides the model's folder"] as const

const HEADER = [
  '--header <name: value>',
  'a header for the server of a model at a URL, as in "Authorization: Bearer …"; repeatable',
  collect
] as const

const ALLOW_ORIGIN = [
  '--allow-origin <origin>',
  'another server to which that of a model at a URL may redirect (https://host, or *); repeatable',
  collect
] as const

export const LIMIT = [
  '--limit <name=n>',
  'what a file may ask for, as in a message that says "(limit graphDepth)"; repeatable',
  collect
] as const

export const OPS = [
  '--ops <file>',
  'operators of your own: a JavaScript module that exports what defineOp returns; repeatable',
  collect
] as const

/** Options of the commands that load any model: its operators, its external data, its server and its limits. */
export const loading = (command: Command): Command =>
  command
    .option(...OPS)
    .option(...DATA_ROOT)
    .option(...HEADER)
    .option(...ALLOW_ORIGIN)
    .option(...LIMIT)

export const choice = (option: string, what: string, choices: readonly string[]): Option =>
  new Option(option, what).choices(choices)

/** Options that say where the inputs of a run come from. */
export const inputOptions = (command: Command): Command =>
  command
    .option(
      '-i, --input <name=value>',
      'a JSON literal (ids=[[1,2],[3,4]], x=0.5, s=["a"]; a text may be bare: s=hello) or a file: ' +
        '.npy .pb .json, or .bin with the elements alone; repeatable',
      collect
    )
    .option('--inputs <path>', 'an .npz, a .json of {name: literal}, or a folder of input_0.npy|pb …')
    .option(
      '--image <name=file,…>',
      'a picture (PNG, JPEG, WebP, TIFF, BMP …) as an input; after commas: resize=224x224 (height x width), ' +
        'layout=nchw, order=rgb|bgr|gray, filter=linear|cubic|nearest, scale=1/255, mean=0.5:0.4:0.3, std=…, where ' +
        'elements are (0..255 * scale - mean) / std; repeatable',
      collect
    )
    .option(
      '--audio <name=file,…>',
      'a WAV recording as one channel of samples from -1 to 1; after a comma: rate=16000; repeatable',
      collect
    )
    .option('--fill <how>', 'zeros | ones | random[:seed] for inputs that are not given')
    .option(
      '--shape <name=dims>',
      'for --fill: dims of an input (x=2x3, x=[2,batch]), or the size of a named dim (batch=8); repeatable',
      collect
    )
