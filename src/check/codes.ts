import type { FindingCode } from '../graph/graph.ts'

/** What a code means, and an example, in Markdown. */
export type Explanation = readonly [meaning: string, example: string]
type Explanations = Readonly<Record<string, Explanation>>

const TYPES = {
  'dims-mismatch': [
    'A dim is declared that cannot be true, or dims that must agree do not.',
    'Gather on axis 2 of `[6, 12, 10]` with indices `[15, 4]` gives `[6, 12, 15, 4]`; its port declares ' +
      '`[6, 15, 15, 4]`.'
  ],
  'rank-mismatch': [
    'A rank is declared that cannot be true, or an operator takes another one.',
    '`y` is declared `[4, n, 1]`; its dims are `[4, n]`.'
  ],
  'type-mismatch': [
    'An element type is declared that cannot be true, or two inputs that must have one type have two.',
    'Add of `float32` and `int64`.'
  ],
  'shape-mismatch': [
    'The shapes of the inputs do not fit each other.',
    'Add of `[2, 3]` and `[4, 3]`; Reshape of 12 elements to `[5, -1]`.'
  ],
  'type-not-allowed': [
    'An input has an element type that this version of the operator excludes.',
    'Softmax of `int64`.'
  ],
  'index-type-not-allowed': [
    'The indices of a gather have an element type that this version of the operator excludes.',
    'Indices of `uint8`, where ONNX allows `int32` and `int64`.'
  ],
  'contradicting-types': [
    'Two declarations of one value contradict each other (ONNX).',
    '`value_info` says that `y` is `float32`, the graph output says `int64`.'
  ],
  'invalid-dim': [
    'A dim is declared negative (ONNX); `-1`, which some exporters write for an open dim, is a warning.',
    '`dim_value: -3`.'
  ],
  'bad-dim': ['A `<dim>` is no integer from -1 (IR).', '`<dim>twelve</dim>`.'],
  'unknown-type': ['An element type is missing or not known.', '`precision="FP99"`.'],
  'unproven-declaration': [
    'A note: a declaration is more precise than what can be inferred. It may be true, which only a run ' +
      'can tell. Only the first such declaration on a path through the graph is noted, and none where the ' +
      'model has errors.',
    'The output of NonZero is declared `[1, 5]`, while the number of elements that are not zero depends on the data.'
  ],
  'loose-declaration': [
    'A note with `--strict`: a declaration is less precise than what is inferred.',
    '`[?, 10]` is declared; it is `[4, 10]`.'
  ]
} satisfies Explanations

const OPERATORS = {
  'unknown-op': [
    'The operator set has no such operator: it is misspelt, or of a newer operator set.',
    '`Gatherr`, or `Gather` in the version `opset99`.'
  ],
  'unsupported-op': [
    'A note: the operator exists, or its domain is not a standard one, and Nodewise does not have it. Its ' +
      'outputs are taken as declared.',
    '`my.domain::Scale`.'
  ],
  'missing-opset': [
    'A node belongs to an operator set that the model does not import, or the model imports none. A warning for ' +
      '`com.microsoft`, of which ONNX Runtime takes version 1 then.',
    'A node of domain `com.example` without an import of `com.example`.'
  ],
  'duplicate-opset': [
    'An operator set is imported twice; a note where both imports have the same version.',
    '`ai.onnx 13` and `ai.onnx 17`.'
  ],
  'wrong-input-count': [
    'The operator takes another number of inputs, or one that it needs is left out.',
    'Gather with one input.'
  ],
  'wrong-output-count': ['The operator has another number of outputs.', 'Relu with two.'],
  'missing-attribute': [
    'A required attribute is absent. A note where OpenVINO takes a default that the specification does not give.',
    'Concat without `axis`; a layer without `version`.'
  ],
  'unknown-attribute-value': [
    'An attribute is not known to this version of the operator, is of another kind, or cannot have this value.',
    '`auto_broadcast="whatever"`.'
  ],
  'invalid-attribute': [
    'The value of an attribute does not fit its kind (ONNX).',
    'An attribute that says it is a list of integers and holds a float.'
  ],
  'duplicate-attribute': ['An attribute is given twice.', 'Two attributes `axis`.'],
  'axis-out-of-range': ['An axis lies outside `[-rank, rank-1]`.', 'Axis 3 of a tensor of rank 3.'],
  'batch-dims-out-of-range': [
    '`batch_dims` lies outside its range, or is greater than the axis.',
    '`batch_dims="2"` with axis 1.'
  ],
  'batch-dims-mismatch': [
    'A batch dim differs between the data and the indices.',
    'Data `[2, 5]` and indices `[3, 4]` with one batch dim.'
  ],
  'index-out-of-range': [
    'A constant index lies outside its axis.',
    'Index 6 on an axis of size 6; the message says where the index comes from.'
  ],
  'rank-zero-data': ['The data of a gather are a scalar, which has no axis.', 'Gather from a constant of dims `[]`.'],
  'value-out-of-range': [
    'A constant or an attribute has a value that the operator does not allow.',
    'Strides of 0; a Split into sizes that do not add up.'
  ]
} satisfies Explanations

