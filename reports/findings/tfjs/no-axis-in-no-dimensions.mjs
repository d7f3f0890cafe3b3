import * as tf from "@tensorflow/tfjs";

try {
  tf.sum(tf.scalar(3), 0);
} catch (error) {
  console.log(error.message);
}
// prints: All values in axis param must be in range [-0, 0) but got axis 0
