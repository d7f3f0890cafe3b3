import * as tf from "@tensorflow/tfjs";

console.log(tf.broadcastTo(tf.ones([2, 1]), [2, 0]).shape);
// prints: [ 2, 1 ]
