import * as tf from "@tensorflow/tfjs";

try {
  tf.sum(tf.complex([1], [2]));
} catch (error) {
  console.log(error.message);
}
// prints: sum does not support complex64 tensors in the CPU backend.
