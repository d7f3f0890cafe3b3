import * as tf from "@tensorflow/tfjs";

console.log(tf.einsum("ij,jk->ik", tf.ones([2, 2, 2]), tf.ones([2, 2])).shape);
// prints: [ 2, 1, 2 ]
