import * as tf from "@tensorflow/tfjs";

console.log(tf.broadcastArgs(tf.tensor1d([1000000000000], "int32"), tf.tensor1d([1], "int32")).dataSync());
// prints: Int32Array(1) [ -727379968 ]
