import type { Command } from 'commander'
import { EXAMPLES, EXIT_CODES } from './examples.ts'
import { HOME } from './explain.ts'

/** Text as roff prints it: nothing in it is a request, a dash stays a dash. */
const roff = (text: string): string =>
  text
    .replace(/\\/g, String.raw`\e`)
    .replace(/-/g, String.raw`\-`)
    .replace(/[^\n -~]/gu, sign => String.raw`\[u${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`)
    .replace(/^[.']/gm, String.raw`\&$&`)

/** A line of a request whose argument is one text. */
const request = (name: string, text: string): string => `.${name} "${roff(text).replaceAll('"', '""')}"`

/** A term with what it means, indented below. */
const entry = (term: string, meaning: string): string => `.TP\n\\fB${roff(term)}\\fR\n${roff(meaning)}`

const section = (title: string, ...lines: readonly string[]): string => [request('SH', title), ...lines].join('\n')

const ENVIRONMENT = [
  ['NO_COLOR', 'no colors and no progress'],
  ['FORCE_COLOR', 'colors also where there is no terminal; 0: none'],
  ['TERM', 'a dumb terminal gets neither']
] as const

/** The manual page: what the help of all commands says, for man(1). */
export function manualPage(root: Command, version: string): string {
  const help = root.createHelp()
  const commands = help.visibleCommands(root).filter(command => command.name() !== 'help')
  return [
    `.TH NODEWISE 1 "" "nodewise ${roff(version)}" "User Commands"`,
    // Lines begin at the left and words are not divided: they are names and options.
    '.ad l\n.nh',
    section('NAME', `nodewise \\- ${roff(root.description().replace(/\.$/, ''))}`),
    section('SYNOPSIS', `.B nodewise\n${roff('<command> [options]')}`),
    section(
      'DESCRIPTION',
      roff(
        'Results go to stdout; progress, warnings and errors to stderr. With --json every command prints one document'
      ),
      roff('on stdout, also when it fails. A path - is stdin or stdout.')
    ),
    section('COMMANDS', ...commands.map(commandPart)),
    section('EXIT STATUS', ...EXIT_CODES.map(([code, meaning]) => entry(String(code), meaning))),
    section('ENVIRONMENT', ...ENVIRONMENT.map(([name, meaning]) => entry(name, meaning))),
    section('FILES', entry('nodewise.config.json', 'settings of check and inspect, here or in a folder above')),
    section('SEE ALSO', roff(HOME)),
    ''
  ].join('\n')
}

function commandPart(command: Command): string {
  const help = command.createHelp()
  const examples = EXAMPLES[command.name()] ?? []
  return [
    request('SS', help.commandUsage(command)),
    roff(help.commandDescription(command)),
    ...help.visibleArguments(command).map(one => entry(help.argumentTerm(one), help.argumentDescription(one))),
    ...help.visibleOptions(command).map(option => entry(help.optionTerm(option), help.optionDescription(option))),
    ...(examples.length > 0 ? ['.PP', 'Examples:', '.PP', '.nf', '.RS', ...examples.map(roff), '.RE', '.fi'] : [])
  ].join('\n')
}
