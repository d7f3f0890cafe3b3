import * as tf from "@tensorflow/tfjs";

console.log(tf.logSumExp(tf.tensor([Infinity, 0])).dataSync());
// prints: Float32Array(1) [ NaN ]
