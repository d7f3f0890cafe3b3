import * as tf from "@tensorflow/tfjs";

console.log(tf.sum(tf.ones([2, 3]), []).shape);
// prints: [ 2, 3 ]
