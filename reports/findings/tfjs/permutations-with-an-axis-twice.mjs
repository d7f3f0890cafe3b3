import * as tf from "@tensorflow/tfjs";

console.log(tf.transpose(tf.tensor([[1, 2], [3, 4]]), [0, 0]).arraySync());
// prints: [ [ 2, 0 ], [ 0, 4 ] ]
