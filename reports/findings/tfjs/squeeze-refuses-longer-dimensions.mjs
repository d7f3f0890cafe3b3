import * as tf from "@tensorflow/tfjs";

try {
  tf.squeeze(tf.ones([1, 3]), [1]);
} catch (error) {
  console.log(error.message);
}
// prints: Can't squeeze axis 1 since its dim '3' is not 1
