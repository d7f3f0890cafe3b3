import * as tf from "@tensorflow/tfjs";

console.log(tf.dot(tf.tensor([1, 2]), tf.tensor([3, 4], [2], "int32")).dtype);
// prints: float32
