import { isMainThread } from 'node:worker_threads'
import { Command, CommanderError, Option } from 'commander'
import { NodewiseError } from '../errors.ts'
import { EXIT, reportFailure } from './failure.ts'
import { byteSize, collect, tolerance, wholeNumber } from './options.ts'

/** Put in when the program is bundled: that of package.json. */
declare const NODEWISE_VERSION: string

/** Options of every command, added last so that they stand last in the help. */
const common = (command: Command): Command =>
  command
    .option('--json', 'print one JSON document, also when the command fails')
    .option('--debug', 'print the stack of a failure too')

const DATA_ROOT = ['--data-root <folder>', "where external data may lie besides the model's folder"] as const

const LIMIT = [
  '--limit <name=n>',
  'what a file may ask for, as in a message that says "(limit graphDepth)"; repeatable',
  collect
] as const

/** A command's modules are loaded when it is called: starting costs only what the command needs. */
function program(end: (code: number) => void): Command {
  const root = new Command('nodewise')
    .description('Loads, checks and runs ONNX and OpenVINO IR models.')
    .version(NODEWISE_VERSION, '-V, --version')
    .showHelpAfterError(false)
  common(
    root
      .command('run <model>')
      .description('run a model and print its outputs')
      .option(
        '-i, --input <name=value>',
        'a JSON literal (ids=[[1,2],[3,4]], x=0.5, s=["a"]) or a file (.npy .pb .json); repeatable',
        collect
      )
      .option('--inputs <path>', 'an .npz, a .json of {name: literal}, or a folder of input_0.npy|pb …')
      .option('-o, --output <path>', 'a folder (one .npy an output) or an .npz')
      .option(
        '--fetch <names>',
        'values of the graph to compute in place of its outputs, separated by commas; repeatable',
        collect
      )
      .option('--fill <how>', 'zeros | ones | random[:seed] for inputs that are not given')
      .option('--shape <name=2x3>', 'dims for --fill where the model leaves them open; repeatable', collect)
      .option(
        '--threads <n>',
        'threads to compute with (default: the cores that the process may use)',
        wholeNumber('--threads', 1)
      )
      .addOption(
        new Option('--out-of-range <policy>', 'indices out of range, for every gather in the model').choices([
          'error',
          'zero'
        ])
      )
      .option(
        '--max-memory <size>',
        'what a run and the weights it reads may take (2GB, 512MiB; default: what the machine has free)',
        byteSize
      )
      .option(...DATA_ROOT)
      .option(...LIMIT)
      .option('--trace', 'list the run node by node')
      .option('--profile <file>', 'write a Chrome trace (for Perfetto)')
      .option('--repeat <n>', 'run n times and print minimum, median and p95', wholeNumber('--repeat', 1))
  ).action(async (model: string, flags: object) => end(await (await import('./run.ts')).run(model, flags)))
  common(
    root
      .command('check <model>')
      .description('check that what a model declares can be true')
      .option(
        '--input-shape <name=dims>',
        '2x3, or [2,batch,1..10] where a dim is a name or an interval; repeatable',
        collect
      )
      .addOption(
        new Option('--format <format>', 'form of the report').choices(['text', 'json', 'sarif', 'html']).default('text')
      )
      .option('--values', 'list every value with its inferred type and dims')
      .option('--strict', 'warnings count as errors')
      .option(...DATA_ROOT)
      .option(...LIMIT)
  ).action(async (model: string, flags: object) => end(await (await import('./check.ts')).check(model, flags)))
  common(
    root
      .command('inspect <model>')
      .description('show what is in a model without running it')
      .addOption(new Option('--graph <format>', 'draw the graph').choices(['dot', 'mermaid']))
      .option(...DATA_ROOT)
      .option(...LIMIT)
  ).action(async (model: string, flags: object) => end(await (await import('./inspect.ts')).inspect(model, flags)))
  common(
    root
      .command('test <folders...>')
      .description('run test cases and compare their outputs')
      .option('--rtol <x>', 'relative tolerance where a case names none', tolerance('--rtol'), 1e-3)
      .option('--atol <x>', 'absolute tolerance where a case names none', tolerance('--atol'), 1e-5)
      .option('--jobs <n>', 'cases that run at the same time (default: one a core)', wholeNumber('--jobs', 1))
      .option('--filter <regex>', 'only cases whose path matches')
      .option('--junit <file>', 'write the results as JUnit XML')
  ).action(async (folders: string[], flags: { rtol: number; atol: number }) =>
    end(await (await import('./test.ts')).test(folders, flags))
  )
  common(root.command('ops').description('list every operator that is supported')).action(async (flags: object) =>
    end((await import('./ops.ts')).ops(flags))
  )
  for (const command of [root, ...root.commands]) command.exitOverride().configureOutput({ writeErr: () => undefined })
  return root
}

/** `--json` holds even where the arguments are wrong. */
const wantsJson = (args: readonly string[]): boolean =>
  args.includes('--json') ||
  args.includes('--format=json') ||
  args.some((arg, i) => arg === '--format' && args[i + 1] === 'json')

async function main(args: readonly string[]): Promise<number> {
  const report = { json: wantsJson(args), debug: args.includes('--debug') }
  let code: number = EXIT.failed
  try {
    await program(result => {
      code = result
    }).parseAsync([...args], { from: 'user' })
    return code
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportFailure(error, report)
    if (error.exitCode === 0) return EXIT.yes
    const message =
      error.code === 'commander.help'
        ? 'which command? nodewise --help lists them'
        : error.message.replace(/^error: /, '')
    return reportFailure(new NodewiseError('bad-usage', message), report)
  }
}

function start(args: readonly string[]): void {
  const end = (code: number): never => process.exit(code)
  // Whoever reads the output may have seen enough: `nodewise run … | head` is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    end(
      error.code === 'EPIPE'
        ? EXIT.yes
        : reportFailure(new NodewiseError('write-failed', `cannot write the output: ${error.message}`), {
            json: false,
            debug: false
          })
    )
  })
  // Nobody can be told that words cannot be written.
  process.stderr.on('error', () => undefined)
  process.on('uncaughtException', error =>
    end(reportFailure(error, { json: wantsJson(args), debug: args.includes('--debug') }))
  )
  void main(args).then(code => {
    process.exitCode = code
  })
}

if (isMainThread) start(process.argv.slice(2))
else void import('./test-worker.ts').then(({ serveCases }) => serveCases())
