import { Argument, type Command } from 'commander'
import { common, type Context } from '../command-kit.ts'
import { EXIT } from '../failure.ts'
import { print } from '../terminal.ts'

const SHELLS = ['bash', 'zsh', 'fish', 'powershell']

/** What shells and man(1) want of the command: `completion` and `man`, and `complete`, which the scripts call. */
export function addShellCommands(root: Command, { terminal, end }: Context, version: string): void {
  const completion = root
    .command('completion')
    .description('print a script that completes commands, options, values and names in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
  common(completion).action(async (shell: string, { json }: { json?: boolean }) => {
    const { SCRIPTS } = await import('./completion-scripts.ts')
    const script = SCRIPTS[shell as keyof typeof SCRIPTS]
    print(terminal, json ? JSON.stringify({ shell, script }, undefined, 2) : script.trimEnd())
    end(EXIT.yes)
  })
  const man = root.command('man').description('print the manual page, for man -l')
  common(man).action(async ({ json }: { json?: boolean }) => {
    const { manualPage } = await import('./manual.ts')
    const manual = manualPage(root, version)
    print(terminal, json ? JSON.stringify({ manual }, undefined, 2) : manual.trimEnd())
    end(EXIT.yes)
  })
  root
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action(async (typed: string[]) => {
      const lines = await (await import('./completion.ts')).completionLines(root, typed)
      if (lines.length > 0) print(terminal, lines.join('\n'))
      end(EXIT.yes)
    })
}
