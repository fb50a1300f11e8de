// Child processes: ranges of mutants under a watchdog, and a process that runs one mutant at a time.
import { fork } from 'node:child_process'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HEAD, STARTING } from './outcomes.mjs'

const WORKER = join(import.meta.dirname, 'worker.mjs')
/** Loading the corpus and the bundle may take longer than a mutant. */
const START = 60_000
const POLL = 250
/** A process that takes more is ended before the machine suffers. */
const RUNAWAY = 2 ** 31
/** As worker.mjs says. */
const GO_ON = 75

const children = new Set()

function start(env = {}) {
  const child = fork(WORKER, [], {
    execArgv: ['--expose-gc', '--max-old-space-size=1024', '--max-semi-space-size=8'],
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc']
  })
  children.add(child)
  child.on('exit', () => children.delete(child))
  return child
}

/** Ends every child at once. */
export function endAll() {
  for (const child of children) child.kill('SIGKILL')
}

/** Bytes that a process holds; 0 where the system does not say. */
function held(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * 4096
  } catch {
    return 0
  }
}

/** The state of a process or thread and the milliseconds for which it has computed, of a file of /proc. */
function stateIn(path) {
  const stat = readFileSync(path, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // User and system time, in ticks of 10 ms.
  return { state: fields[0], computed: 10 * (Number(fields[11]) + Number(fields[12])) }
}

/** Milliseconds for which a process has computed; undefined where the system does not say. */
function computed(pid) {
  try {
    return stateIn(`/proc/${pid}/stat`).computed
  } catch {
    return undefined
  }
}

/** Whether every thread of a process sleeps: none computes, waits for a core or for a disk. */
function sleeps(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).every(thread => stateIn(`/proc/${pid}/task/${thread}/stat`).state === 'S')
  } catch {
    return false
  }
}

/**
 * Tells how long a process takes. What waits for a core on a busy machine does not hang; what computes for so long or
 * sleeps for so long does, and so does what has not ended after ten times as long, where that is not seen.
 */
class Watch {
  constructor(pid) {
    this.pid = pid
    this.restart()
  }

  restart() {
    this.since = performance.now()
    this.before = computed(this.pid)
    this.rests = { since: this.since, computed: this.before }
  }

  /** Whether it takes more than some time, if it is asked now and then. */
  exceeds(milliseconds) {
    const at = performance.now()
    const now = computed(this.pid)
    if (now !== this.rests.computed || !sleeps(this.pid)) this.rests = { since: at, computed: now }
    if (at - this.since <= milliseconds) return false
    return (
      at - this.since > 10 * milliseconds ||
      this.before === undefined ||
      now === undefined ||
      now - this.before > 0.9 * milliseconds ||
      at - this.rests.since > milliseconds
    )
  }
}

/**
 * Runs the mutants of a range, whatever happens to the processes that do it.
 * @param job `{ bundle, hang, format, seed, folders, range: [from, to], progress: { path, from, findings }, twins?,
 *   env? }`
 * @returns what befell processes: `{ index, problem }` each
 */
export async function runRange(job) {
  const {
    range: [from, to],
    progress
  } = job
  const suspects = []
  if (!existsSync(progress.path)) writeFileSync(progress.path, Buffer.alloc(HEAD + to - from))
  for (let next = from; next < to;) {
    writeFileSync(progress.path, Buffer.from(Uint32Array.of(STARTING).buffer), { flag: 'r+' })
    const { at, problem, code } = await runUntilEnd({ ...job, range: [next, to] })
    if (code === 0) break
    if (at === STARTING) throw new Error(`a worker does not start: ${problem?.message}`)
    if (code === GO_ON) next = at + 1
    else {
      suspects.push({ index: at, problem })
      next = at + 1
    }
  }
  return suspects
}

const hanging = milliseconds => ({ kind: 'hang', message: `it takes more than ${milliseconds / 1000} s` })

/** One process until it ends or is ended: where it was, and why it ended. */
function runUntilEnd({ env, ...job }) {
  return new Promise(resolve => {
    const child = start(env)
    const file = openSync(job.progress.path, 'r')
    const cell = Buffer.alloc(HEAD)
    let at = STARTING
    const watch = new Watch(child.pid)
    let problem
    const look = () => {
      readSync(file, cell, 0, HEAD, 0)
      const found = cell.readUInt32LE()
      if (found !== at) {
        at = found
        watch.restart()
      }
    }
    const timer = setInterval(() => {
      look()
      if (watch.exceeds(at === STARTING ? START : job.hang)) problem = hanging(job.hang)
      else if (held(child.pid) > RUNAWAY)
        problem = { kind: 'memory', message: `the process takes more than ${RUNAWAY / 2 ** 30} GB` }
      if (problem) child.kill('SIGKILL')
    }, POLL)
    child.on('exit', (code, signal) => {
      clearInterval(timer)
      look()
      closeSync(file)
      resolve({
        at,
        code,
        problem: problem ?? { kind: 'crash', message: `the process ends with ${signal ?? `exit code ${code}`}` }
      })
    })
    child.send(job)
  })
}

/** A process that runs one mutant at a time and is replaced when one ends it. */
export function lone(common) {
  let child
  return {
    /** @returns what the worker answers, or `{ problem }` when it does not */
    ask(plan, files) {
      child ??= start()
      const asked = child
      let made = {}
      return new Promise(resolve => {
        const watch = new Watch(asked.pid)
        let limit = START
        const timer = setInterval(() => {
          if (!watch.exceeds(limit)) return
          this.end()
          finish({ ...made, problem: hanging(common.hang) })
        }, POLL)
        const finish = answer => {
          clearInterval(timer)
          asked.removeAllListeners('message')
          asked.removeAllListeners('exit')
          resolve(answer)
        }
        asked.on('message', message => {
          if ('stage' in message) return finish(message)
          made = message
          limit = common.hang
          watch.restart()
          return undefined
        })
        asked.once('exit', (code, signal) => {
          child = undefined
          finish({
            ...made,
            problem: { kind: 'crash', message: `the process ends with ${signal ?? `exit code ${code}`}` }
          })
        })
        asked.send({ ...common, plan, files })
      })
    },
    end() {
      child?.kill('SIGKILL')
      child = undefined
    }
  }
}
