import type { Command, Option } from 'commander'
import { CODES, shortMeaning } from '../../check/codes.ts'
import type { FindingCode, Model } from '../../graph/graph.ts'
import { defaultLimits } from '../../graph/limits.ts'
import { inputNames } from '../inputs/inputs.ts'
import { dimNames } from '../inputs/shapes.ts'
import { openModel } from '../model.ts'
import { statOf } from '../stat.ts'

/** A word that may stand at the cursor, with what it means. */
type Candidate = readonly [word: string, meaning?: string]

/** What may stand at the cursor; undefined: a path. */
interface Candidates {
  readonly words: readonly Candidate[]
  /** What is typed goes on after the word, as after `ids=`. */
  readonly goesOn?: boolean
}

const words = (...list: readonly string[]): Candidates => ({ words: list.map(word => [word]) })
const NOTHING: Candidates = { words: [] }

/** What an option or an argument takes, by its placeholder where it names no choices. */
const VALUES: Readonly<Record<string, (model: () => Promise<Model | undefined>) => Promise<Candidates | undefined>>> = {
  how: async () => words('zeros', 'ones', 'random'),
  'code[:place]': async () => codes(),
  codes: async () => codes(),
  'name=n': async () => ({ words: Object.keys(defaultLimits()).map(name => [`${name}=`]), goesOn: true }),
  'name=value': named(inputNames),
  'name=file,…': named(inputNames),
  'name=dims': named(model => [...inputNames(model), ...dimNames(model)]),
  'a=b': named(inputNames),
  ops: async () => {
    const { listOps } = await import('../ops.ts')
    return words(...new Set(listOps().map(({ name }) => name)))
  },
  names: async open => {
    const model = await open()
    return model ? words(...[...model.graph.values.values()].map(({ name }) => name)) : NOTHING
  },
  name: async open => {
    const model = await open()
    return model ? words(...model.graph.nodes.map(({ name }) => name)) : NOTHING
  }
}

/** Placeholders of what is a path. */
const PATHS: ReadonlySet<string> = new Set([
  'file',
  'path',
  'folder',
  'out',
  'in',
  'model',
  'models',
  'folders',
  'a',
  'b'
])

function codes(): Candidates {
  const all = Object.keys(CODES) as FindingCode[]
  return { words: all.map(code => [code, shortMeaning(code).replace(/[.]$/, '')]) }
}

/** `name=` for what a model names; the value that follows is a path or something of the caller's. */
function named(
  names: (model: Model) => Iterable<string>
): (open: () => Promise<Model | undefined>) => Promise<Candidates | undefined> {
  return async open => {
    const model = await open()
    return model ? { words: [...names(model)].map(name => [`${name}=`]), goesOn: true } : NOTHING
  }
}

/**
 * What `nodewise complete` prints: the words that may stand at the cursor.
 * @param typed the words after `nodewise` up to the cursor; the last is the one at the cursor, which may be empty
 */
export async function completionLines(root: Command, typed: readonly string[]): Promise<string[]> {
  const all = typed.map(unquoted)
  const current = all.at(-1) ?? ''
  const found = await candidatesFor(root, all.slice(0, -1), current)
  if (found === undefined) return []
  const fitting = found.words.filter(([word]) => word !== '' && word.startsWith(current) && !SPECIAL.test(word))
  if (fitting.length === 0) return [':none']
  const lines = fitting.map(([word, meaning = '']) => (meaning === '' ? word : `${word}\t${shortened(meaning)}`))
  return [...new Set(lines), ...(found.goesOn ? [':nospace'] : [])]
}

