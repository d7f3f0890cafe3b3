import * as tf from "@tensorflow/tfjs";

const sum = tf.add(tf.tensor([true]), tf.tensor([true]));
console.log(sum.dtype, sum.dataSync());
// prints: bool Uint8Array(1) [ 2 ]
