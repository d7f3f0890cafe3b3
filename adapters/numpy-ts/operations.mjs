// The operation table, as far as numpy-ts has it, and its arrays as the protocol sees them.
//
// An operation is a function of numpy-ts and nothing made of several. Numbers stay JavaScript's.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

import { Sizes, Unsupported, binary, classifier, interpreter, lacks, operations, place, recorded } from "../js/index.mjs";

const NAME = "numpy-ts";
const np = recorded(await import(pathToFileURL(place(NAME))), NAME, "np");

const DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64", "complex64", "complex128"];

const ARRAY_FIRST = "numpy-ts's functions of two operands take an array first";
const STEPS = "numpy-ts's slice has no new axes";
const NO_AXIS = "numpy-ts's take_along_axis has an axis";
const COMPLEX = "numpy-ts's functions take no complex number outside of arrays";
const BOOLEAN = "numpy-ts's functions take no boolean outside of arrays";
const ONE_AXIS = "numpy-ts's squeeze has one axis, and none is all";

const isTensor = (value) => value instanceof np.NDArrayCore || value instanceof np.NDArray;

const given = (dim) => dim ?? undefined;

/** A function of an array, and an array or a number. */
function plain(call) {
  return (left, right) => {
    if (!isTensor(left)) throw new Unsupported(ARRAY_FIRST);
    if ([left, right].some((each) => typeof each?.imag === "number")) throw new Unsupported(COMPLEX);
    if (typeof right === "boolean") throw new Unsupported(BOOLEAN);
    return call(left, right);
  };
}

/** numpy-ts results in a scalar where NumPy has an array of no dimensions. */
const dimensionless = (dtype) => (call) => (tensor, ...rest) => {
  const result = call(tensor, ...rest);
  return isTensor(result) ? result : { scalar: result, dtype: dtype ?? scalarType(result, tensor.dtype) };
};

/** The dtype of a scalar: where JavaScript's type leaves it open, it is that of the operand, or NumPy's default. */
function scalarType(scalar, dtype) {
  if (typeof scalar === "bigint") return "int64";
  if (typeof scalar === "boolean") return "bool";
  if (scalar instanceof np.Complex) return dtype.startsWith("complex") ? dtype : "complex128";
  if (dtype.startsWith("float")) return dtype;
  return dtype.startsWith("complex") || !Number.isInteger(scalar) ? "float64" : "int64";
}

const reduction = (call) => (tensor, dim, keepdims) => call(tensor, given(dim), keepdims);

const spread = (call) => (tensor, dim, correction, keepdims) => call(tensor, given(dim), correction ?? 0, keepdims);

function take(tensor, index, dim) {
  if (dim === null) throw new Unsupported(NO_AXIS);
  return np.take_along_axis(tensor, index, dim);
}

function squeeze(tensor, dim) {
  if (Array.isArray(dim)) throw new Unsupported(ONE_AXIS);
  return np.squeeze(tensor, given(dim));
}

/** An item between brackets, as `slice` has it. */
function between(item) {
  if (item === "none") throw new Unsupported(STEPS);
  if (item === "ellipsis") return "...";
  if (item.at !== undefined) return String(item.at);
  const { start, stop, step } = item.slice;
  return `${start ?? ""}:${stop ?? ""}:${step ?? ""}`;
}

function item(tensor) {
  const value = tensor.item();
  return tensor.dtype === "bool" ? Boolean(value) : value;
}

const NAMES = {
  add: "add",
  sub: "subtract",
  mul: "multiply",
  div: "true_divide",
  eq: "equal",
  ne: "not_equal",
  lt: "less",
  le: "less_equal",
  gt: "greater",
  ge: "greater_equal",
  maximum: "maximum",
  minimum: "minimum",
  fmax: "fmax",
  fmin: "fmin",
  bitwise_and: "bitwise_and",
  bitwise_or: "bitwise_or",
  bitwise_xor: "bitwise_xor",
  bitwise_left_shift: "left_shift",
  bitwise_right_shift: "right_shift",
  gcd: "gcd",
  lcm: "lcm",
  logical_and: "logical_and",
  logical_or: "logical_or",
  logical_xor: "logical_xor",
  floor_divide: "floor_divide",
  remainder: "remainder",
  fmod: "fmod",
  hypot: "hypot",
  pow: "power",
  float_power: "float_power",
  atan2: "arctan2",
  copysign: "copysign",
  nextafter: "nextafter",
  heaviside: "heaviside",
  ldexp: "ldexp",
  logaddexp: "logaddexp",
  logaddexp2: "logaddexp2",
};

