import * as tf from "@tensorflow/tfjs";

console.log(tf.einsum("i,j->", tf.ones([2]), tf.ones([3])).shape);
// prints: [ 3 ]
