import * as tf from "@tensorflow/tfjs";

const mean = tf.mean(tf.complex([1], [2]));
console.log(mean.dtype, mean.dataSync());
// prints: float32 Float32Array(1) [ 1 ]
