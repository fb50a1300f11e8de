// 64-bit integers in bundles for Node: `long`, of which the decoder of ONNX makes them, compiles WebAssembly to divide
// them when it is loaded. The reader of ONNX asks for their two halves only.

/** A plugin of esbuild that puts a class of nothing but the halves in the place of the package `long`. */
export const lightLong = {
  name: 'light-long',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]node_modules[/\\]long[/\\]umd[/\\]index\.js$/ }, () => ({
      contents: `
        module.exports = class Long {
          constructor(low, high, unsigned) {
            this.low = low
            this.high = high
            this.unsigned = unsigned
          }
          static isLong(value) {
            return value instanceof Long
          }
          static fromBits(low, high, unsigned) {
            return new Long(low, high, unsigned)
          }
        }`
    }))
  }
}