const ELEMENTWISE = Object.fromEntries(Object.entries(NAMES).map(([op, name]) => [op, plain(binary(np[name]))]));

const OPERATIONS = {
  ...ELEMENTWISE,
  where: (condition, left, right) => np.where(condition, left, right),
  clamp: (tensor, low, high) => np.clip(tensor, low, high),
  expand: (tensor, size) => np.broadcast_to(tensor, size),
  expand_as: (tensor, other) => np.broadcast_to(tensor, [...other.shape]),
  broadcast_to: (tensor, size) => np.broadcast_to(tensor, size),
  broadcast_tensors: (tensors) => np.broadcast_arrays(...tensors),
  broadcast_shapes: (shapes) => new Sizes([...np.broadcast_shapes(...shapes)]),
  unsqueeze: (tensor, dim) => np.expand_dims(tensor, dim),
  squeeze,
  transpose: (tensor, one, other) => np.swapaxes(tensor, one, other),
  swapaxes: (tensor, one, other) => np.swapaxes(tensor, one, other),
  permute: (tensor, dims) => np.transpose(tensor, dims),
  movedim: (tensor, source, destination) => np.moveaxis(tensor, source, destination),
  moveaxis: (tensor, source, destination) => np.moveaxis(tensor, source, destination),
  reshape: (tensor, size) => np.reshape(tensor, size),
  flatten: (tensor) => np.ravel(tensor),
  clone: (tensor) => np.copy(tensor),
  index: (tensor, items) => tensor.slice(...items.map(between)),
  index_select: (tensor, dim, index) => np.take(tensor, index, dim),
  take_along_dim: take,
  masked_select: (tensor, mask) => np.bindex(tensor, mask),
  item,
  matmul: dimensionless()(binary(np.matmul)),
  dot: dimensionless()(binary(np.dot)),
  vdot: dimensionless()(binary(np.vdot)),
  inner: dimensionless()(binary(np.inner)),
  outer: binary(np.outer),
  kron: binary(np.kron),
  linalg_vecdot: dimensionless()((left, right, dim) => np.vecdot(left, right, dim)),
  linalg_cross: (left, right, dim) => np.cross(left, right, undefined, undefined, undefined, dim),
  linalg_solve: (left, right) => np.linalg.solve(left, right),
  tensordot: dimensionless()((left, right, ...dims) => np.tensordot(left, right, dims)),
  einsum: (equation, operands) => dimensionless()(() => np.einsum(equation, ...operands))(operands[0]),
  sum: dimensionless()(reduction(np.sum)),
  nansum: dimensionless()(reduction(np.nansum)),
  mean: dimensionless()(reduction(np.mean)),
  prod: dimensionless()(reduction(np.prod)),
  amax: dimensionless()(reduction(np.max)),
  amin: dimensionless()(reduction(np.min)),
  all: dimensionless("bool")(reduction(np.all)),
  any: dimensionless("bool")(reduction(np.any)),
  argmax: dimensionless("int32")(reduction(np.argmax)),
  argmin: dimensionless("int32")(reduction(np.argmin)),
  var: dimensionless()(spread(np.variance)),
  std: dimensionless()(spread(np.std)),
  isclose: (left, right, rtol, atol) => np.isclose(left, right, rtol, atol),
  allclose: (left, right, rtol, atol) => np.allclose(left, right, rtol, atol),
  equal: (left, right) => np.array_equal(left, right),
};

const ARGUMENTS = {
  "add alpha": "numpy-ts's add has no factor",
  "sub alpha": "numpy-ts's subtract has no factor",
  "div rounding_mode": "numpy-ts's true_divide has no rounding mode",
  "flatten start_dim": "numpy-ts's ravel flattens all dimensions",
  "flatten end_dim": "numpy-ts's ravel flattens all dimensions",
  "sum dtype": "the adapter gives numpy-ts's sum no dtype",
  "nansum dtype": "numpy-ts's nansum has no dtype",
  "mean dtype": "the adapter gives numpy-ts's mean no dtype",
  "prod dtype": "the adapter gives numpy-ts's prod no dtype",
  "var unbiased": "numpy-ts's variance has no such switch",
  "std unbiased": "numpy-ts's std has no such switch",
  "isclose equal_nan": "numpy-ts's isclose has no equal_nan",
  "allclose equal_nan": "numpy-ts's allclose has no equal_nan",
  "linalg_solve left": "numpy-ts's solve has no such switch",
};

