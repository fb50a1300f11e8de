/** What stands at the end of the help of each command, and in the manual. A test runs every line. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  run: [
    'nodewise run model.onnx -i ids=[1,5]',
    'nodewise run model.onnx --fill random --shape n=1',
    'nodewise run model.onnx -i ids=ids.npy -o outputs.npz',
    'nodewise run model.onnx -i ids=[1,5] --fetch rgb --json',
    'nodewise run model.onnx --fill ones --shape n=8 --warmup 5 --time 1s',
    'nodewise run model.onnx -i ids=[1,5] --trace',
    'nodewise run classifier.onnx -i X=[[5.1,3.5,1.4,0.2]] --top 3'
  ],
  check: [
    'nodewise check model.onnx',
    'nodewise check models --ignore dead-layer --quiet',
    "nodewise check 'models/**/*.onnx' --format sarif -o nodewise.sarif",
    'nodewise check model.onnx --input-shape n=8 --values',
    'nodewise check models --baseline known.json --update-baseline',
    'nodewise check model.xml --fix fixed.xml'
  ],
  explain: ['nodewise explain dims-mismatch', 'nodewise explain'],
  inspect: [
    'nodewise inspect model.onnx',
    "nodewise inspect model.onnx --attributes --filter 'Gather*'",
    'nodewise inspect model.onnx --statistics',
    'nodewise inspect model.onnx --node rgb',
    'nodewise inspect model.onnx --plan',
    'nodewise inspect model.onnx --graph svg -o graph.svg'
  ],
  test: [
    'nodewise test cases',
    'nodewise test cases --filter gather --jobs 2 --junit results.xml',
    'nodewise test cases --atol-scale 1e-5 --verbose'
  ],
  compare: [
    'nodewise compare model.onnx model.xml -i ids=[1,5]',
    'nodewise compare model.onnx model.xml --fill random --shape n=4 --sqnr 20 --all'
  ],
  convert: [
    'nodewise convert model.xml written.onnx',
    'nodewise convert model.onnx written.xml',
    'nodewise convert model.onnx small.onnx --simplify --input-shape n=8',
    'nodewise convert model.onnx part.onnx --to rgb',
    'nodewise convert model.onnx text.onnxtxt'
  ],
  serve: ['nodewise serve model.onnx', 'nodewise serve models --http-port 8080 --grpc-port none'],
  score: [
    'nodewise score classifier.onnx flowers.csv --map X=a,b,c,d -o scored.parquet',
    'nodewise score classifier.onnx flowers.csv --map X=a,b,c,d --outputs output_label --on-error null -o scored.csv',
    'nodewise score classifier.onnx - --map X=a,b,c,d < flowers.csv > scored.csv'
  ],
  ops: ['nodewise ops', 'nodewise ops Gather GatherND', 'nodewise ops --missing'],
  view: [
    'nodewise view model.onnx',
    'nodewise view model.onnx --report report.sarif',
    'nodewise view --no-open --port 8090'
  ],
  completion: [
    'nodewise completion bash > ~/.local/share/bash-completion/completions/nodewise',
    'nodewise completion zsh > ~/.zfunc/_nodewise  # in a folder of $fpath',
    'nodewise completion fish > ~/.config/fish/completions/nodewise.fish',
    'nodewise completion powershell >> "$PROFILE"'
  ],
  man: ['nodewise man > nodewise.1', 'nodewise man | man -l -']
}

/** What an exit code says, in the help and in the manual. */
export const EXIT_CODES: readonly (readonly [number, string])[] = [
  [0, 'done, and the answer is yes'],
  [1, 'done, and the answer is no: findings, failed cases, models that differ'],
  [2, 'not done: bad usage, missing or wrong files, what is not supported'],
  [130, 'interrupted']
]
