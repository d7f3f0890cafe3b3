import * as tf from "@tensorflow/tfjs";

try {
  tf.matMul(tf.ones([2, 3]), tf.ones([3]));
} catch (error) {
  console.log(error.message);
}
// prints: Error in matMul: inner shapes (3) and (undefined) of Tensors with shapes 2,3 and 3 and transposeA=false and transposeB=false must match.