const NEWER = [
  { dtype: "float16", why: "numpy-ts has float16 where JavaScript has Float16Array, as in Node 24" },
  { dtype: "bfloat16", why: "numpy-ts has no such dtype" },
];

/** Texts of errors, the operation before them, and their classes of rejections. The first that fits counts. */
const CLASSES = [
  [/Division by zero/, "zero-division"],
  [/[Nn]egative dim|negative size|Invalid typed array length|Array buffer allocation|exceeds|too large/, "impossible-size"],
  [/^(expand|expand_as|broadcast_to): /, "expand"],
  [/[Ss]ingular/, "singular"],
  [/^linalg_vecdot: .*axis -?\d+ out of bounds/, "dimension"],
  [/^(matmul|dot|vdot|inner|tensordot|linalg_\w+): /, "product-shape"],
  [/^einsum: .*(subscript|operand.*(number|expected)|ellips|output)/, "einsum-equation"],
  [/^einsum: /, "einsum-operand"],
  [/broadcast|[Ss]hape mismatch|incompatible shapes/, "size-mismatch"],
  [/^reshape: /, "view"],
  [/not supported|dtype|complex|BigInt|integer/, "dtype"],
  [/out of (bounds|range)|[Tt]oo many indices|axis|axes|zero-size|repeated|empty/, "dimension"],
  [/size 1/, "item-count"],
  [/step/, "argument"],
];

const BYTES = (elements) => elements.buffer.slice(elements.byteOffset, elements.byteOffset + elements.byteLength);

function make(dtype, shape, elements) {
  if (!dtype.startsWith("complex")) return np.reshape(np.frombuffer(BYTES(elements), dtype), shape);
  const numbers = Array.from({ length: elements.length / 2 }, (_, at) => new np.Complex(elements[2 * at], elements[2 * at + 1]));
  return np.reshape(np.array(numbers, dtype), shape);
}

const TYPES = {
  bool: Uint8Array,
  uint8: Uint8Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  float32: Float32Array,
  float64: Float64Array,
  complex64: Float32Array,
  complex128: Float64Array,
};

function read(tensor) {
  const { dtype } = tensor;
  const shape = [...tensor.shape];
  // tobytes leaves out half of the bytes of complex numbers.
  if (dtype.startsWith("complex")) return { dtype, shape, elements: np.copy(tensor).data };
  const Elements = TYPES[dtype] ?? Uint8Array;
  return { dtype, shape, elements: new Elements(BYTES(np.tobytes(tensor))) };
}

/** numpy-ts, whichever the environment has. */
export async function library() {
  const { version } = JSON.parse(readFileSync(join(dirname(place(NAME)), "..", "..", "package.json"), "utf8"));
  return {
    name: NAME,
    version,
    build: interpreter(),
    ops: scalars(operations(OPERATIONS)),
    dtypes: DTYPES,
    lacks: [...lacks({ args: ARGUMENTS, dtypes: [], noDtype: "", immutable: "numpy-ts's functions return new arrays" }), ...NEWER],
    unsupported: [
      { what: ARRAY_FIRST, ops: Object.keys(ELEMENTWISE) },
      { what: COMPLEX, ops: Object.keys(ELEMENTWISE) },
      { what: BOOLEAN, ops: Object.keys(ELEMENTWISE) },
      { what: STEPS, ops: ["index"] },
      { what: NO_AXIS, ops: ["take_along_dim"] },
      { what: ONE_AXIS, ops: ["squeeze"] },
    ],
    make,
    read,
    isTensor,
    classify: classifier(CLASSES),
  };
}

const dimensionlessArray = ({ scalar, dtype }) =>
  np.array(dtype === "int64" && typeof scalar === "number" ? BigInt(scalar) : scalar, dtype);

/** The operations, with the scalars of reductions and products as arrays of no dimensions. */
function scalars(table) {
  const asArray = (result) => (result?.dtype && "scalar" in result ? dimensionlessArray(result) : result);
  return Object.fromEntries(Object.entries(table).map(([op, call]) => [op, (...all) => asArray(call(...all))]));
}
