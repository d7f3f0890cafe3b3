import * as tf from "@tensorflow/tfjs";

console.log(tf.argMax(tf.tensor([1, NaN])).dataSync(), tf.max(tf.tensor([1, NaN])).dataSync());
// prints: Int32Array(1) [ 0 ] Float32Array(1) [ NaN ]
