import * as tf from "@tensorflow/tfjs";

try {
  tf.all(tf.tensor([1, 2]));
} catch (error) {
  console.log(error.message);
}
// prints: Argument 'x' passed to 'all' must be bool tensor, but got float32 tensor
