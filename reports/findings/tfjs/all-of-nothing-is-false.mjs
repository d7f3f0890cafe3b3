import * as tf from "@tensorflow/tfjs";

console.log(tf.all(tf.tensor([], [0], "bool")).dataSync());
// prints: Uint8Array(1) [ 0 ]
