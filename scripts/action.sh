# What the GitHub action of action.yml runs. Texts come in by variables, never as a part of the script: NODEWISE is the
# file of the command, MODELS has a model, folder or glob a line, ARGS options, SARIF the file of a second report.
set -u
models=()
while IFS= read -r line; do
  if [ -n "$line" ]; then models+=("$line"); fi
done <<<"$MODELS"
read -r -a args <<<"$ARGS"

# With nothing in a list, older versions of bash take it as a variable that is not set.
check() { node "$NODEWISE" check ${args[@]+"${args[@]}"} "$@" -- ${models[@]+"${models[@]}"}; }

check --format github
status=$?
if [ -n "$SARIF" ]; then check --format sarif --output "$SARIF" 2>/dev/null; fi
exit $status
