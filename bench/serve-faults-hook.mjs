// Loaded into a server before it starts (node --import): ends one of its threads at SIGUSR2, in the middle of what it
// runs, as a fault of the machine or of a kernel would.
import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

const running = new Set()
const { Worker } = threads
threads.Worker = class extends Worker {
  constructor(...args) {
    super(...args)
    running.add(this)
    this.once('exit', () => running.delete(this))
  }
}
syncBuiltinESMExports()
let turn = 0
process.on('SIGUSR2', () => {
  const all = [...running]
  void all[turn++ % all.length]?.terminate()
})
