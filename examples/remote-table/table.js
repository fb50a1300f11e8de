// An embedding of gigabytes as an IR: the XML, and a .bin without contents but for a few rows.
import { closeSync, ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { ROWS, someRows, WIDTH } from './rows.js'

/** The XML of a model that looks rows up in a table of so many. */
const modelOf = rows => `<?xml version="1.0"?>
<net name="table" version="11">
  <layers>
    <layer id="0" name="ids" type="Parameter" version="opset1">
      <data element_type="i64" shape="?" />
      <output><port id="0" precision="I64" names="ids"><dim>-1</dim></port></output>
    </layer>
    <layer id="1" name="table" type="Const" version="opset1">
      <data element_type="f32" shape="${rows}, ${WIDTH}" offset="0" size="${rows * WIDTH * 4}" />
      <output><port id="0" precision="FP32"><dim>${rows}</dim><dim>${WIDTH}</dim></port></output>
    </layer>
    <layer id="2" name="axis" type="Const" version="opset1">
      <data element_type="i64" shape="" offset="${rows * WIDTH * 4}" size="8" />
      <output><port id="0" precision="I64" /></output>
    </layer>
    <layer id="3" name="lookup" type="Gather" version="opset8">
      <data batch_dims="0" />
      <input>
        <port id="0"><dim>${rows}</dim><dim>${WIDTH}</dim></port>
        <port id="1"><dim>-1</dim></port>
        <port id="2" />
      </input>
      <output><port id="3" precision="FP32" names="rows"><dim>-1</dim><dim>${WIDTH}</dim></port></output>
    </layer>
    <layer id="4" name="rows/result" type="Result" version="opset1">
      <input><port id="0"><dim>-1</dim><dim>${WIDTH}</dim></port></input>
    </layer>
  </layers>
  <edges>
    <edge from-layer="1" from-port="0" to-layer="3" to-port="0" />
    <edge from-layer="0" from-port="0" to-layer="3" to-port="1" />
    <edge from-layer="2" from-port="0" to-layer="3" to-port="2" />
    <edge from-layer="3" from-port="3" to-layer="4" to-port="0" />
  </edges>
</net>
`

/**
 * Writes `table.xml` and `table.bin` into a folder. The .bin is a sparse file: it takes no room on the disk but for the
 * rows that the examples look up, whose elements are all the number of the row.
 */
export function writeTable(folder) {
  const rowBytes = WIDTH * 4
  writeFileSync(join(folder, 'table.xml'), modelOf(ROWS))
  const bin = openSync(join(folder, 'table.bin'), 'w')
  ftruncateSync(bin, ROWS * rowBytes + 8)
  for (const row of someRows(512, ROWS)) {
    const elements = new Float32Array(WIDTH).fill(row)
    writeSync(bin, Buffer.from(elements.buffer), 0, rowBytes, row * rowBytes)
  }
  closeSync(bin)
}
