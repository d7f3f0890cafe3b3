// The operation table, as far as jax-js has it, and its arrays as the protocol sees them.
//
// An operation is a function of jax-js and nothing made of several. Numbers stay JavaScript's. A function owns what it
// is given, so that each argument is a new reference.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { Sizes, Unsupported, binary, classifier, interpreter, lacks, load, operations, place } from "../js/index.mjs";

const NAME = "@jax-js/jax";
const { Array: Tensor, defaultDevice, init, nn, numpy: np } = load(NAME, "jax");

const DTYPES = ["bool", "int32", "float32"];

const SLICES = "jax-js has no ellipsis and no steps in slices";
const ONE_AXIS = "jax-js's moveaxis moves one axis";
const NO_AXIS = "jax-js's takeAlongAxis has an axis";

const given = (dim) => dim ?? undefined;

const reduction = (call) => (tensor, dim, keepdims) => call(tensor, dim, { keepdims });

const position = (call) => (tensor, dim, keepdims) => call(tensor, given(dim), { keepdims });

/** A variance. Without a correction it is jax-js's own default, which is another than PyTorch's. */
const spread = (call) => (tensor, dim, correction, keepdims) =>
  call(tensor, dim, correction === null ? { keepdims } : { keepdims, correction });

function move(tensor, source, destination) {
  if (typeof source !== "number" || typeof destination !== "number") throw new Unsupported(ONE_AXIS);
  return np.moveaxis(tensor, source, destination);
}

function take(tensor, index, dim) {
  if (dim === null) throw new Unsupported(NO_AXIS);
  return np.takeAlongAxis(tensor, index, dim);
}

/** An item between brackets, as `slice` has it. */
function between(item) {
  if (item === "none") return null;
  if (item === "ellipsis" || (item.slice && item.slice.step !== 1)) throw new Unsupported(SLICES);
  if (item.at !== undefined) return item.at;
  const { start, stop } = item.slice;
  if (stop !== null) return [start ?? 0, stop];
  return start === null ? [] : [start];
}

function item(tensor) {
  const { dtype } = tensor;
  const value = tensor.item();
  if (dtype === "bool") return Boolean(value);
  return dtype === "int32" ? BigInt(value) : value;
}

const OPERATIONS = {
  add: binary(np.add),
  sub: binary(np.subtract),
  mul: binary(np.multiply),
  div: binary(np.trueDivide),
  floor_divide: binary(np.floorDivide),
  remainder: binary(np.remainder),
  fmod: binary(np.fmod),
  pow: binary(np.power),
  float_power: binary(np.floatPower),
  maximum: binary(np.maximum),
  minimum: binary(np.minimum),
  fmax: binary(np.fmax),
  fmin: binary(np.fmin),
  hypot: binary(np.hypot),
  atan2: binary(np.atan2),
  copysign: binary(np.copysign),
  heaviside: binary(np.heaviside),
  ldexp: binary(np.ldexp),
  logaddexp: binary(np.logaddexp),
  logaddexp2: binary(np.logaddexp2),
  eq: binary(np.equal),
  ne: binary(np.notEqual),
  lt: binary(np.less),
  le: binary(np.lessEqual),
  gt: binary(np.greater),
  ge: binary(np.greaterEqual),
  logical_and: binary(np.logicalAnd),
  logical_or: binary(np.logicalOr),
  logical_xor: binary(np.logicalXor),
  bitwise_and: binary(np.bitwiseAnd),
  bitwise_or: binary(np.bitwiseOr),
  bitwise_xor: binary(np.bitwiseXor),
  bitwise_left_shift: binary(np.leftShift),
  bitwise_right_shift: binary(np.rightShift),
  clamp: (tensor, low, high) => np.clip(tensor, given(low), given(high)),
  where: np.where,
  allclose: (left, right, rtol, atol, equalNaN) => np.allclose(left, right, { rtol, atol, equalNaN }),
  equal: (left, right) => item(np.arrayEqual(left, right)),
  expand: np.broadcastTo,
  broadcast_to: np.broadcastTo,
  expand_as: (tensor, other) => np.broadcastTo(tensor, other.shape),
  broadcast_tensors: (tensors) => np.broadcastArrays(...tensors),
  broadcast_shapes: (shapes) => new Sizes(np.broadcastShapes(...shapes)),
  unsqueeze: np.expandDims,
  squeeze: (tensor, dim) => np.squeeze(tensor, given(dim)),
  transpose: np.swapaxes,
  swapaxes: np.swapaxes,
  swapdims: np.swapaxes,
  permute: np.transpose,
  movedim: move,
  moveaxis: move,
  reshape: np.reshape,
  flatten: (tensor) => np.ravel(tensor),
  index: (tensor, index) => tensor.slice(...index.map(between)),
  "index.Tensor": (tensor, indices) => tensor.slice(...indices.map((each) => each ?? [])),
  index_select: (tensor, dim, index) => np.take(tensor, index, dim),
  take_along_dim: take,
  item,
  matmul: binary(np.matmul),
  dot: binary(np.dot),
  vdot: binary(np.vdot),
  inner: binary(np.inner),
  outer: binary(np.outer),
  tensordot: (left, right, ofLeft, ofRight) => np.tensordot(left, right, [ofLeft, ofRight]),
  linalg_vecdot: (left, right, axis) => np.vecdot(left, right, { axis }),
  linalg_cross: (left, right, axis) => np.linalg.cross(left, right, axis),
  linalg_solve: (left, right) => np.linalg.solve(left, right),
  linalg_vector_norm: (tensor, ord, axis, keepdims) => np.linalg.vectorNorm(tensor, { ord, axis, keepdims }),
  sum: reduction(np.sum),
  nansum: reduction(np.nansum),
  mean: reduction(np.mean),
  prod: reduction(np.prod),
  amax: reduction(np.max),
  amin: reduction(np.min),
  all: reduction(np.all),
  any: reduction(np.any),
  logsumexp: reduction(nn.logsumexp),
  argmax: position(np.argmax),
  argmin: position(np.argmin),
  var: spread(np.var_),
  std: spread(np.std),
};