/** What a shell does not take as it is; names with such signs are typed. */
const SPECIAL = /[\s'"\\$`&|;<>()[\]{}*?!#~^]/

/** Letters of a meaning: a line of a terminal. */
const MAX_MEANING = 90

/** The first of what is said of a word. */
function shortened(meaning: string): string {
  const [first] = meaning.split(/; | \(|: /)
  return first.length <= MAX_MEANING ? first : `${first.slice(0, MAX_MEANING - 1)}…`
}

const unquoted = (word: string): string => word.replace(/^(['"])(.*?)\1?$/, '$2')

async function candidatesFor(
  root: Command,
  before: readonly string[],
  current: string
): Promise<Candidates | undefined> {
  const commands = root.createHelp().visibleCommands(root)
  const command = commands.find(each => each.name() === before[0])
  if (command === undefined || command.name() === 'help') {
    const mayStart = before.length === 0 || (command !== undefined && before.length === 1)
    if (current.startsWith('-')) return before.length === 0 ? optionWords(root) : NOTHING
    return mayStart ? { words: commands.map(each => [each.name(), each.description()]) } : NOTHING
  }
  const given = before.slice(1)
  const open = (): Promise<Model | undefined> => modelAmong(given)
  const areOperands = given.includes('--')
  const pending = areOperands ? undefined : optionOf(command, given.at(-1) ?? '')
  if (pending && takesValue(pending)) return valuesOf(pending.argChoices, placeholder(pending.flags), current, open)
  const inline = areOperands ? null : /^(--[\w-]+=)([^]*)$/.exec(current)
  if (inline) return inlineValues(command, inline, open)
  if (current.startsWith('-') && current !== '-' && !areOperands) return optionWords(command)
  const taken = operandsOf(command, given).length
  const list = command.registeredArguments
  const argument = list[taken] ?? (list.at(-1)?.variadic ? list.at(-1) : undefined)
  if (argument === undefined) return optionWords(command)
  const kind = command.name() === 'ops' ? 'ops' : argument.name()
  return valuesOf(argument.argChoices, kind, current, open)
}

/** `--format=` and what is typed of its value. */
async function inlineValues(
  command: Command,
  [, head, value]: RegExpExecArray,
  open: () => Promise<Model | undefined>
): Promise<Candidates | undefined> {
  const option = optionOf(command, head.slice(0, -1))
  if (!option || !takesValue(option)) return NOTHING
  const found = await valuesOf(option.argChoices, placeholder(option.flags), value, open)
  return (
    found && { ...found, words: found.words.map(([word, ...meaning]): Candidate => [`${head}${word}`, ...meaning]) }
  )
}

async function valuesOf(
  choices: readonly string[] | undefined,
  kind: string,
  current: string,
  open: () => Promise<Model | undefined>
): Promise<Candidates | undefined> {
  if (choices) return words(...choices)
  if (PATHS.has(kind)) return undefined
  // After the name of an input there may be a file.
  if (kind.startsWith('name=') && current.includes('=')) return /value|file/.test(kind) ? undefined : NOTHING
  return Object.hasOwn(VALUES, kind) ? VALUES[kind](open) : NOTHING
}

const optionWords = (command: Command): Candidates => {
  const help = command.createHelp()
  return { words: help.visibleOptions(command).map(option => [option.long ?? option.flags, option.description]) }
}

const takesValue = ({ required, optional }: Option): boolean => required || optional

const optionOf = (command: Command, word: string): Option | undefined =>
  command.options.find(({ short, long }) => word !== '' && (word === short || word === long))

/** `file` of `-o, --output <file>` */
const placeholder = (flags: string): string => /[<[](.*)[>\]]$/.exec(flags)?.[1] ?? ''

/** The words that are neither options nor their values. */
function operandsOf(command: Command, given: readonly string[]): string[] {
  const operands: string[] = []
  for (let i = 0; i < given.length; i++) {
    if (given[i] === '--') return [...operands, ...given.slice(i + 1)]
    if (!given[i].startsWith('-') || given[i] === '-') operands.push(given[i])
    else {
      const option = optionOf(command, given[i])
      if (option && takesValue(option)) i++
    }
  }
  return operands
}

/** The first model among the words, if it can be read. */
async function modelAmong(given: readonly string[]): Promise<Model | undefined> {
  const path = given.find(word => /\.(?:onnx|onnxtxt|xml)$/i.test(word) && statOf(word)?.isFile())
  return path === undefined ? undefined : openModel(path, {}).catch(() => undefined)
}
