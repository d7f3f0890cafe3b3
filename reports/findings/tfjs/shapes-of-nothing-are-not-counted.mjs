import * as tf from "@tensorflow/tfjs";

console.log(tf.broadcastTo(tf.ones([0, 1]), [0, 2 ** 62]).shape);
// prints: [ 0, 4611686018427388000 ]
