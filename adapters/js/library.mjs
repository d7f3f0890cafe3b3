// A library under test, as its adapter describes it, and how a program runs on it.
//
// The description has
//   name, version, build, dtypes, capabilities, lacks   the fields of `hello`
//   unsupported   the texts of `Unsupported`, each with the operations that may be answered so: { what, ops }
//   ops         operation to function, called as `(form, out, ...args)` with the arguments of the operation table in
//               their order, tensors among them as the library's own. It returns the result of the step, or its promise
//   make        (dtype, shape, elements) to a tensor; elements are a typed array, of a complex number both parts
//   read        a tensor, or its promise, to { dtype, shape, elements }
//   isTensor    whether something is a tensor of the library
//   classify    an error and the operation to broadcheck's class of it, or undefined

import * as recording from "./recording.mjs";

const VALUE_LIMIT = 64 << 20;

/** The typed arrays of the dtypes that JavaScript has one for. Halves are given as their bits. */
const ELEMENTS = {
  bool: Uint8Array,
  uint8: Uint8Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  float32: Float32Array,
  float64: Float64Array,
  complex64: Float32Array,
  complex128: Float64Array,
};

/** A rejection with a message of the adapter, for a library that has no message of its own. */
export class Rejection extends Error {
  constructor(message, kind) {
    super(message);
    this.kind = kind;
  }
}

/** A call that the library has no form of, in a text that its description lists as `unsupported` for the operation. */
export class Unsupported extends Error {}

/** The answer to an argument that is no shape: types forbid it, and JavaScript itself does not look. */
const NO_SHAPE = "a shape is an array of integers, by its type";

/** A shape as a result. */
export class Sizes {
  constructor(sizes) {
    this.sizes = sizes;
  }
}

/** A result that the protocol has no words for. */
class Inexpressible extends Error {}

/** A step uses a value that does not exist. */
class Missing extends Error {
  constructor(value) {
    super();
    this.value = value;
  }
}

/** The outcome as the protocol has it. */
export function hello({ name, version, build = "", ops, dtypes, capabilities = [], lacks = [], unsupported = [] }) {
  const shapes = "broadcast_shapes" in ops ? [{ what: NO_SHAPE, ops: ["broadcast_shapes"] }] : [];
  const answers = [...unsupported, ...shapes];
  return { name, version, build, ops: Object.keys(ops), dtypes, capabilities, lacks, unsupported: answers };
}

/** The reply to one program. */
export async function run(library, program) {
  if (recording.isWanted) recording.begin();
  const values = [];
  for (const { name, dtype, shape, data } of program.inputs) {
    const make = () => library.make(dtype, shape, elements(dtype, data));
    values.push(recording.isWanted ? await recording.record(name, make) : make());
  }
  const steps = [];
  for (const step of program.steps) steps.push({ outcome: await outcome(library, step, values) });
  if (program.steps.every((step) => step.form === "functional")) return { steps };
  const inputs = [];
  for (const value of values.slice(0, program.inputs.length)) inputs.push(await encode(library, value));
  return { steps, inputs };
}

async function outcome(library, step, values) {
  let result;
  try {
    const args = step.args.map((each) => resolve(values, each));
    const out = step.out && lookup(values, step.out);
    const call = () => library.ops[step.op](step.form, out, ...args);
    const found = await (recording.isWanted ? recording.record(step.name, call) : call());
    if (recording.isWanted) await recording.print(step.name, found, library.isTensor);
    const fields = { value: await value(library, found) };
    result = found;
    return fields;
  } catch (error) {
    if (error instanceof Missing) return { blocked: error.value };
    if (error instanceof Unsupported) return { unsupported: error.message };
    if (error instanceof Inexpressible) return { failed: error.message };
    if (isMistake(error)) {
      console.error(error);
      return { failed: String(error) };
    }
    return { rejected: rejected(library, error, step.op) };
  } finally {
    values.push(result);
  }
}