const CONSTANTS = {
  'constant-size': [
    'The bytes of a constant do not fit its type and dims.',
    'A Const of `i64` and shape `2` with `size="8"`.'
  ],
  'constant-literal': [
    'A Const has its elements in the XML, where they are not read.',
    '`<data element_type="i64" shape="" value="1"/>`.'
  ],
  'bad-shape': ['The text of a shape cannot be read, or its elements cannot be counted.', '`shape="2,,3"`.'],
  'negative-dim': ['An initializer has a negative dim.', '`dims: [-1, 3]`.'],
  'invalid-sparse': ['The parts of a sparse initializer do not fit each other.', 'Three values and two indices.'],
  'tensor-segment': ['A tensor is a segment of a larger one, which no tool writes.', 'An initializer with `segment`.'],
  'external-data': ['An entry for the location of external data cannot be read.', '`offset: "many"`.'],
  'missing-file': [
    'The file with the elements of a constant, or the model file itself, does not exist or may not be ' +
      'read. For elements only a run fails: `check` needs no weights and has no finding for them.',
    'External data in `weights.bin`, which does not exist.'
  ],
  'outside-folder': [
    'External data are outside the folder of the model, which is not allowed; `--data-root` allows one more folder.',
    '`location: "../../etc/passwd"`.'
  ],
  'invalid-file': [
    'The file is wrong about a constant: it is beyond the end of the file, or its elements cannot be ' +
      'decoded. A file that is no model at all fails with this code.',
    '`offset="4096"` in a `.bin` of 4096 bytes.'
  ]
} satisfies Explanations

const STRUCTURE = {
  cycle: ['A node waits for its own output.', '`a` reads `y`, which `b` makes from what `a` makes.'],
  'not-sorted': [
    'A node stands before one whose output it reads (ONNX wants them sorted). The nodes are sorted, so ' +
      'that the rest can be checked.',
    'Node 3 reads what node 7 makes.'
  ],
  'missing-producer': [
    'Nothing makes a value that is read.',
    'A node reads `hiden`, but the value is called `hidden`.'
  ],
  'duplicate-name': ['Two values have one name (ONNX).', 'Nodes 2 and 5 both make `y`.'],
  'missing-name': ['Something that needs a name has none.', 'A graph input with an empty name.'],
  'shadowed-name': [
    'A warning: a body and the graph around it have a value of the same name.',
    'The body of a loop makes an `x` of its own.'
  ],
  'duplicate-function': ['A function is defined twice.', 'Two functions `my.domain::Scale`.'],
  'duplicate-id': ['Two layers have one id (IR).', '`<layer id="7" …>` twice.'],
  'duplicate-port': [
    'Two ports of a layer, or two entries of a port map, have one id.',
    '`<port id="0">` twice in one `<input>`.'
  ],
  'duplicate-edge': ['Two edges lead to one port.', 'Edges from layers 3 and 4, both to port 0 of layer 5.'],
  'missing-edge': [
    'An input port has no edge; a note where it is after all connected ports, as OpenVINO leaves it out then.',
    'Port 1 of an Add that nothing leads to.'
  ],
  'missing-port': ['A Parameter has no output port.', '`<layer type="Parameter" …>` without `<output>`.'],
  'missing-data': ['A Const or a Parameter has no `<data>`.', '`<layer type="Const" …>` with ports only.'],
  'unknown-layer': [
    'An edge or a port map names a layer that does not exist.',
    '`to-layer="99"` in a model of 20 layers.'
  ],
  'unknown-port': [
    'An edge or a port map names a port that does not exist.',
    '`from-port="5"` of a layer with one output.'
  ],
  'unmapped-output': [
    'The port map of a loop or a branch leaves out one of its outputs.',
    'A Loop with two output ports and one `<output …/>` entry.'
  ],
  'unused-back-edge': [
    'A warning: a back edge leads to a Parameter that gets a slice in each iteration.',
    'A `<back_edges>` entry to a Parameter with an `axis`.'
  ],
  'bad-number': ['An id, an offset or a size is missing or is no number.', '`id="first"`.'],
  'not-an-output': [
    'A warning: the type of a layer looks like that of an output; only `Result` is one.',
    '`type="result"`.'
  ],
  'dead-layer': [
    'A note: no Result needs the layer. OpenVINO removes it, so errors of it are only warnings.',
    'A Const that nothing reads.'
  ],
  'pre-process': [
    'The mean values of `<pre-process>`, which are subtracted from an input, do not fit it, or there is no such input.',
    'Two channels with means for an input of three.'
  ]
} satisfies Explanations

const FAILURES = {
  'unsupported-version': ['The file is of a version that is not read.', 'An IR of version 7.'],
  'limit-exceeded': [
    'The model asks for more memory or work than is allowed.',
    'Functions that call each other more than 32 deep.'
  ],
  'unexpected-input': ['The model has no input of that name.', '`--input-shape idz=[2,3]`.'],
  'bad-usage': ['The command line is wrong.', '`--input-shape ids=[2,`.'],
  'network-failed': [
    'A server did not answer in time, cut the connection, or stayed busy.',
    '`https://` and the name of a server that is down.'
  ],
  'write-failed': ['A result could not be written.', 'The disk is full.'],
  internal: ['This program has a fault; please report it.', '`--debug` prints the stack.']
} satisfies Explanations

const RUNS = {
  'invalid-graph': [
    'The graph has a fault of its structure; `details.finding` is its code, as above.',
    '`run` of a graph with a cycle.'
  ],
  'missing-input': ['A run was not given one of its inputs.', '`run model.onnx` without `-i ids=…`.'],
  aborted: ['The run was stopped from outside.', 'Ctrl-C, or an `AbortSignal`.']
} satisfies Explanations

/**
 * What each code means: findings, and failures, which end a command. `docs/checking.md` says the same, in this order.
 */
export const CODES: Readonly<Record<FindingCode, Explanation>> = {
  ...TYPES,
  ...OPERATORS,
  ...CONSTANTS,
  ...STRUCTURE,
  ...FAILURES,
  ...RUNS
}

/** The first sentence of what a code means. */
export const shortMeaning = (code: FindingCode): string => /^.*?[.](?= |$)/.exec(CODES[code][0])?.[0] ?? CODES[code][0]
