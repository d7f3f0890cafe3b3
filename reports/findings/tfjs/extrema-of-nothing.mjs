import * as tf from "@tensorflow/tfjs";

console.log(tf.max(tf.tensor([])).dataSync(), tf.argMax(tf.tensor([])).dataSync());
// prints: Float32Array(1) [ NaN ] Int32Array(1) [ 0 ]
