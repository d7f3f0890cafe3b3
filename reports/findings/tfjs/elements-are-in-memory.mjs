import * as tf from "@tensorflow/tfjs";

try {
  tf.broadcastTo(tf.ones([1]), [1099511627776]);
} catch (error) {
  console.log(error.message);
}
// prints: Invalid typed array length: 1099511627776
