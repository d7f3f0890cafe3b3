// What adapters for Node share: the protocol of `adapters/README.md`, and nothing of any library.
//
// An adapter calls `quiet()`, loads its library with `load(name)`, describes it in an object (`library.mjs` has what
// belongs there), and hands it to `serve`.

export { Rejection, Sizes, Unsupported } from "./library.mjs";
export { binary, classifier, interpreter, lacks, operations } from "./operations.mjs";
export { recorded } from "./recording.mjs";
export { load, place, quiet, serve } from "./server.mjs";
