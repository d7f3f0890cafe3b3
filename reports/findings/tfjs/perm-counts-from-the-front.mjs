import * as tf from "@tensorflow/tfjs";

try {
  tf.transpose(tf.ones([2, 3]), [-1, 0]);
} catch (error) {
  console.log(error.message);
}
// prints: All entries in 'perm' must be between 0 and 1 but got -1,0
