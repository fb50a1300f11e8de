// Loaded into a process of Node with --require: at its end, writes its peak memory in bytes to file 3. On Linux that is
// VmHWM, which begins
// anew with the program; the peak that getrusage gives may be that of the process which started it.
const { readFileSync, writeSync } = process.getBuiltinModule('node:fs')

process.on('exit', () => {
  let kilobytes
  try {
    kilobytes = Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1])
  } catch {
    kilobytes = process.resourceUsage().maxRSS
  }
  writeSync(3, String(kilobytes * 1024))
})
