import * as tf from "@tensorflow/tfjs";

console.log(tf.ones(new Array(65).fill(1)).rank);
// prints: 65