const ARGUMENTS = {
  "add alpha": "jax-js's add has no factor",
  "sub alpha": "jax-js's subtract has no factor",
  "div rounding_mode": "jax-js's trueDivide has no rounding mode",
  "flatten start_dim": "jax-js's ravel flattens all dimensions",
  "flatten end_dim": "jax-js's ravel flattens all dimensions",
  "sum dtype": "jax-js's sum has no dtype",
  "nansum dtype": "jax-js's nansum has no dtype",
  "mean dtype": "jax-js's mean has no dtype",
  "prod dtype": "jax-js's prod has no dtype",
  "var unbiased": "jax-js's var_ has no such switch",
  "std unbiased": "jax-js's std has no such switch",
  "linalg_solve left": "jax-js's solve has no such switch",
  "linalg_vector_norm dtype": "jax-js's vectorNorm has no dtype",
};

const OTHERS = ["uint8", "int8", "int16", "int64", "bfloat16", "complex64", "complex128"];
/** The types that need a newer Node.js than the rest. A Float64Array, too, is tested for being a Float16Array. */
const NEWER = [
  ...["einsum", "mv"].map((op) => ({ op, why: "jax-js's einsum needs iterators with map, new in Node.js 22" })),
  ...["float16", "float64"].map((dtype) => ({ dtype, why: "jax-js's floats need Float16Array, new in Node.js 24" })),
];

/** Texts of errors, the operation before them, and their classes of rejections. The first that fits counts. */
const CLASSES = [
  [/Allocation exceeds|must be non-negative/, "impossible-size"],
  [/by zero$/, "zero-division"],
  [/Can't expand|broadcastTo: target shape/, "expand"],
  [/^reshape: /, "view"],
  [/^(matmul|dot|inner|tensordot): .*(not aligned|at least|of dimension 0$)/, "product-shape"],
  [/^(matmul|dot): Incompatible array broadcast shapes: \S+ vs \d+$/, "product-shape"],
  [/contracting dims lengths mismatch/, "argument"],
  [/^linalg_vecdot: .*not aligned/, "product-shape"],
  [/^linalg_(cross|solve): .*(must have size|square matrix|must match)/, "product-shape"],
  [/Incompatible array broadcast shapes/, "size-mismatch"],
  [/out of bounds for (array|axis)|Duplicate axis|Invalid transpose permutation|empty sequence/, "dimension"],
  [/Too many indices|Invalid shrink|Slice start|must have the same rank|Cannot squeeze|zero-length axis/, "dimension"],
  [/dtype|Condition must be boolean|not supported in wasm backend/, "dtype"],
  [/item\(\) can only/, "item-count"],
];

function make(dtype, shape, elements) {
  if (elements.length === 0) return np.zeros(shape, { dtype });
  const plain = Array.from(elements, dtype === "bool" ? Boolean : Number);
  return np.array(plain, { dtype }).reshape(shape);
}

async function read(tensor) {
  const { dtype, shape } = tensor;
  const data = await tensor.ref.data();
  return { dtype, shape, elements: dtype === "bool" ? Uint8Array.from(data) : data };
}

/** A new reference to each array of an argument. */
function refer(argument) {
  if (argument instanceof Tensor) return argument.ref;
  return Array.isArray(argument) ? argument.map(refer) : argument;
}

/** jax-js, whichever the environment has. */
export async function library() {
  await init("wasm");
  defaultDevice("wasm");
  const { version } = JSON.parse(readFileSync(join(dirname(place(NAME)), "..", "package.json"), "utf8"));
  return {
    name: "jax-js",
    version,
    build: `${defaultDevice()} backend; ${interpreter()}`,
    ops: operations(OPERATIONS, refer),
    dtypes: DTYPES,
    lacks: [
      ...lacks({
        args: ARGUMENTS,
        dtypes: OTHERS,
        noDtype: "jax-js has no such dtype",
        immutable: "arrays of jax-js are immutable",
      }),
      ...NEWER,
    ],
    unsupported: [
      { what: SLICES, ops: ["index"] },
      { what: ONE_AXIS, ops: ["movedim", "moveaxis"] },
      { what: NO_AXIS, ops: ["take_along_dim"] },
    ],
    make,
    read,
    isTensor: (value) => value instanceof Tensor,
    classify: classifier(CLASSES),
  };
}
