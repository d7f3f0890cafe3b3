import * as tf from "@tensorflow/tfjs";

console.log(tf.prelu(tf.tensor([[[-1, -1], [-1, -1]]]), tf.tensor([1, 2])).dataSync());
// prints: Float32Array(4) [ -1, -2, -1, -2 ]