/** True if an error is the adapter's own. A library may raise such errors, too: then they are its rejections. */
function isMistake(error) {
  const kinds = [TypeError, ReferenceError, SyntaxError];
  const [place = ""] = String(error.stack).match(/^ +at .*$/m) ?? [];
  return kinds.some((kind) => error instanceof kind) && !place.includes("node_modules");
}

function rejected(library, error, op) {
  const message = String(error?.message ?? error).split("\n")[0] || error.constructor.name;
  const kind = error instanceof Rejection ? error.kind : library.classify?.(error, op);
  return kind ? { message, class: kind } : { message };
}

function lookup(values, { value, part }) {
  const found = values[value];
  if (found === undefined) throw new Missing(value);
  return part === undefined ? found : found[part];
}

/** An argument as JavaScript has it. */
function resolve(values, argument) {
  if (argument === "nothing") return null;
  const [[kind, given]] = Object.entries(argument);
  switch (kind) {
    case "tensor":
      return lookup(values, given);
    case "tensors":
      return given.map((each) => lookup(values, each));
    case "indices":
      return given.map((each) => each && lookup(values, each));
    case "number":
      return number(given);
    case "shapes":
      return given.map(sizes);
    default:
      return given;
  }
}

/** The sizes of a shape. */
function sizes(shape) {
  if (shape.size !== undefined) return [shape.size];
  if (shape.sizes === undefined) throw new Unsupported(NO_SHAPE);
  return shape.sizes;
}

function number(given) {
  const [[kind, content]] = Object.entries(given);
  if (kind === "float") return float(content);
  if (kind === "complex") return { real: float(content[0]), imag: float(content[1]) };
  return content;
}

function float(text) {
  return Number(text.replace("inf", "Infinity"));
}

/** A result as the protocol has it. */
async function value(library, result) {
  if (result === null || result === undefined) return "nothing";
  if (result instanceof Sizes) return { sizes: result.sizes };
  if (library.isTensor(result)) return { tensor: await encode(library, result) };
  if (Array.isArray(result)) {
    const tensors = [];
    for (const each of result) tensors.push(await encode(library, each));
    return { tensors };
  }
  if (typeof result === "boolean") return { number: { bool: result } };
  if (typeof result === "bigint") return { number: { int: result } };
  if (typeof result === "number") return { number: { float: floatText(result) } };
  throw new Inexpressible(`a result of type ${typeof result} is no value of the protocol`);
}

function floatText(number) {
  if (Object.is(number, -0)) return "-0.0";
  return String(number).replace("Infinity", "inf").replace("NaN", "nan");
}

async function encode(library, tensor) {
  const { dtype, shape, elements } = await library.read(tensor);
  const wrong = misfit(library, dtype, shape, elements);
  if (wrong) throw new Inexpressible(wrong);
  const small = elements.byteLength <= VALUE_LIMIT;
  const bytes = Buffer.from(elements.buffer, elements.byteOffset, small ? elements.byteLength : 0);
  return { dtype, shape, data: bytes.toString("base64") };
}

/** The problem with a tensor of the library that the protocol cannot express, if any. */
function misfit(library, dtype, shape, elements) {
  const known = `a tensor of dtype ${dtype} and shape [${shape.join(", ")}]`;
  if (!library.dtypes.includes(dtype)) return `${known} is of no dtype of broadcheck`;
  if (shape.reduce((size, each) => size * (each || 1), 1) >= 2 ** 63) return `${known} is larger than can be counted`;
  const given = elements.length / (dtype.startsWith("complex") ? 2 : 1);
  if (given !== shape.reduce((size, each) => size * each, 1)) return `${known} comes with ${given} elements`;
  const odd = dtype === "bool" && elements.find((each) => each > 1);
  return odd ? `${known} has the element ${odd}` : undefined;
}

/** The elements of an input, in memory of their own. */
function elements(dtype, data) {
  const bytes = Uint8Array.from(Buffer.from(data, "base64"));
  return new ELEMENTS[dtype](bytes.buffer);
}
