import * as tf from "@tensorflow/tfjs";

try {
  tf.norm(tf.ones([3]), 3);
} catch (error) {
  console.log(error.message);
}
// prints: Error in norm: invalid ord value: 3
