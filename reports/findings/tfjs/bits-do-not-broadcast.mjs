import * as tf from "@tensorflow/tfjs";

try {
  tf.bitwiseAnd(tf.tensor([1], [1], "int32"), tf.tensor([1, 2], [2], "int32"));
} catch (error) {
  console.log(error.message);
}
// prints: BitwiseAnd: Tensors must have the same shape. x: 1, y: 2
