import { Command, CommanderError, Option } from 'commander'
import { NodewiseError } from '../errors.ts'
import { choice, common, type Context, DATA_ROOT, inputOptions, LIMIT, loading, OPS } from './command-kit.ts'
import { EXIT, reportFailure } from './failure.ts'
import { EXAMPLES, EXIT_CODES } from './help/examples.ts'
import { addShellCommands } from './help/shell-commands.ts'
import { byteSize, collect, tolerance, wholeNumber } from './options.ts'
import { addRun } from './run/command.ts'
import { addScore } from './score/command.ts'
import { DEFAULT_COLUMNS, type Terminal } from './terminal.ts'

/** The version in package.json, put in when the program is bundled. */
declare const NODEWISE_VERSION: string

/** Options of the commands that take many files. */
const project = (command: Command): Command =>
  command
    .option('--only-models', 'pass over .xml files that are no models, also where they are named')
    .option('--config <file>', 'settings, in place of the nearest nodewise.config.json here or above')
    .option('--no-config', 'read no nodewise.config.json')

function addCheck(root: Command, { terminal, end }: Context): void {
  const command = root
    .command('check [models...]')
    .description('check that what models declare can be true: files, folders and globs')
    .option(
      '--input-shape <name=dims>',
      'dims of an input: x=2x3, or x=[2,batch,1..10] where a dim is a name or an interval; or the size of a named ' +
        'dim: batch=8; repeatable',
      collect
    )
    .addOption(choice('--format <format>', 'form of the report (default: as -o tells, else text)', FORMATS))
    .option('-o, --output <file>', 'write the report into a file (- for stdout)')
    .option('--values', 'list every value with its inferred type and dims')
    .option('--strict', 'warnings count as errors')
    .option('--quiet', 'report only what counts as an error, and nothing where there is none')
    .option('--ignore <code[:place]>', 'leave findings out, everywhere or at places (* in names); repeatable', collect)
    .option('--baseline <file>', 'leave out the findings that the file has')
    .option('--fix <out>', 'write the model with its false declarations replaced by what is inferred')
    .option('--update-baseline', 'write the findings into the file of --baseline')
  loading(project(command))
  common(command).action(async (models: string[], flags: object) =>
    end(await (await import('./check/check.ts')).check(models, flags, terminal))
  )
}

const FORMATS = ['text', 'json', 'sarif', 'html', 'github']

function addInspect(root: Command, { terminal, end }: Context): void {
  const command = root
    .command('inspect [models...]')
    .description('show what is in models without running them: files, folders and globs')
    .option('--nodes', 'list the nodes with the types and dims of what they read and make')
    .option('--attributes', 'the same, with attributes')
    .option('--weights', 'list the weights')
    .option('--statistics', 'the same, with least, greatest, mean, deviation, zeros and NaN of their elements')
    .option('--filter <pattern>', 'list only these names and operators, as in /layer.3/*; repeatable', collect)
    .option('--node <name>', 'show one node with its neighbours: by its name, an output, its index or layer id')
    .addOption(choice('--graph <format>', 'draw the graph', ['dot', 'mermaid', 'svg']))
    .option('--text', 'print the whole model in the text format of ONNX, without large weights')
    .option('--plan', 'show the steps of a run, what is folded and fused, and its memory')
    .option('-o, --output <file>', 'write what is shown into a file (- for stdout)')
  loading(project(command))
  common(command).action(async (models: string[], flags: object) =>
    end(await (await import('./inspect/inspect.ts')).inspect(models, flags, terminal))
  )
}

function addTest(root: Command, { terminal, end }: Context): void {
  const command = root
    .command('test <folders...>')
    .description('run test cases and compare their outputs')
    .option('--rtol <x>', 'relative tolerance (default: what the case names, or 1e-3)', tolerance('--rtol'))
    .option('--atol <x>', 'absolute tolerance (default: what the case names, or 1e-5)', tolerance('--atol'))
    .option(
      '--atol-scale <x>',
      'absolute tolerance as a part of the largest expected magnitude, for trained models',
      tolerance('--atol-scale')
    )
    .option('--verbose', 'show the largest error of what passes')
    .option('--jobs <n>', 'cases that run at the same time (default: one a core)', wholeNumber('--jobs', 1))
    .option('--filter <regex>', 'only cases whose path matches')
    .option(...OPS)
    .option('--junit <file>', 'write the results as JUnit XML (- for stdout)')
  common(command).action(async (folders: string[], flags: object) =>
    end(await (await import('./test/test.ts')).test(folders, flags, terminal))
  )
}

