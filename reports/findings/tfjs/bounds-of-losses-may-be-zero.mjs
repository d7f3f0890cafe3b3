import * as tf from "@tensorflow/tfjs";

console.log(tf.losses.huberLoss(tf.tensor([1]), tf.tensor([3]), 1, 0).dataSync()[0]);
// prints: 0
