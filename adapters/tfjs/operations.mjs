// The operation table, as far as TensorFlow.js has it, and its tensors as the protocol sees them.
//
// An operation is a function of TensorFlow.js and nothing made of several. Numbers stay JavaScript's.

import { Sizes, Unsupported, binary, classifier, interpreter, lacks, load, operations } from "../js/index.mjs";

const tf = load("@tensorflow/tfjs", "tf");

const DTYPES = ["bool", "int32", "float32", "complex64"];

const COMPLEX = "TensorFlow.js has no complex numbers outside of tensors";
const BOUNDS = "the bounds of TensorFlow.js's clipByValue are two numbers";
const ONE_AXIS = "TensorFlow.js's argMax and argMin have one axis, and none is the first";
const TWO_SHAPES = "TensorFlow.js's broadcastArgs has two shapes";

/** A function of tensors and numbers. */
function plain(call) {
  return (...given) => {
    if (given.some((each) => typeof each?.imag === "number")) throw new Unsupported(COMPLEX);
    return call(...given);
  };
}

const reduction = (call) => (tensor, dim, keepdim) => call(tensor, dim ?? undefined, keepdim);

function position(call) {
  return (tensor, dim, keepdim) => {
    if (dim === null) throw new Unsupported(ONE_AXIS);
    return call(tensor, dim);
  };
}

function clip(tensor, low, high) {
  if (typeof low !== "number" || typeof high !== "number") throw new Unsupported(BOUNDS);
  return tf.clipByValue(tensor, low, high);
}

async function broadcastShapes(shapes) {
  if (shapes.length !== 2) throw new Unsupported(TWO_SHAPES);
  const [left, right] = shapes.map((sizes) => tf.tensor1d(sizes, "int32"));
  return new Sizes([...(await tf.broadcastArgs(left, right).data())]);
}

function moments(tensor, dim, _correction, keepdim) {
  const { mean, variance } = tf.moments(tensor, dim ?? undefined, keepdim);
  return [variance, mean];
}

const { Reduction } = tf;
const REDUCTIONS = { none: Reduction.NONE, mean: Reduction.MEAN, sum: Reduction.SUM };

/** Functions of two operands, either of which may be a number, or both of which are tensors. */
const ELEMENTWISE = {
  add: tf.add,
  sub: tf.sub,
  mul: tf.mul,
  div: tf.div,
  floor_divide: tf.floorDiv,
  remainder: tf.mod,
  pow: tf.pow,
  maximum: tf.maximum,
  minimum: tf.minimum,
  atan2: tf.atan2,
  eq: tf.equal,
  ne: tf.notEqual,
  lt: tf.less,
  le: tf.lessEqual,
  gt: tf.greater,
  ge: tf.greaterEqual,
  logical_and: tf.logicalAnd,
  logical_or: tf.logicalOr,
  logical_xor: tf.logicalXor,
  bitwise_and: tf.bitwiseAnd,
  prelu: tf.prelu,
  complex: tf.complex,
};

const OPERATIONS = {
  ...Object.fromEntries(Object.entries(ELEMENTWISE).map(([name, call]) => [name, plain(binary(call))])),
  where: plain(tf.where),
  clamp: clip,
  expand: (tensor, size) => tf.broadcastTo(tensor, size),
  broadcast_to: (tensor, size) => tf.broadcastTo(tensor, size),
  broadcast_shapes: broadcastShapes,
  unsqueeze: (tensor, dim) => tf.expandDims(tensor, dim),
  squeeze: (tensor, dim) => tf.squeeze(tensor, typeof dim === "number" ? [dim] : (dim ?? undefined)),
  permute: (tensor, dims) => tf.transpose(tensor, dims),
  reshape: (tensor, size) => tf.reshape(tensor, size),
  flatten: (tensor) => tensor.flatten(),
  clone: (tensor) => tf.clone(tensor),
  index_select: (tensor, dim, index) => tf.gather(tensor, index, dim),
  masked_select: (tensor, mask) => tf.booleanMaskAsync(tensor, mask),
  matmul: binary(tf.matMul),
  dot: binary(tf.dot),
  outer: binary(tf.outerProduct),
  einsum: (equation, operands) => tf.einsum(equation, ...operands),
  sum: reduction(tf.sum),
  mean: reduction(tf.mean),
  prod: reduction(tf.prod),
  amax: reduction(tf.max),
  amin: reduction(tf.min),
  all: reduction(tf.all),
  any: reduction(tf.any),
  logsumexp: reduction(tf.logSumExp),
  argmax: position(tf.argMax),
  argmin: position(tf.argMin),
  var_mean: moments,
  linalg_vector_norm: plain((tensor, order, dim, keepdim) => tf.norm(tensor, order, dim, keepdim)),
  mse_loss: (input, target, reduction) => tf.losses.meanSquaredError(target, input, 1, REDUCTIONS[reduction]),
  l1_loss: (input, target, reduction) => tf.losses.absoluteDifference(target, input, 1, REDUCTIONS[reduction]),
  huber_loss: (input, target, reduction, delta) =>
    tf.losses.huberLoss(target, input, 1, delta, REDUCTIONS[reduction]),
};