function addCompare(root: Command, { terminal, end }: Context): void {
  const command = root
    .command('compare <a> <b>')
    .description(
      'run two models on the same inputs (names are those of a) and name the first node whose values part; ' +
        'either may be recorded values: an .npz, or a folder of .npy and .pb named by value'
    )
  inputOptions(command)
    .option('--map-input <a=b>', 'an input of a and its name in b; else by name, then by position; repeatable', collect)
    .option('--map <a=b>', 'a value of a and its name in b; repeatable', collect)
    .option('--rtol <x>', 'relative tolerance of an element (default: 1e-3)', tolerance('--rtol'))
    .option('--atol <x>', 'absolute tolerance (default: 1e-5 times the largest magnitude)', tolerance('--atol'))
    .option('--sqnr <dB>', 'instead: least signal-to-noise ratio of a value, in decibels', tolerance('--sqnr'))
    .option('--structure', 'run nothing: tell how nodes, attributes, weights and declarations differ, as diff does')
    .option('--isolate', 'also feed every node of b with the values of a: which nodes are off by themselves')
    .option('--html <file>', 'write the report as a page, with both neighbourhoods drawn (- for stdout)')
    .option('--all', 'list every pair, not only those around the first')
  loading(command)
  common(command).action(async (a: string, b: string, flags: object) =>
    end(await (await import('./compare/compare.ts')).compare([a, b], flags, terminal))
  )
}

function addConvert(root: Command, { terminal, end }: Context): void {
  const command = root
    .command('convert <in> <out>')
    .description('write a model anew, in the format that the suffix of <out> says')
    .option(
      '--opset <n>',
      'the operator set to write (IR: the newest that layers may name); default: the newest that is needed',
      wholeNumber('--opset', 1)
    )
    .option('--infer-shapes', 'declare inferred types and dims, in place of false ones')
    .option('--input-shape <name=dims>', 'dims of an input or size of a named dim, as for check; repeatable', collect)
    .option('--from <names>', 'only the part that starts at these values, separated by commas; repeatable', collect)
    .option('--to <names>', 'only the part that makes these values, separated by commas; repeatable', collect)
    .option('--simplify', 'known values become constants; what does nothing, or nothing needs, is left out')
    .option('--f16', 'store weights in half precision (IR: with the marks of OpenVINO)')
    .option(
      '--external-data <bytes>',
      'ONNX: tensors of as many bytes and more lie in <out>.data',
      byteSize('--external-data')
    )
  loading(command)
  common(command).action(async (from: string, to: string, flags: object) =>
    end(await (await import('./convert.ts')).convert([from, to], flags, terminal))
  )
}

function addOps(root: Command, { terminal, end }: Context): void {
  const command = root
    .command('ops')
    .description('list every operator that is supported')
    .argument('[names...]', 'only these operators')
    .option('--missing', 'list those of the standards and of ONNX Runtime that are not supported, and why')
    .addOption(new Option('--plain', 'list those that have no kernel in WebAssembly of their own').conflicts('missing'))
    .option(...OPS)
  common(command).action(async (names: string[], flags: object) =>
    end((await import('./ops.ts')).ops(names, flags, terminal))
  )
}

function addExplain(root: Command, { terminal, end }: Context): void {
  const command = root
    .command('explain')
    .description('say what codes of findings and failures mean')
    .argument('[codes...]', 'only these codes')
  common(command).action(async (codes: string[], flags: object) =>
    end((await import('./help/explain.ts')).explain(codes, flags, terminal))
  )
}

