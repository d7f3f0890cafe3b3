import * as tf from "@tensorflow/tfjs";

try {
  tf.broadcastTo(tf.ones([3, 1]), [-1, 2]);
} catch (error) {
  console.log(error.message);
}
// prints: Tensor must have a shape comprised of positive integers but got shape [-1,2].
