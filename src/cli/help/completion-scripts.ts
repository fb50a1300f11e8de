/**
 * What a shell reads once to complete the command. Each script gives `nodewise complete` the words up to the cursor and
 * gets a candidate a line, with a tab before what it means. A line that begins with a colon is no candidate:
 * `:nospace` asks for no blank after what is completed, `:none` says that there is nothing, not even a path.
 * Without candidates the shell completes paths. Nothing that is typed is evaluated.
 */
/** `@{` stands for what TypeScript would take as a part of its own. */
const script = (text: string): string => text.replaceAll('@{', '${').replaceAll('${tick}', '`')

const BASH = script(String.raw`# bash completion of nodewise, written by: nodewise completion bash
# Put it into ~/.local/share/bash-completion/completions/nodewise, or into ~/.bashrc.
_nodewise() {
  local line=@{COMP_LINE:0:COMP_POINT} cur=@{COMP_WORDS[COMP_CWORD]} value meaning words
  IFS=$' \t' read -r -a words <<<"$line"
  [[ $line == *[[:blank:]] ]] && words+=("")
  # Bash takes = and : for words of their own; candidates are whole words.
  [[ $cur == [=:] ]] && cur=
  local last=@{words[@{#words[@]}-1]}
  local before=@{last%"$cur"}
  COMPREPLY=()
  while IFS=$'\t' read -r value meaning; do
    case $value in
      :none) type compopt &>/dev/null && compopt +o default ;;
      :nospace) type compopt &>/dev/null && compopt -o nospace ;;
      "$last"*) COMPREPLY+=("@{value#"$before"}") ;;
    esac
  done < <("@{COMP_WORDS[0]/#\~/$HOME}" complete -- "@{words[@]:1}" 2>/dev/null)
}
complete -o default -F _nodewise nodewise
`)

const ZSH = script(String.raw`#compdef nodewise
# zsh completion of nodewise, written by: nodewise completion zsh
# Put it as _nodewise into a folder of $fpath, before compinit is called; or source it after.
_nodewise() {
  local line none
  local -a candidates options
  for line in "@{(@f)$("@{(Q)words[1]/#\~/$HOME}" complete -- "@{(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      (:none) none=1 ;;
      (:nospace) options=(-S '') ;;
      (?*) candidates+=("@{@{line//:/\\:}/$'\t'/:}") ;;
    esac
  done
  if (( $#candidates )); then
    _describe -t values nodewise candidates $options
  elif [[ -z $none ]]; then
    compset -P '*='
    _files
  fi
}
if [[ $funcstack[1] == _nodewise ]]; then
  _nodewise "$@"
else
  compdef _nodewise nodewise
fi
`)

const FISH = script(String.raw`# fish completion of nodewise, written by: nodewise completion fish
# Put it into ~/.config/fish/completions/nodewise.fish.
function __nodewise_complete
    set -l words (commandline -opc)
    set -l program (string replace -r '^~' $HOME -- $words[1])
    set -e words[1]
    set -l current (commandline -ct)
    set -l candidates
    set -l none
    for line in ($program complete -- $words "$current" 2>/dev/null)
        switch $line
            case :none
                set none 1
            case :nospace ''
            case '*'
                set -a candidates $line
        end
    end
    if set -q candidates[1]
        printf '%s\n' $candidates
    else if not set -q none[1]
        set -l name (string match -r '^.*=' -- $current)
        for path in (__fish_complete_path (string replace -- "$name" '' $current))
            echo "$name$path"
        end
    end
end
complete -c nodewise -f -a '(__nodewise_complete)'
`)

const POWERSHELL = script(String.raw`# PowerShell completion of nodewise, written by: nodewise completion powershell
# Put it into the file that $PROFILE names.
Register-ArgumentCompleter -Native -CommandName nodewise -ScriptBlock {
    param($current, $ast, $position)
    $words = @($ast.CommandElements | Where-Object { $_.Extent.StartOffset -lt $position } | Select-Object -Skip 1 |
        ForEach-Object { $_.Extent.Text })
    # Older versions pass no empty argument on: two quotes stand for one.
    if ($current -eq '') { $words += "''" }
    & $ast.CommandElements[0].Extent.Text complete '--' @words 2>$null |
        Where-Object { $_ -and -not $_.StartsWith(':') } | ForEach-Object {
            $value, $meaning = $_ -split "@{tick}t", 2
            if (-not $meaning) { $meaning = $value }
            [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $meaning)
        }
}
`)

/** Shells by name. */
export const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL } as const