/** Its options are those of the package that serves, to which all arguments go. */
function addServe(root: Command, { terminal, end }: Context): void {
  root
    .command('serve')
    .description('answer requests for models over HTTP and gRPC; npx nodewise-serve --help lists its options')
    .argument('[arguments...]', 'a model or a repository of models, and options')
    .allowUnknownOption()
    .action(async (_: string[], __: object, command: Command) =>
      end(await (await import('./serve.ts')).serve(command.args, terminal))
    )
}

function addView(root: Command, { terminal, end }: Context): void {
  const command = root
    .command('view')
    .description('show a model in a page: its graph, shapes, findings and values; served to this machine until Ctrl-C')
    .argument('[model]', 'without one the page asks for it')
    .option('--port <n>', 'the port to serve at (default: any that is free)', wholeNumber('--port', 1))
    .option('--no-open', 'do not open the browser')
    .option('--report <file>', 'a report of nodewise check, JSON or SARIF: its findings are shown on the graph')
    .option(...DATA_ROOT)
    .option(...LIMIT)
  common(command).action(async (model: string | undefined, flags: object) =>
    end(await (await import('./view/view.ts')).view(model, flags, terminal))
  )
}

/** Each command imports its modules when it is called, so that starting costs only what the command needs. */
function createProgram(context: Context): Command {
  const root = new Command('nodewise')
    .description('Loads, checks and runs ONNX and OpenVINO IR models.')
    .version(NODEWISE_VERSION, '-V, --version')
    .showHelpAfterError(false)
  for (const add of [
    addRun,
    addCheck,
    addExplain,
    addInspect,
    addTest,
    addCompare,
    addConvert,
    addScore,
    addServe,
    addView,
    addOps
  ])
    add(root, context)
  addShellCommands(root, context, NODEWISE_VERSION)
  root.addHelpText('after', exitCodesText)
  const { stdout } = context.terminal
  const width = (stdout.isTTY ? stdout.columns : undefined) ?? DEFAULT_COLUMNS
  for (const command of [root, ...root.commands]) {
    command.addHelpText('after', () => examplesText(command.name()))
    command.exitOverride().configureOutput({
      writeOut: text => stdout.write(text),
      // Failures are printed as all others are.
      writeErr: () => undefined,
      getOutHelpWidth: () => width
    })
  }
  return root
}

const exitCodesText = (): string =>
  ['', 'Exit codes:', ...EXIT_CODES.map(([code, meaning]) => `  ${String(code).padEnd(3)}  ${meaning}`)].join('\n')

function examplesText(command: string): string {
  const lines = EXAMPLES[command] ?? []
  return lines.length === 0 ? '' : ['', 'Examples:', ...lines.map(line => `  ${line}`), ''].join('\n')
}

/** `--json` holds even where the arguments are wrong. */
const wantsJson = (args: readonly string[]): boolean =>
  args.includes('--json') ||
  args.includes('--format=json') ||
  args.some((arg, i) => arg === '--format' && args[i + 1] === 'json')

/** How a failure is to be reported, by the arguments of the command. */
export const reportFlags = (args: readonly string[]): { json: boolean; debug: boolean } => ({
  json: wantsJson(args),
  debug: args.includes('--debug')
})

/** What people type to see the version, besides `--version`. */
const VERSION: ReadonlySet<string> = new Set(['-v', '-V', 'version'])

/**
 * The command. It may be called as often as one likes, also at the same time.
 * @param args what stands after `nodewise`
 * @returns the exit code; what fails is printed, and nothing is thrown
 */
export async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  let code: number = EXIT.failed
  const end = (result: number): void => {
    code = result
  }
  try {
    const program = createProgram({ terminal, end })
    if (args.length === 0) {
      terminal.stderr.write(program.helpInformation())
      return EXIT.failed
    }
    await program.parseAsync(VERSION.has(args[0]) ? ['--version'] : [...args], { from: 'user' })
    return code
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportFailure(error, reportFlags(args), terminal)
    if (error.exitCode === 0) return EXIT.yes
    const message =
      error.code === 'commander.help'
        ? 'which command? nodewise --help lists them'
        : error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ')
    return reportFailure(new NodewiseError('bad-usage', message), reportFlags(args), terminal)
  }
}
