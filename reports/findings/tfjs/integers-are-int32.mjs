import * as tf from "@tensorflow/tfjs";

console.log(tf.sum(tf.tensor([2147483647, 2], [2], "int32")).dtype);
console.log(tf.sum(tf.tensor([2147483647, 2], [2], "int32")).dataSync()[0]);
// prints: int32
// prints: -2147483647
