import * as tf from "@tensorflow/tfjs";

console.log(tf.pow(1, tf.tensor([NaN])).dataSync());
// prints: Float32Array(1) [ NaN ]
