// Looks 512 rows up in a table of 10 GB on the server that the page came from, and says how long that took.
import { InferenceSession, Tensor } from 'nodewise'
import { ROWS, someRows, WIDTH } from './rows.js'

async function lookUp() {
  const start = performance.now()
  const session = await InferenceSession.create('table.xml')
  const opened = performance.now()
  const rows = someRows(512, ROWS)
  const found = await session.run({ ids: new Tensor('int64', rows.map(BigInt)) })
  const ended = performance.now()
  return {
    opening: opened - start,
    lookingUp: ended - opened,
    isRight: rows.every((row, i) => found.rows.data[i * WIDTH] === row)
  }
}

/** For scripts that drive a browser: a promise of what was measured. */
globalThis.lookedUp = lookUp()
const output = document.querySelector('output')
globalThis.lookedUp.then(
  ({ opening, lookingUp, isRight }) => {
    const times = `Opened in ${Math.round(opening)} ms, 512 rows in ${Math.round(lookingUp)} ms`
    output.textContent = `${times}; ${isRight ? 'every row is the one that was asked for' : 'a row is wrong'}.`
  },
  error => {
    output.textContent = error.message
  }
)
