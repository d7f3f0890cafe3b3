import * as tf from "@tensorflow/tfjs";

console.log(tf.mean(tf.tensor([true, false])).dataSync());
// prints: Float32Array(1) [ 0.5 ]
