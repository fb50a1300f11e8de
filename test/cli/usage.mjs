// Imported before the command: when the process ends, writes to its stream 3 what it took.
import { writeSync } from 'node:fs'
import { peak } from './peak.mjs'

process.on('exit', () => {
  const { user, system } = process.cpuUsage()
  writeSync(3, JSON.stringify({ seconds: (user + system) / 1e6, memory: peak() }))
})
