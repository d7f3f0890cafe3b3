import * as tf from "@tensorflow/tfjs";

try {
  tf.clipByValue(tf.tensor([1, 2]), 5, 2);
} catch (error) {
  console.log(error.message);
}
// prints: Error in clip: min (5) must be less than or equal to max (2).
