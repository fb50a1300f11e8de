import type { Command } from 'commander'
import { choice, common, type Context, OPS } from '../command-kit.ts'
import { byteSize, collect, wholeNumber } from '../options.ts'

const FORMATS = ['parquet', 'arrow', 'arrow-stream', 'ndjson', 'csv']

/** Adds `nodewise score`, which the package nodewise-score does. */
export function addScore(root: Command, { terminal, end }: Context): void {
  const command = root
    .command('score <model> [table]')
    .description(
      'run a model over the rows of a table (.parquet, .arrow, .ndjson, .csv; - for stdin); its outputs become columns'
    )
    .option('-o, --output <table>', 'where the rows go (default: -, stdout); the suffix says the format')
    .option(
      '--map <input=columns>',
      'columns of an input, separated by commas; else that of its name; repeatable',
      collect
    )
    .option('--as <output=column>', 'another name for the column of an output; repeatable', collect)
    .option('--outputs <names>', 'outputs that are wanted, separated by commas (default: all)')
    .option('--keep <columns>', 'columns of the table to keep, separated by commas, or none (default: all)')
    .option('-i, --input <name=value>', 'a value that an input has for all rows, as for run; repeatable', collect)
    .option('--batch <n>', 'rows of one run (default: by the size of a row)', wholeNumber('--batch', 1))
    .option('--pad <value>', 'fill lists that are shorter than the longest of their run')
    .addOption(choice('--on-error <how>', 'what becomes of rows that fail (default: fail)', ['fail', 'skip', 'null']))
    .option('--errors <file>', 'where such rows go, as NDJSON (default: beside the output)')
    .option('--resume', 'go on where a process that was stopped has come to')
    .addOption(choice('--from-format <format>', 'what the table is, where it does not tell', FORMATS))
    .addOption(choice('--to-format <format>', 'what is written, where the name does not tell', FORMATS))
    .option('--threads <n>', 'threads to compute with (default: the cores of the process)', wholeNumber('--threads', 1))
    .option('--max-memory <size>', 'what a run and the weights it reads may take', byteSize('--max-memory'))
    .option(...OPS)
  common(command).action(async (model: string, table: string | undefined, flags: object) =>
    end(await (await import('./score.ts')).score(model, table, flags, terminal))
  )
}
