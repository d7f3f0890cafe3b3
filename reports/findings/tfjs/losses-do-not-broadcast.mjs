import * as tf from "@tensorflow/tfjs";

try {
  tf.losses.meanSquaredError(tf.ones([2, 1]), tf.ones([2]));
} catch (error) {
  console.log(error.message);
}
// prints: Error in meanSquaredError:  Shapes 2,1 and 2 must match
