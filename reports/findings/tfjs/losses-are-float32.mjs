import * as tf from "@tensorflow/tfjs";

console.log(tf.losses.absoluteDifference(tf.tensor([1], [1], "int32"), tf.tensor([3], [1], "int32")).dtype);
// prints: float32
