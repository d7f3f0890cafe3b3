import * as tf from "@tensorflow/tfjs";

console.log(tf.squeeze(tf.ones([1, 3]), []).shape);
// prints: [ 3 ]
