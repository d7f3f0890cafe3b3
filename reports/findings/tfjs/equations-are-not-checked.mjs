import * as tf from "@tensorflow/tfjs";

console.log(tf.einsum("1j->1", tf.ones([2, 3])).shape);
// prints: [ 2 ]