const ARGUMENTS = {
  "add alpha": "TensorFlow.js's add has no factor",
  "sub alpha": "TensorFlow.js's sub has no factor",
  "div rounding_mode": "TensorFlow.js's div has no rounding mode",
  "flatten start_dim": "TensorFlow.js's flatten flattens all dimensions",
  "flatten end_dim": "TensorFlow.js's flatten flattens all dimensions",
  "sum dtype": "TensorFlow.js's sum has no dtype",
  "mean dtype": "TensorFlow.js's mean has no dtype",
  "prod dtype": "TensorFlow.js's prod has no dtype",
  "argmax keepdim": "TensorFlow.js's argMax always removes the dimension",
  "argmin keepdim": "TensorFlow.js's argMin always removes the dimension",
  "var_mean correction": "TensorFlow.js's moments has no correction",
  "var_mean unbiased": "TensorFlow.js's moments has no correction",
  "linalg_vector_norm dtype": "TensorFlow.js's norm has no dtype",
};

const OTHERS = ["uint8", "int8", "int16", "int64", "float16", "bfloat16", "float64", "complex128"];

/** Texts of errors, the operation before them, and their classes of rejections. The first that fits counts. */
const CLASSES = [
  [/comprised of positive integers|Invalid typed array length|Array buffer allocation/, "impossible-size"],
  [/^(expand|broadcast_to): /, "expand"],
  [/must be \w+ tensor|does not support complex64/, "dtype"],
  [/^(matmul|dot): .*(inner (shapes|dim)|be rank|NaN elements)/, "product-shape"],
  [/^outer: .*must be rank/, "product-shape"],
  [/^einsum: .*(Expected|axis param)/, "einsum-operand"],
  [/^einsum: /, "einsum-equation"],
  [/^reshape: /, "view"],
  [/axis param must be in range|Axis must be|in 'perm' must be|must match length of perm/, "dimension"],
  [/Can't squeeze axis/, "dimension"],
  [/invalid ord value/, "argument"],
  [/mask cannot be scalar/, "dimension"],
  [/could not be broadcast|must match|must have the same shape|[Ss]hapes .* match/, "size-mismatch"],
];

function make(dtype, shape, elements) {
  if (dtype !== "complex64") return tf.tensor(elements, shape, dtype);
  const parts = [0, 1].map((part) => elements.filter((_, at) => at % 2 === part));
  return tf.complex(...parts.map((part) => tf.tensor(part, shape)));
}

const read = async (tensor) => ({ dtype: tensor.dtype, shape: tensor.shape, elements: await tensor.data() });

/** TensorFlow.js, whichever the environment has. */
export async function library() {
  await tf.setBackend("cpu");
  return {
    name: "tfjs",
    version: tf.version.tfjs,
    build: `${tf.getBackend()} backend; ${interpreter()}`,
    ops: operations(OPERATIONS),
    dtypes: DTYPES,
    lacks: lacks({
      args: ARGUMENTS,
      dtypes: OTHERS,
      noDtype: "TensorFlow.js has no such dtype",
      immutable: "tensors of TensorFlow.js are immutable",
    }),
    unsupported: [
      { what: COMPLEX, ops: [...Object.keys(ELEMENTWISE), "where", "linalg_vector_norm"] },
      { what: BOUNDS, ops: ["clamp"] },
      { what: ONE_AXIS, ops: ["argmax", "argmin"] },
      { what: TWO_SHAPES, ops: ["broadcast_shapes"] },
    ],
    make,
    read,
    isTensor: (value) => value instanceof tf.Tensor,
    classify: classifier(CLASSES),
  };
}
