// A transform of the AssemblyScript compiler: what a kernel calls stays a function, unless the source marks it with
// @inline or it reads a field. Binaryen would put every function of one caller into that caller, so that the function
// which calls all kernels became one with most of them. V8 compiles by the function: it then took 20 to 45 ms to
// optimize 40 kernels where one was hot, until when all of them ran as its first compiler leaves them. And in functions
// of several loops it runs out of registers within the loops.
import { Transform } from 'assemblyscript/transform'

export default class FunctionsApart extends Transform {
  /** @param module of Binaryen, not optimized yet */
  afterCompile(module) {
    for (let i = 0; i < module.getNumFunctions(); i++) {
      const { name } = this.binaryen.getFunctionInfo(module.getFunctionByIndex(i))
      // Fields are read by functions such as `assembly/job/Job#get:kernel`.
      if (name.includes('#')) continue
      this.binaryen.setPassArgument('no-inline', name)
      module.runPasses(['no-inline'])
    }
    this.binaryen.clearPassArguments()
  }
}
