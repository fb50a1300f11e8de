import type { Command } from 'commander'
import { choice, common, type Context, inputOptions, loading } from '../command-kit.ts'
import { byteSize, collect, duration, seconds, wholeNumber } from '../options.ts'

const POLICIES = ['error', 'zero']
const PRECISIONS = ['fast', 'exact']

/** Adds `nodewise run`, whose modules are imported when it is called: starting costs only what a command needs. */
export function addRun(root: Command, { terminal, end }: Context): void {
  const command = root.command('run <model>').description('run a model and print its outputs')
  outputOptions(inputOptions(command))
  loading(engineOptions(command))
  measureOptions(command)
  common(command).action(async (model: string, flags: object) =>
    end(await (await import('./run.ts')).run(model, flags, terminal))
  )
}

const outputOptions = (command: Command): Command =>
  command
    .option(
      '-o, --output <path>',
      'a folder (one .npy an output; out/), .npz, .json, .npy or .pb (of one output), - for stdout'
    )
    .option('--top <n>', 'print the n best classes of outputs that are scores', wholeNumber('--top', 1))
    .option('--labels <file>', 'names of the classes for --top (5 where it is not given): lines, or JSON')
    .option('--record <file.npz>', 'write every value of the run, those of bodies by iteration, for nodewise compare')
    .option(
      '--record-match <pattern>',
      'record only values whose name or node is like this (* in names); repeatable',
      collect
    )
    .option('--save-case <folder>', 'write the model, these inputs and outputs as a case for nodewise test')
    .option(
      '--fetch <names>',
      'values to compute in place of the outputs: names of values or nodes, or patterns (/layer.3/*), separated by ' +
        'commas; repeatable',
      collect
    )

const engineOptions = (command: Command): Command =>
  command
    .option(
      '--threads <n>',
      'threads to compute with (default: the cores that the process may use)',
      wholeNumber('--threads', 1)
    )
    .addOption(
      choice('--precision <how>', 'fast: float32 as it is; exact: sums in double precision (default: fast)', PRECISIONS)
    )
    .addOption(choice('--out-of-range <policy>', 'indices out of range, for every gather in the model', POLICIES))
    .option(
      '--max-memory <size>',
      'what a run and the weights it reads may take (2GB, 512MiB; default: what the machine has free)',
      byteSize('--max-memory')
    )
    .option('--timeout <seconds>', 'end a run that takes longer', seconds('--timeout'))

const measureOptions = (command: Command): Command =>
  command
    .option('--trace', 'list the run node by node, with totals by operator and the nodes that take longest')
    .option('--profile <file>', 'write a Chrome trace, for Perfetto (- for stdout)')
    .option('--repeat <n>', 'run n times and print minimum, median, p95 and runs a second', wholeNumber('--repeat', 1))
    .option('--time <duration>', 'the same, again and again for so long: 5s, 500ms, 2m', duration('--time'))
    .option('--warmup <n>', 'run n times before, which are not counted', wholeNumber('--warmup', 0))
    .option('--print', 'print the outputs of repeated runs too')
