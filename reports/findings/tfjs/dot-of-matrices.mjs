import * as tf from "@tensorflow/tfjs";

console.log(tf.dot(tf.ones([2, 3]), tf.ones([3, 4])).shape);
// prints: [ 2, 4 ]
